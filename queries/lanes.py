"""Threads, streams and processes of a trace."""

from __future__ import annotations

from dataclasses import dataclass

from ..ingest.model import LaneKind
from .trace import Trace


@dataclass(frozen=True, slots=True)
class Lane:
    """A row of events: a thread, a stream, or a process' start-end ranges. None: not known."""

    lane: int
    kind: LaneKind
    process: int | None
    device: int | None
    name: str

    @property
    def is_thread(self) -> bool:
        return self.kind in (LaneKind.THREAD, LaneKind.UNKNOWN_THREAD)


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the trace. None: not known."""

    process: int
    pid: int | None
    name: str
    rank: int | None

    @property
    def label(self) -> str:
        """`rank 0 (pid 77)`, or what of it is known."""
        pid = f"pid {self.pid}" if self.pid is not None else f"process {self.process}"
        return pid if self.rank is None else f"rank {self.rank} ({pid})"


def lanes(trace: Trace) -> list[Lane]:
    """All lanes, by id."""
    return [Lane(lane, LaneKind(kind), *rest) for lane, kind, *rest in trace.rows("lanes.lanes")]


def processes(trace: Trace) -> dict[int, Process]:
    """All processes, by id."""
    return {row[0]: Process(*row) for row in trace.rows("lanes.processes")}


def process_devices(all_lanes: list[Lane]) -> dict[int, tuple[int, ...]]:
    """Devices on whose streams each process worked, ascending."""
    found: dict[int, set[int]] = {}
    for lane in all_lanes:
        if lane.kind is LaneKind.STREAM and lane.process is not None and lane.device is not None:
            found.setdefault(lane.process, set()).add(lane.device)
    return {process: tuple(sorted(devices)) for process, devices in found.items()}
