"""What launching kernels and graphs costs host threads, and how much of it they were blocked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ingest.model import HostKind
from ..native import IntervalSets
from ..queries.capture import capture
from ..queries.timeline import (
    RUNNING_KINDS,
    Calls,
    WaitingSpans,
    calls_named,
    launched_ops,
    texts_of,
)
from .trace_data import TraceData
from .windows import Parts, lanes_within

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

BACK_PRESSURE = frozenset({"command buffer full"})
LOADING = frozenset({"module loading", "lazy function loading", "runtime triggered module loading"})
"""Names of overhead rows, in lower case."""

_LONG_NS = 100_000
_LONG_MEDIANS = 20
_COVERED = 0.9


@dataclass(frozen=True, slots=True)
class ThreadLaunches:
    """Launch calls of one thread inside a window; times are unions, in ns."""

    lane: int
    name: str
    process: int | None
    calls: int
    gross_ns: int
    blocked_ns: int
    window_ns: int

    @property
    def net_ns(self) -> int:
        return self.gross_ns - self.blocked_ns

    @property
    def gross_ratio(self) -> float:
        return self.gross_ns / self.window_ns

    @property
    def blocked_ratio(self) -> float:
        return self.blocked_ns / self.window_ns

    @property
    def net_ratio(self) -> float:
        return self.net_ns / self.window_ns


@dataclass(frozen=True, slots=True)
class LaunchCost:
    """Of all threads that launched inside the window, the busiest (by net time) first."""

    threads: tuple[ThreadLaunches, ...]
    blocked_by: str
    """How blocked time was told: `overhead rows`, or `long launches under GPU work`."""

    @property
    def net_ratio(self) -> float:
        """Of the busiest thread."""
        return self.threads[0].net_ratio if self.threads else 0.0

    @property
    def gross_ratio(self) -> float:
        """Of the thread that launched longest, blocked time included."""
        return max((thread.gross_ratio for thread in self.threads), default=0.0)

    @property
    def sum_ratio(self) -> float:
        """Gross time of all threads over the window: two ranks double it."""
        return sum(thread.gross_ratio for thread in self.threads)

    @property
    def blocked_share(self) -> float:
        """Of the launch time of all threads."""
        gross = sum(thread.gross_ns for thread in self.threads)
        return sum(thread.blocked_ns for thread in self.threads) / gross if gross else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class LaunchTimes:
    """Launch calls of the whole trace by lane (one group each)."""

    lanes: tuple[int, ...]
    starts_ns: tuple[I64, ...]
    """Of the launch calls of each lane."""
    gross: IntervalSets
    blocked: IntervalSets
    blocked_by: str


def launch_times(data: TraceData, waiting: WaitingSpans) -> LaunchTimes:
    """Launches of each thread, and the part of them in which the thread was blocked."""
    calls = calls_named(data.trace, data.calls, data.launch_names)
    if data.process is not None:
        calls = calls.where(data.lane_process[calls.lane] == data.process)
    lanes = np.flatnonzero(np.bincount(calls.lane)).astype(np.int32)
    place = np.zeros(len(data.lanes), np.int32)
    place[lanes] = np.arange(len(lanes))
    group = place[calls.lane]
    numbers: tuple[int, ...] = tuple(lanes.tolist())
    starts = _by_group(group, calls.start_ns, len(lanes))
    gross = IntervalSets(group, calls.start_ns, calls.end_ns, len(lanes))
    overhead, typed = _overhead(data, waiting, lanes)
    if typed:
        return LaunchTimes(numbers, starts, gross, overhead & gross, "overhead rows")
    long = _long_launches(data, calls, group, len(lanes))
    blocked = IntervalSets(group[long], calls.start_ns[long], calls.end_ns[long], len(lanes))
    return LaunchTimes(numbers, starts, gross, blocked, "long launches under GPU work")


def _by_group(group: I32, values: I64, groups: int) -> tuple[I64, ...]:
    """The values of each group, all of which have some. Calls of one kind and thread lie together:
    a group has few runs."""
    if not groups:
        return ()
    cuts = np.flatnonzero(group[1:] != group[:-1]) + 1
    runs: list[list[I64]] = [[] for _ in range(groups)]
    owners: list[int] = group[np.append(0, cuts)].tolist()
    for own, run in zip(owners, np.split(values, cuts), strict=True):
        runs[own].append(run)
    return tuple(np.concatenate(own) for own in runs)


def _overhead(
    data: TraceData, waiting: WaitingSpans, lanes: NDArray[np.int32]
) -> tuple[IntervalSets, bool]:
    """Loading and back-pressure rows by launching lane; whether the trace tells types at all."""
    rows = np.flatnonzero(waiting.kind == HostKind.OVERHEAD)
    names = np.unique(waiting.label[rows]).tolist()
    wanted = [
        name
        for name, text in texts_of(data.trace, names).items()
        if text.lower() in BACK_PRESSURE | LOADING
    ]
    chosen = rows[np.isin(waiting.label[rows], wanted) & np.isin(waiting.lane[rows], lanes)]
    group = np.searchsorted(lanes, waiting.lane[chosen]).astype(np.int32)
    sets = IntervalSets(group, waiting.start_ns[chosen], waiting.end_ns[chosen], len(lanes))
    return sets, bool(wanted) or _tells_types(data)


def _tells_types(data: TraceData) -> bool:
    """Whether overhead would have been recorded with its type, had there been any."""
    facts = capture(data.trace)
    if "CUPTI_ACTIVITY_KIND_OVERHEAD" in facts.rows:
        return True
    year = facts.producer_version.partition(".")[0]
    return "PROFILER_OVERHEAD" in facts.rows and year.isdigit() and int(year) >= 2026


def _long_launches(data: TraceData, calls: Calls, group: I32, lanes: int) -> NDArray[np.intp]:
    """Launches that took far longer than the thread's others while its GPU was working."""
    duration = calls.end_ns - calls.start_ns
    medians = [float(np.median(own)) for own in _by_group(group, duration, lanes)]
    limit = np.maximum(_LONG_NS, _LONG_MEDIANS * np.array(medians, np.float64))
    long = np.flatnonzero(duration > limit[group])
    if not len(long):
        return long
    device = _device_launched_to(data, calls.id[long], calls.lane[long])
    work = data.running | data.copies
    keep = np.zeros(len(long), np.bool_)
    for number in np.unique(device).tolist():
        if number < 0:
            continue
        own = np.flatnonzero(device == number)
        start, end = calls.start_ns[long[own]], calls.end_ns[long[own]]
        covered = covered_ns(work, number, start, end)
        keep[own] = covered >= _COVERED * (end - start)
    return long[keep]


def _device_launched_to(data: TraceData, calls: I32, lanes: I32) -> I32:
    """Device of the work that each call launched; else the only one of its process, else -1.
    calls: ascending."""
    device = np.full(len(calls), -1, np.int32)
    for ops in launched_ops(data.trace, RUNNING_KINDS):
        wanted = np.isin(ops.launch, calls)
        device[np.searchsorted(calls, ops.launch[wanted])] = ops.device[wanted]
    for row in np.flatnonzero(device < 0).tolist():
        process = data.lanes[int(lanes[row])].process
        owned = () if process is None else data.devices_of(process)
        if len(owned) == 1:
            device[row] = owned[0]
    return device


def covered_ns(sets: IntervalSets, group: int, start: I64, end: I64) -> I64:
    """How much of each interval the set of one group covers."""
    own = sets.take(np.array([group], np.int32))
    if not own.count:
        return np.zeros(len(start), np.int64)
    before = np.concatenate([[0], np.cumsum(own.end - own.start)])

    def up_to(time: I64) -> I64:
        at = np.searchsorted(own.start, time, side="right")
        inside = np.maximum(np.minimum(time, own.end[at - 1]) - own.start[at - 1], 0)
        sums: I64 = np.where(at > 0, before[at - 1] + inside, 0)
        return sums

    return up_to(end) - up_to(start)


def launch_cost(times: LaunchTimes, parts: Parts, data: TraceData) -> LaunchCost | None:
    """Cost inside the windows of a phase; None when the trace has no launch call at all."""
    if not times.lanes:
        return None
    windows = lanes_within(parts, times.lanes, data)
    gross = windows.overlap(times.gross).tolist()
    blocked = windows.overlap(times.blocked).tolist()
    length = windows.lengths().tolist()
    threads = [
        ThreadLaunches(
            lane=lane,
            name=data.lanes[lane].name,
            process=data.lanes[lane].process,
            calls=_count_inside(windows, index, times.starts_ns[index]),
            gross_ns=gross[index],
            blocked_ns=blocked[index],
            window_ns=length[index],
        )
        for index, lane in enumerate(times.lanes)
        if length[index] > 0
    ]
    threads.sort(key=lambda thread: (-thread.net_ratio, -thread.gross_ns, thread.lane))
    return LaunchCost(tuple(threads), times.blocked_by)


def _count_inside(windows: IntervalSets, group: int, times: I64) -> int:
    counts = windows.count_inside(np.full(len(times), group, np.int32), times)
    return int(counts[group])
