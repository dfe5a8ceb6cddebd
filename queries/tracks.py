"""The events of threads and streams as columns, and single ones: what a timeline draws.

All of them read events: NotReadyError while these are being loaded. Times are ns from the trace's
start.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..ingest.model import NO_WORK, GpuKind, HostKind
from .trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]

Table = Literal["host", "gpu"]
HOST_KINDS = tuple(kind for kind in HostKind if kind is not HostKind.MARK)
"""What takes time on the host."""
GPU_KINDS = tuple(kind for kind in GpuKind if kind not in NO_WORK)


@dataclass(frozen=True, slots=True)
class EventRun:
    """The events of one kind and lane: in the store they follow each other, ordered by start."""

    table: Table
    kind: HostKind | GpuKind
    lane: int
    first_id: int
    end_id: int
    """One after the last."""

    def __len__(self) -> int:
        return self.end_id - self.first_id


@dataclass(frozen=True, slots=True)
class HostEvent:
    """An event of a thread."""

    kind: HostKind
    lane: int
    start_ns: int
    end_ns: int
    node: int | None
    open: bool
    """No end was recorded: the trace's end is used."""


@dataclass(frozen=True, slots=True)
class GpuEvent:
    """An operation of a GPU."""

    kind: GpuKind
    lane: int
    start_ns: int
    end_ns: int
    node: int | None
    launch: int | None
    """The host event that launched it; None: not in the trace."""
    bytes: int | None


def event_runs(trace: Trace) -> list[EventRun]:
    """Where the events that take time are, by lane and kind; those of GPUs after those of hosts."""
    host = trace.event_rows("tracks.host_runs", {"kinds": [int(kind) for kind in HOST_KINDS]})
    gpu = trace.event_rows("tracks.gpu_runs", {"kinds": [int(kind) for kind in GPU_KINDS]})
    return [EventRun("host", HostKind(kind), *rest) for kind, *rest in host] + [
        EventRun("gpu", GpuKind(kind), *rest) for kind, *rest in gpu
    ]


def run_columns(trace: Trace, run: EventRun) -> tuple[I64, I64, I32]:
    """Start, end and name (string id) of the events of a run."""
    columns = trace.event_columns(f"tracks.{run.table}_columns", (run.first_id, run.end_id))
    return columns["start_ns"], columns["end_ns"], columns["name"]


def time_span(trace: Trace) -> tuple[int, int] | None:
    """First start and last end of the events that take time; None without any."""
    kinds = {"host": [int(k) for k in HOST_KINDS], "gpu": [int(k) for k in GPU_KINDS]}
    [(first, last)] = trace.event_rows("tracks.span", kinds)
    return None if first is None else (first, last)


def event_texts(trace: Trace, ids: Iterable[int]) -> dict[int, str]:
    """Texts of string ids."""
    return dict(trace.rows("tracks.texts", {"ids": list(ids)}))


def host_event(trace: Trace, event: int) -> HostEvent:
    """One event of a thread, by id."""
    [(kind, *rest)] = trace.event_rows("tracks.host_event", {"id": event})
    return HostEvent(HostKind(kind), *rest)


def gpu_event(trace: Trace, event: int) -> GpuEvent:
    """One operation of a GPU, by id."""
    [(kind, *rest)] = trace.event_rows("tracks.gpu_event", {"id": event})
    return GpuEvent(GpuKind(kind), *rest)


def launched_by(trace: Trace, event: int) -> list[int]:
    """Ids of the GPU work that a call launched, in order of time."""
    kinds = [int(kind) for kind in GPU_KINDS]
    rows = trace.event_rows("tracks.launched_by", {"id": event, "kinds": kinds})
    return [row[0] for row in rows]
