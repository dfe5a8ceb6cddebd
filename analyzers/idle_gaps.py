"""Every pause of a GPU: how long, why, and what the host did in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from ..ingest.api_names import base_name, is_blocking
from ..ingest.model import HostKind
from .distinct import distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.report_events import Host, Work

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]

LAUNCH_LATENCY_NS: Final = 20_000
"""A launch takes about this long to reach an idle GPU."""


class Cause(IntEnum):
    """Why the GPU paused, told by the launch of the work that ended the pause."""

    HOST_BOUND = 0
    """It was launched after the pause began: the host was late."""
    LAUNCH_LATENCY = 1
    """It had been launched, and the pause is as short as a launch takes."""
    SYNC = 2
    """Its thread waited for the GPU all through the pause."""
    DEPENDENCY = 3
    """It had been launched, and waited for something else."""
    UNKNOWN = 4
    """Its launch is not in the trace; or no work ends the pause."""


@dataclass(frozen=True, slots=True)
class IdleGaps:
    """Pauses of one device, by start. Columns of one length; -1: none."""

    start_ns: I64
    length_ns: I64
    cause: I32
    before: I64
    """The work that ended last before the pause: an index into the work. -1 before all work."""
    after: I64
    """The work that ended the pause. -1 behind all work."""
    op: I32
    """`host_event.id` of the innermost operator that ran on the launching thread as the pause
    began."""
    frame: I32
    """The same for Python functions."""


def idle_gaps(
    work: Work, host: Host, names: Mapping[int, str], span: tuple[int, int] | None = None
) -> IdleGaps:
    """The pauses between the work of one device, which is by start. `names`: those of runtime and
    driver calls by `string.id`. `span`: with those from its start to the first work, and from the
    last one to its end."""
    if not len(work.id):
        nothing = np.zeros(0, np.int64)
        none = np.zeros(0, np.int32)
        return IdleGaps(nothing, nothing, none, nothing, nothing, none, none)
    reached = np.maximum.accumulate(work.end_ns)
    after = np.flatnonzero(work.start_ns[1:] > reached[:-1]) + 1
    start = reached[after - 1]
    # The last that reached the furthest end before the pause.
    furthest = np.flatnonzero(np.concatenate([[True], work.end_ns[1:] >= reached[:-1]]))
    before = furthest[np.searchsorted(furthest, after) - 1]
    end = work.start_ns[after]
    if span is not None:
        first, last = span
        if first < work.start_ns[0]:
            start, end = np.append(first, start), np.append(work.start_ns[0], end)
            before, after = np.append(-1, before), np.append(0, after)
        if last > reached[-1]:
            start, end = np.append(start, reached[-1]), np.append(end, last)
            before, after = np.append(before, furthest[-1]), np.append(after, -1)
    launch = np.where(after < 0, -1, work.launch[after])
    cause = np.full(len(after), Cause.DEPENDENCY, np.int32)
    known = launch >= 0
    cause[known & _waited(host, names, launch, start, end)] = Cause.SYNC
    cause[end - start < LAUNCH_LATENCY_NS] = Cause.LAUNCH_LATENCY
    launched = np.append(host.start_ns, 0)[launch]
    cause[launched > start] = Cause.HOST_BOUND
    cause[~known] = Cause.UNKNOWN
    around = _innermost(host, np.append(host.lane, -1)[launch].astype(np.int32), start)
    return IdleGaps(
        start,
        end - start,
        cause,
        before,
        after,
        _upward(host, around, HostKind.OP),
        _upward(host, around, HostKind.PYTHON),
    )


def gaps_within(gaps: IdleGaps, windows: Sequence[tuple[int, int]]) -> IdleGaps:
    """The parts of the pauses that lie in windows (ascending, apart), each with the same cause."""
    rows: list[I64] = []
    starts: list[I64] = []
    lengths: list[I64] = []
    for first, last in windows:
        start = np.maximum(gaps.start_ns, first)
        length = np.minimum(gaps.start_ns + gaps.length_ns, last) - start
        inside = np.flatnonzero(length > 0)
        rows.append(inside)
        starts.append(start[inside])
        lengths.append(length[inside])
    row = np.concatenate([np.zeros(0, np.int64), *rows])
    return IdleGaps(
        np.concatenate([gaps.start_ns[:0], *starts]),
        np.concatenate([gaps.start_ns[:0], *lengths]),
        gaps.cause[row],
        gaps.before[row],
        gaps.after[row],
        gaps.op[row],
        gaps.frame[row],
    )


def _waited(
    host: Host, names: Mapping[int, str], launch: I32, start: I64, end: I64
) -> NDArray[np.bool_]:
    """Whether one blocking call of the launching thread covers the whole pause."""
    blocking = [i for i, name in names.items() if is_blocking(base_name(name))]
    is_call = (host.kind == HostKind.RUNTIME) | (host.kind == HostKind.DRIVER)
    calls = np.flatnonzero(is_call & np.isin(host.name, blocking))
    lane = np.append(host.lane, -1)[launch]
    result = np.zeros(len(launch), bool)
    for thread in distinct(lane[launch >= 0]).tolist():
        mine = calls[host.lane[calls] == thread]
        rows = np.flatnonzero(lane == thread)
        if not len(mine):
            continue
        mine = mine[np.argsort(host.start_ns[mine], kind="stable")]
        ends = np.maximum.accumulate(host.start_ns[mine] + host.dur_ns[mine])
        last = np.searchsorted(host.start_ns[mine], start[rows], side="right") - 1
        result[rows] = (last >= 0) & (ends[np.maximum(last, 0)] >= end[rows])
    return result


def _innermost(host: Host, lane: I32, at_ns: I64) -> I32:
    """The innermost event of each lane that is open at the instant; -1 for none."""
    stacked = (HostKind.OP, HostKind.PYTHON, HostKind.ANNOTATION, HostKind.RUNTIME, HostKind.DRIVER)
    events = np.flatnonzero(np.isin(host.kind, [int(kind) for kind in stacked]))
    found = np.full(len(lane), -1, np.int32)
    for thread in distinct(lane[lane >= 0]).tolist():
        mine = events[host.lane[events] == thread]
        # Of equal starts the inner one comes last.
        mine = mine[np.lexsort((-host.dur_ns[mine], host.start_ns[mine]))]
        rows = np.flatnonzero(lane == thread)
        last = np.searchsorted(host.start_ns[mine], at_ns[rows], side="right") - 1
        found[rows] = np.where(last >= 0, mine[np.maximum(last, 0)], -1)
    while True:
        closed = np.flatnonzero(found >= 0)
        at = found[closed]
        closed = closed[host.start_ns[at] + host.dur_ns[at] <= at_ns[closed]]
        if not len(closed):
            return found
        found[closed] = host.parent[found[closed]]


def _upward(host: Host, event: I32, kind: HostKind) -> I32:
    """The event itself or the innermost around it that is of the kind; -1 for none."""
    found = event.copy()
    while True:
        other = np.flatnonzero(found >= 0)
        other = other[host.kind[found[other]] != kind]
        if not len(other):
            return found
        found[other] = host.parent[found[other]]
