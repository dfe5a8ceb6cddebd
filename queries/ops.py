"""GPU operations as columns, for sweeps over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ingest.model import GpuKind
from .trace import Trace

Ids = NDArray[np.int32]
Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Spans:
    """Time spans of devices, by (device, start). Columns of one length."""

    device: Ids
    start_ns: Times
    end_ns: Times


@dataclass(frozen=True, slots=True)
class Replays:
    """Replays of CUDA graphs by (device, start): one row each, whether the trace has a row for
    the replay or one for each of its nodes."""

    device: Ids
    graph: Times
    start_ns: Times
    end_ns: Times


def kernel_names(trace: Trace) -> dict[int, str]:
    """Short kernel names by string id. Reads summary tables only."""
    return dict(trace.rows("ops.names", {"kinds": [int(GpuKind.KERNEL)]}))


def spans_named(trace: Trace, names: Sequence[int]) -> Spans:
    """Kernels with one of the names. Reads events: NotReadyError while they are being loaded."""
    return Spans(
        **trace.event_arrays(
            "ops.named", {"kind": int(GpuKind.KERNEL), "names": [int(name) for name in names]}
        )
    )


def graph_replays(trace: Trace) -> Replays:
    """Replays whose launch is in the trace. Reads events."""
    return Replays(
        **trace.event_arrays("ops.replays", {"kinds": [int(GpuKind.KERNEL), int(GpuKind.GRAPH)]})
    )


@dataclass(frozen=True, slots=True)
class OpRef:
    """One GPU operation."""

    op: int
    device: int
    name: str
    start_ns: int
    end_ns: int
    launch: int | None
    """Host event that launched it."""
    launch_node: int | None
    """Path node of that event."""
    node: int | None
    """Path node of the operation."""


def ops_at(
    trace: Trace, device: int, *, starts: Sequence[int] = (), ends: Sequence[int] = ()
) -> list[OpRef]:
    """Kernels and graph replays of a device that start at one of the times, or end at one.

    Reads events: NotReadyError while they are being loaded.
    """
    rows = trace.event_rows(
        "ops.at",
        {
            "kinds": [int(GpuKind.KERNEL), int(GpuKind.GRAPH)],
            "device": device,
            "starts": [int(time) for time in starts],
            "ends": [int(time) for time in ends],
        },
    )
    return [OpRef(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class EagerKernel:
    """Kernels of one name that were launched one by one in one context."""

    name: str
    node: int | None
    count: int
    gpu_ns: int


def eager_kernels(
    trace: Trace, start_ns: int, end_ns: int, limit: int, *, devices: Sequence[int] | None = None
) -> list[EagerKernel]:
    """Kernels outside graphs that start in [start_ns, end_ns), most time first; devices: on one of
    these. Reads events."""
    rows = trace.event_rows(
        "ops.eager",
        {
            "kind": int(GpuKind.KERNEL),
            "start": start_ns,
            "end": end_ns,
            "devices": None if devices is None else list(devices),
            "limit": limit,
        },
    )
    return [EagerKernel(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class Sequences:
    """Kernels of a device in order of their starts. Columns of one length."""

    name: Ids
    start_ns: Times
    end_ns: Times
    node: Ids
    """Path node, -1 where it is not known."""


def kernels_launched(
    trace: Trace, device: int, process: int | None, start_ns: int, end_ns: int
) -> Sequences:
    """The kernels of a device that threads of a process (None: of any) launched in
    [start_ns, end_ns). Reads events."""
    return Sequences(
        **trace.event_arrays(
            "ops.launched",
            {
                "kind": int(GpuKind.KERNEL),
                "device": device,
                "process": process,
                "start": start_ns,
                "end": end_ns,
            },
        )
    )
