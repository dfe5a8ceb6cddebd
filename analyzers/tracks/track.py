"""The tracks of a trace: which lanes have events, of which sort, in the order they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ...ingest.model import GpuKind, HostKind, LaneKind
from ...queries.capture import device_labels
from ...queries.lanes import Lane, lanes, processes
from ...queries.trace import Trace
from ...queries.tracks import EventRun, event_runs


class Sort(StrEnum):
    """What the events of a track are."""

    STEPS = "steps"
    """Of the program, as they were found."""
    CODE = "code"
    """Annotations (NVTX), operators, Python functions."""
    CALLS = "calls"
    """Of the CUDA or HIP API."""
    SYSTEM = "system"
    """Calls of the operating system, overhead of the profiler."""
    RANGES = "ranges"
    """They may cross threads."""
    OTHER = "other"
    KERNELS = "kernels"
    COLLECTIVES = "collectives"
    COPIES = "copies"


Origin = Literal["host", "gpu", "steps"]
"""What ids of events are of: a table of the store, or rows of the steps."""
_HOST = {
    HostKind.ANNOTATION: Sort.CODE,
    HostKind.OP: Sort.CODE,
    HostKind.PYTHON: Sort.CODE,
    HostKind.RUNTIME: Sort.CALLS,
    HostKind.DRIVER: Sort.CALLS,
    HostKind.OS: Sort.SYSTEM,
    HostKind.OVERHEAD: Sort.SYSTEM,
    HostKind.RANGE: Sort.RANGES,
    HostKind.OTHER: Sort.OTHER,
}
_GPU = {
    GpuKind.KERNEL: Sort.KERNELS,
    GpuKind.GRAPH: Sort.KERNELS,
    GpuKind.MEMCPY: Sort.COPIES,
    GpuKind.MEMSET: Sort.COPIES,
}
_ORDER = list(Sort)


@dataclass(frozen=True, slots=True)
class Track:
    """The events of one sort of one lane."""

    sort: Sort
    process: int | None
    device: int | None
    """Of streams."""
    owner: str
    """The thread or stream."""
    runs: tuple[EventRun, ...]
    """Kernels and collectives of a stream share theirs; steps have none."""

    @property
    def on_gpu(self) -> bool:
        return self.sort in (Sort.KERNELS, Sort.COLLECTIVES, Sort.COPIES)

    @property
    def lane(self) -> int:
        """-1 for steps."""
        return self.runs[0].lane if self.runs else -1

    @property
    def origin(self) -> Origin:
        if self.sort is Sort.STEPS:
            return "steps"
        return "gpu" if self.on_gpu else "host"

    @property
    def label(self) -> str:
        return f"{self.owner} · {self.sort}"

    def __len__(self) -> int:
        return sum(map(len, self.runs))


@dataclass(frozen=True, slots=True)
class Tracks:
    """All tracks: process by process, threads before streams, the busy ones first."""

    tracks: tuple[Track, ...]
    processes: dict[int, str]
    """What to call them."""


def find_tracks(trace: Trace) -> Tracks:
    """Reads events: NotReadyError while they are being loaded."""
    all_lanes = lanes(trace)
    labels = device_labels(trace)
    communicates = bool(trace.rows("scope.communication"))
    runs: dict[tuple[int, Sort], list[EventRun]] = {}
    for run in event_runs(trace):
        sort = _HOST[run.kind] if isinstance(run.kind, HostKind) else _GPU[run.kind]
        runs.setdefault((run.lane, sort), []).append(run)
    found: list[Track] = []
    for (number, sort), own in runs.items():
        lane = all_lanes[number]
        sorts = (sort, Sort.COLLECTIVES) if sort is Sort.KERNELS and communicates else (sort,)
        found += [
            Track(each, lane.process, lane.device, _owner(lane, labels), tuple(own))
            for each in sorts
        ]
    return Tracks(
        tuple(sorted(found, key=lambda track: _rank(track, runs))),
        {number: process.label for number, process in processes(trace).items()},
    )


def _owner(lane: Lane, labels: dict[int, str]) -> str:
    if lane.kind is LaneKind.STREAM and lane.device is not None:
        name = lane.name.removesuffix(" (default)")
        return f"{labels.get(lane.device, '')} {name}".strip()
    return lane.name


def _rank(track: Track, runs: dict[tuple[int, Sort], list[EventRun]]) -> tuple[int, ...]:
    """Threads by what they do for the program; those that only the system speaks of at last."""
    lane = track.lane
    busy = sum(len(run) for sort in (Sort.CODE, Sort.CALLS) for run in runs.get((lane, sort), ()))
    process = 1 << 30 if track.process is None else track.process
    place = 1 if track.on_gpu else 0 if busy else 2
    device = -1 if track.device is None else track.device
    return process, place, device, -busy, lane, _ORDER.index(track.sort)


def of_process(tracks: Sequence[Track], process: int | None) -> list[int]:
    """Places of the tracks of one process, or of all, as they are shown: steps come first."""
    first = {track.process: k for k, track in reversed(list(enumerate(tracks)))}
    shown = [k for k, track in enumerate(tracks) if process is None or track.process == process]
    return sorted(
        shown, key=lambda k: (first[tracks[k].process], tracks[k].sort is not Sort.STEPS, k)
    )
