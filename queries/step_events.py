"""Columns of events for analyses that look at single steps: arrays, no object per event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.model import GpuKind, LaneKind
from .trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    U8 = NDArray[np.uint8]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class HostEvents:
    """Events of the call tree, sorted by (kind, lane, start). Columns of one length."""

    id: I32
    kind: U8
    lane: I32
    start_ns: I64
    dur_ns: I64
    self_ns: I64
    node: I32


@dataclass(frozen=True, slots=True)
class GpuWork:
    """Kernels, copies, memsets and graph replays. Columns of one length."""

    device: NDArray[np.int16]
    launch: I32
    """`host_event.id`; -1 where the launch is not in the trace."""
    start_ns: I64
    dur_ns: I64
    node: I32
    kind: U8
    """`GpuKind`."""
    in_graph: Mask
    """Recorded as a node of a CUDA graph."""
    bytes: I64


@dataclass(frozen=True, slots=True)
class ContextKeys:
    """Nodes of the call-path tree and their frames. Indexed by node."""

    parent: I32
    """-1 for the root."""
    layer: U8
    name: I32
    """`string.id` of the frame's name, which is normalised."""


def host_events(trace: Trace, window_ns: tuple[int, int]) -> HostEvents:
    """Events that start in the window; those whose end was not recorded are left out."""
    first, last = window_ns
    return HostEvents(**trace.arrays("step_events.host", {"first": first, "last": last}))


def open_ranges(trace: Trace, window_ns: tuple[int, int]) -> int:
    """Events of the call tree that start in the window and have no recorded end."""
    first, last = window_ns
    [(number,)] = trace.event_rows("step_events.open_ranges", {"first": first, "last": last})
    return int(number)


def gpu_work(trace: Trace, first_ns: int) -> GpuWork:
    """GPU work that starts at `first_ns` or later."""
    return GpuWork(
        **trace.arrays("step_events.gpu", {"first": first_ns, "sync": int(GpuKind.SYNC)})
    )


def context_keys(trace: Trace) -> ContextKeys:
    """Parent, layer and name of every node."""
    columns = trace.arrays("step_events.nodes")
    return ContextKeys(columns["parent"], columns["layer"], columns["name"])


def launch_nodes(trace: Trace) -> I32:
    """The contexts that are kernel or graph launches."""
    return trace.arrays("step_events.launch_nodes")["node"]


def texts(trace: Trace, ids: Iterable[int]) -> dict[int, str]:
    """Texts by `string.id`."""
    wanted = sorted(set(ids))
    return dict(trace.rows("step_events.texts", {"ids": wanted})) if wanted else {}


def process_of_lanes(trace: Trace) -> dict[int, int]:
    """Process of every thread lane, -1 where it is not known."""
    return dict(trace.rows("step_events.lanes", {"thread": int(LaneKind.THREAD)}))
