"""The columns of host and GPU events that sweeps over a whole trace read, each read once.

All of them read events: NotReadyError while these are being loaded. Times are ns from the trace's
start; the columns of one result have one length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ingest.model import GpuKind, HostKind
from .trace import Trace

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

API_KINDS = (HostKind.RUNTIME, HostKind.DRIVER)
RUNNING_KINDS = (GpuKind.KERNEL, GpuKind.GRAPH)
"""What keeps a GPU busy: kernels, and graph replays that hold kernels nobody recorded singly."""
COPY_KINDS = (GpuKind.MEMCPY, GpuKind.MEMSET)
CODE_KINDS = (HostKind.ANNOTATION, HostKind.OP, HostKind.PYTHON)
"""Host events that say which code ran on a thread."""


@dataclass(frozen=True, slots=True, eq=False)
class GpuSpans:
    """GPU operations in the order of the store: by (kind, stream, start)."""

    device: I32
    lane: I32
    """Stream."""
    start_ns: I64
    end_ns: I64
    launch: I32
    """Host event that launched it, -1 where it is not in the trace."""


@dataclass(frozen=True, slots=True, eq=False)
class ApiCalls:
    """Calls of the CUDA or HIP API, in order of their ids, which have no holes."""

    first_id: int
    lane: I32
    start_ns: I64
    end_ns: I64
    name: I32
    """String id, as recorded."""
    names: dict[int, str]
    """Texts of the distinct names."""

    def rows_of(self, events: I32) -> I64:
        """Row of each host event, -1 for those that are no such calls."""
        rows = events.astype(np.int64) - self.first_id
        rows[(events < 0) | (rows < 0) | (rows >= len(self.lane))] = -1
        return rows

    def named(self, names: Sequence[int]) -> NDArray[np.bool_]:
        """Which calls carry one of the names."""
        size = int(max(self.names, default=-1)) + 1
        wanted = np.zeros(size, np.bool_)
        wanted[list(names)] = True
        return wanted[self.name] if size else np.zeros(0, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class HostSpans:
    """Host events; `label` is a string id or a path node, see the question."""

    kind: U8
    lane: I32
    start_ns: I64
    end_ns: I64
    label: I32


def gpu_spans(trace: Trace, kinds: Sequence[GpuKind]) -> GpuSpans:
    """GPU operations of these kinds whose device is known."""
    return GpuSpans(**trace.event_arrays("timeline.gpu", {"kinds": [int(kind) for kind in kinds]}))


def api_calls(trace: Trace) -> ApiCalls:
    """All calls of the CUDA or HIP API."""
    kinds = {"kinds": [int(kind) for kind in API_KINDS]}
    [(first, count, last)] = trace.event_rows("timeline.api_range", kinds)
    first, last = (0, -1) if count == 0 else (first, last)
    columns = trace.event_arrays("timeline.api", {"first": first, "last": last})
    if len(columns["lane"]) != count:
        raise RuntimeError("the calls of the store are not in one piece")
    names = dict(trace.event_rows("timeline.api_names", kinds))
    return ApiCalls(first_id=first, names=names, **columns)


def code_spans(trace: Trace) -> HostSpans:
    """Annotations, operators and Python functions of the call tree, labelled by path node."""
    return HostSpans(
        **trace.event_arrays("timeline.code", {"kinds": [int(kind) for kind in CODE_KINDS]})
    )


def node_names(trace: Trace) -> tuple[I32, I32]:
    """By path node: frame and its name, a string id."""
    columns = trace.arrays("timeline.nodes")
    return columns["frame"], columns["name"]


def waiting_spans(trace: Trace) -> HostSpans:
    """Calls of the system, overhead of the profiler and waits for Python's lock, by string id."""
    return HostSpans(
        **trace.event_arrays(
            "timeline.waiting",
            {
                "kinds": [int(HostKind.OS), int(HostKind.OVERHEAD)],
                "range": int(HostKind.RANGE),
                "gil": "Waiting for GIL",
            },
        )
    )


def scheduled_spans(trace: Trace) -> tuple[I32, I64, I64]:
    """Lane, start and end of the intervals in which threads ran on a CPU."""
    columns = trace.event_arrays("timeline.scheduled")
    return columns["lane"], columns["start_ns"], columns["end_ns"]


def texts_of(trace: Trace, ids: Sequence[int]) -> dict[int, str]:
    """Texts of string ids."""
    return dict(trace.rows("timeline.texts", {"ids": [int(number) for number in ids]}))


@dataclass(frozen=True, slots=True)
class GraphUse:
    """What the trace shows of CUDA graphs inside a window."""

    replays: int
    """Rows of whole replays."""
    node_kernels: int
    """Kernels that are recorded as nodes of a graph."""
    kernels: int
    """All kernels."""


def graph_use(trace: Trace, start_ns: int, end_ns: int) -> GraphUse:
    """Graph replays and graph kernels that start in [start_ns, end_ns)."""
    [row] = trace.event_rows(
        "timeline.graph_use",
        {
            "kernel": int(GpuKind.KERNEL),
            "graph": int(GpuKind.GRAPH),
            "start": start_ns,
            "end": end_ns,
        },
    )
    return GraphUse(*row)


def kernel_starts_within(trace: Trace, start_ns: int, end_ns: int) -> int:
    """Kernels and graph replays that start in [start_ns, end_ns)."""
    [(count,)] = trace.event_rows(
        "timeline.starts_within",
        {"kinds": [int(kind) for kind in RUNNING_KINDS], "start": start_ns, "end": end_ns},
    )
    return int(count)


def graph_build_times(trace: Trace) -> I64:
    """Starts of the calls that capture or instantiate graphs, ascending."""
    times: I64 = trace.event_arrays(
        "timeline.graph_builds", {"kinds": [int(kind) for kind in API_KINDS]}
    )["start_ns"]
    return times
