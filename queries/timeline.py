"""The columns of host and GPU events that sweeps over a whole trace read.

All of them read events: NotReadyError while these are being loaded. Times are ns from the trace's
start; the columns of one result have one length. None of them keeps what it read: columns of all
events are let go as soon as they are added up, and read again by who needs them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

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

    place: I32
    """Device or stream, as asked for."""
    start_ns: I64
    end_ns: I64


@dataclass(frozen=True, slots=True, eq=False)
class LaunchedOps:
    """GPU operations whose device and launch are known, in the order of the store."""

    device: I32
    launch: I32
    """Host event."""
    start_ns: I64


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Some calls of the CUDA or HIP API, in the order of the store."""

    id: I32
    """Host event."""
    lane: I32
    start_ns: I64
    end_ns: I64

    def where(self, keep: NDArray[np.bool_]) -> Calls:
        """Some of them."""
        return Calls(self.id[keep], self.lane[keep], self.start_ns[keep], self.end_ns[keep])


@dataclass(frozen=True, slots=True, eq=False)
class ApiTable:
    """Where the calls of the CUDA or HIP API lie in the table of host events: their ids have no
    holes, and the calls of a thread follow each other in few runs."""

    ids: tuple[int, int]
    """The first one, and the one after the last."""
    run_id: I32
    """First id of each run."""
    run_lane: I32
    names: dict[int, str]
    """Texts of the distinct names by string id, as recorded."""

    def __len__(self) -> int:
        return self.ids[1] - self.ids[0]

    @property
    def lanes(self) -> I32:
        """Threads with calls."""
        return np.unique(self.run_lane)

    def lanes_of(self, events: I32) -> I32:
        """Thread of each host event, -1 for those that are no such calls."""
        if not len(self):
            return np.full(len(events), -1, np.int32)
        lanes = self.run_lane[np.searchsorted(self.run_id, events, side="right") - 1]
        lanes[(events < self.ids[0]) | (events >= self.ids[1])] = -1
        return lanes


@dataclass(frozen=True, slots=True, eq=False)
class HostSpans:
    """Host events; `label` is a string id or a path node, see the question."""

    lane: I32
    start_ns: I64
    end_ns: I64
    label: I32


@dataclass(frozen=True, slots=True)
class Run:
    """Host events of one kind and thread: they follow each other, ordered by start."""

    lane: int
    first_id: int
    end_id: int
    """One after the last."""

    def __len__(self) -> int:
        return self.end_id - self.first_id


@dataclass(frozen=True, slots=True, eq=False)
class WaitingSpans(HostSpans):
    """Host events of several kinds."""

    kind: U8


def gpu_spans(
    trace: Trace, kinds: Sequence[GpuKind], by: Literal["devices", "streams"] = "devices"
) -> GpuSpans:
    """GPU operations of these kinds whose device is known."""
    ids, numbers = _gpu_range(trace, kinds)
    return GpuSpans(**trace.event_columns(f"timeline.gpu_{by}", ids, {"kinds": numbers}))


def launched_ops(trace: Trace, kinds: Sequence[GpuKind]) -> Iterator[LaunchedOps]:
    """GPU operations of these kinds whose device and launch are known, some at a time."""
    ids, numbers = _gpu_range(trace, kinds)
    for columns in trace.event_pieces("timeline.launched", ids, {"kinds": numbers}):
        yield LaunchedOps(**columns)


def _gpu_range(trace: Trace, kinds: Sequence[GpuKind]) -> tuple[tuple[int, int], list[int]]:
    """Ids of the table that hold all operations of these kinds, and the kinds."""
    numbers = [int(kind) for kind in kinds]
    [(first, last)] = trace.event_rows("timeline.gpu_range", {"kinds": numbers})
    return (0, 0) if first is None else (first, last + 1), numbers


def api_table(trace: Trace) -> ApiTable:
    """Where the calls of the CUDA or HIP API are."""
    kinds = {"kinds": [int(kind) for kind in API_KINDS]}
    [(first, count, last)] = trace.event_rows("timeline.api_range", kinds)
    first, end = (0, 0) if count == 0 else (first, last + 1)
    run_id: list[I32] = []
    run_lane: list[I32] = []
    seen = 0
    for piece in trace.event_pieces("timeline.api_lanes", (first, end)):
        lane: I32 = piece["lane"]
        begins = np.flatnonzero(np.concatenate(([True], lane[1:] != lane[:-1]))[: len(lane)])
        run_id.append((begins + first + seen).astype(np.int32))
        run_lane.append(lane[begins])
        seen += len(lane)
    if seen != count or end - first != count:
        raise RuntimeError("the calls of the store are not in one piece")
    return ApiTable(
        ids=(first, end),
        run_id=np.concatenate(run_id),
        run_lane=np.concatenate(run_lane),
        names=dict(trace.event_rows("timeline.api_names", kinds)),
    )


def calls_named(trace: Trace, table: ApiTable, names: Sequence[int]) -> Calls:
    """The calls that carry one of the names (string ids)."""
    wanted = {"names": [int(name) for name in names]}
    return Calls(**trace.event_columns("timeline.api_named", table.ids, wanted))


def call_runs(trace: Trace) -> list[Run]:
    """Where the calls of the CUDA or HIP API are, by thread."""
    return _runs(trace, API_KINDS)


def code_runs(trace: Trace) -> list[Run]:
    """Where annotations, operators and Python functions are, by thread."""
    return _runs(trace, CODE_KINDS)


def _runs(trace: Trace, kinds: Sequence[HostKind]) -> list[Run]:
    rows = trace.event_rows("timeline.runs", {"kinds": [int(kind) for kind in kinds]})
    return [Run(*row) for row in rows]


def call_spans(trace: Trace, run: Run, first_ns: int) -> Iterator[HostSpans]:
    """The calls of a run that end after `first_ns`, by string id; some at a time."""
    return _spans(trace, "timeline.call_spans", run, first_ns)


def code_spans(trace: Trace, run: Run, first_ns: int) -> Iterator[HostSpans]:
    """Those events of a run that end after `first_ns` and are in the call tree, labelled by path
    node; some at a time."""
    return _spans(trace, "timeline.code_spans", run, first_ns)


def _spans(trace: Trace, name: str, run: Run, first_ns: int) -> Iterator[HostSpans]:
    for piece in trace.event_pieces(name, (run.first_id, run.end_id), {"first": first_ns}):
        lane = np.full(len(piece["start_ns"]), run.lane, np.int32)
        yield HostSpans(lane, **piece)


def node_names(trace: Trace) -> tuple[I32, I32]:
    """By path node: frame and its name, a string id."""
    columns = trace.arrays("timeline.nodes")
    return columns["frame"], columns["name"]


def waiting_spans(trace: Trace) -> WaitingSpans:
    """Calls of the system, overhead of the profiler and waits for Python's lock, by string id."""
    return WaitingSpans(
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


def graph_use(
    trace: Trace, start_ns: int, end_ns: int, devices: Sequence[int] | None = None
) -> GraphUse:
    """Graph replays and graph kernels that start in [start_ns, end_ns), on some devices or all."""
    [row] = trace.event_rows(
        "timeline.graph_use",
        {
            "kernel": int(GpuKind.KERNEL),
            "graph": int(GpuKind.GRAPH),
            "start": start_ns,
            "end": end_ns,
            "devices": devices,
        },
    )
    return GraphUse(*row)


def kernel_starts_within(
    trace: Trace, start_ns: int, end_ns: int, devices: Sequence[int] | None = None
) -> int:
    """Kernels and graph replays that start in [start_ns, end_ns); devices: on one of these."""
    [(count,)] = trace.event_rows(
        "timeline.starts_within",
        {
            "kinds": [int(kind) for kind in RUNNING_KINDS],
            "start": start_ns,
            "end": end_ns,
            "devices": None if devices is None else list(devices),
        },
    )
    return int(count)


def graph_build_times(trace: Trace) -> I64:
    """Starts of the calls that capture or instantiate graphs, ascending."""
    times: I64 = trace.event_arrays(
        "timeline.graph_builds", {"kinds": [int(kind) for kind in API_KINDS]}
    )["start_ns"]
    return times
