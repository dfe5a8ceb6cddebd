"""What the sheets of a report are computed from, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.model import NO_WORK, Layer
from .trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    U8 = NDArray[np.uint8]
    Bits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Work:
    """Kernels, copies, memory sets and graph replays by (device, start). Columns of one length."""

    id: I32
    kind: U8
    device: I32
    lane: I32
    start_ns: I64
    end_ns: I64
    name: I32
    """`string.id` of the full name, of the short one where that is all there is."""
    launch: I32
    """`host_event.id` of the call; -1 where it is not in the trace."""
    op: I32
    """`host_event.id` of the innermost operator around the call; -1 where there is none."""
    flow: Bits
    """An arrow of the recording leads to it; where none are recorded: its launch is known."""


@dataclass(frozen=True, slots=True)
class Host:
    """All host events, indexed by `host_event.id`. -1: none."""

    kind: U8
    lane: I32
    start_ns: I64
    dur_ns: I64
    name: I32
    parent: I32
    args: I32
    sequence: I64
    forward: I32
    """The forward operator of a backward one."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Interned arguments, indexed by `op_args.id`: `string.id` of JSON lists, -1 where missing."""

    shapes: I32
    types: I32
    strides: I32
    concrete: I32


@dataclass(frozen=True, slots=True)
class ModuleNode:
    """A module in the call-path tree, by instance and way there."""

    node: int
    last: int
    """The last node of its subtree."""
    name: str
    calls: int
    host_ns: int
    """Duration of all calls."""


def work(trace: Trace) -> Work:
    """All GPU work whose device is known. Reads events."""
    kinds = sorted(int(kind) for kind in NO_WORK)
    return Work(**trace.event_arrays("report_events.work", {"no_work": kinds}))


def host(trace: Trace) -> Host:
    """All host events. Reads events."""
    return Host(**trace.event_arrays("report_events.host"))


def arguments(trace: Trace) -> Arguments:
    """Arguments of operators and calls."""
    return Arguments(**trace.event_arrays("report_events.arguments"))


def context_names(trace: Trace) -> dict[int, str]:
    """Names of what tells the phase, step or module of the events within, by `string.id`."""
    return dict(trace.rows("report_events.context_names"))


def modules(trace: Trace) -> list[ModuleNode]:
    """The modules of the call-path tree, outer ones before inner ones."""
    rows = trace.rows("report_events.modules", {"layer": int(Layer.MODULE)})
    return [ModuleNode(*row) for row in rows]


def module_gpu_ns(trace: Trace, device: int) -> dict[int, int]:
    """GPU time of all work below each module, by path node."""
    parameters = {"layer": int(Layer.MODULE), "device": device}
    return dict(trace.rows("report_events.module_gpu", parameters))


@dataclass(frozen=True, slots=True)
class ModuleCalls:
    """Calls of modules by `host_event.id`. Columns of one length."""

    node: I32
    lane: I32
    start_ns: I64
    dur_ns: I64


def module_calls(trace: Trace) -> ModuleCalls:
    """Reads events."""
    columns = trace.event_arrays("report_events.module_calls", {"layer": int(Layer.MODULE)})
    return ModuleCalls(**columns)


def work_nodes(trace: Trace) -> I32:
    """Path node of all rows of GPUs, by `gpu_op.id`; -1: none. Reads events."""
    return trace.event_arrays("report_events.work_nodes")["node"]


def stream_ids(trace: Trace) -> dict[int, int]:
    """Number of the stream by lane."""
    return dict(trace.rows("report_events.streams"))
