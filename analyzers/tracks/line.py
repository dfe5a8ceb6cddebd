"""Events that do not overlap, as columns that any window of time is cut from at once.

With a running sum of their durations the busy time before any instant is found by one binary
search: a window costs as much as it has columns on the screen, however many events it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...native import IntervalSets, sort_order, stack_levels

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Events in order of time, none of which begins before the one before it has ended."""

    start_ns: I64
    before_ns: I64
    """Busy time before each event, and at last that of all: one entry more than events."""
    name: I32
    """String ids; -1: without a name."""
    first_id: int
    """Id of the first event where ids ascend by one."""
    id: I32 | None = None
    """Ids where they do not."""

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def busy_ns(self) -> int:
        """Of all events."""
        return int(self.before_ns[-1])

    def span(self, place: int) -> tuple[int, int]:
        """Start and end of an event."""
        start = int(self.start_ns[place])
        return start, start + int(self.before_ns[place + 1] - self.before_ns[place])

    def spans(self, places: I64) -> tuple[I64, I64]:
        """Starts and ends of events."""
        start = self.start_ns[places]
        return start, start + self.before_ns[places + 1] - self.before_ns[places]

    def event(self, place: int) -> int:
        """Id of an event."""
        return self.first_id + place if self.id is None else int(self.id[place])

    def last_before(self, at_ns: I64) -> I64:
        """The last event that starts at or before each instant, -1: none does."""
        return np.searchsorted(self.start_ns, at_ns, side="right") - 1

    def busy_until(self, at_ns: I64) -> I64:
        """Busy time before each instant."""
        place = self.last_before(at_ns)
        inside = np.maximum(place, 0)
        if not len(self):
            return np.zeros(len(at_ns), np.int64)
        start, end = self.spans(inside)
        part = self.before_ns[inside] + np.minimum(at_ns, end) - start
        return np.where(place < 0, 0, part)


def make_line(start_ns: I64, end_ns: I64, name: I32, first_id: int, ids: I32 | None = None) -> Line:
    """Of events that ascend and do not overlap."""
    before = np.zeros(len(start_ns) + 1, np.int64)
    np.subtract(end_ns, start_ns, out=before[1:])
    np.cumsum(before, out=before)
    return Line(start_ns, before, name, first_id, ids)


def lines_of(
    start_ns: I64, end_ns: I64, name: I32, first_id: int, ids: I32 | None = None
) -> list[Line]:
    """The events on as few lines as hide none of them; nested ones below those around them.

    `ids`: of the events, where they are not `first_id` and those after it."""
    if not len(start_ns):
        return []
    if bool(np.all(start_ns[1:] >= end_ns[:-1])):
        return [make_line(start_ns, end_ns, name, first_id, ids)]
    order = sort_order([start_ns, -end_ns])
    start_ns, end_ns, name = start_ns[order], end_ns[order], name[order]
    ids = (first_id + order).astype(np.int32) if ids is None else ids[order]
    level = stack_levels(start_ns, end_ns)
    by_level = np.argsort(level, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(np.bincount(level))))
    return [
        make_line(start_ns[rows], end_ns[rows], name[rows], 0, ids[rows])
        for rows in (by_level[a:b] for a, b in pairwise(bounds.tolist()))
    ]


def union_line(lines: Sequence[Line]) -> Line:
    """When any of the lines is busy. Touching events are one; they have no names and ids."""
    ends = [line.start_ns + np.diff(line.before_ns) for line in lines]
    start = np.concatenate([line.start_ns for line in lines] or [np.zeros(0, np.int64)])
    end = np.concatenate(ends or [np.zeros(0, np.int64)])
    union = IntervalSets(np.zeros(len(start), np.int32), start, end, 1)
    return make_line(union.start, union.end, np.full(union.count, -1, np.int32), 0)
