"""Events that do not overlap, as columns that any window of time is cut from at once.

With running sums of their durations the busy time before any instant is found by one binary
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
Names = NDArray[np.uint16] | I32


STRIDE = 64
"""Of so many events the durations are added up again where a sum is asked for: a sum kept for each
event would take as much memory as its start."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Events in order of time, none of which begins before the one before it has ended. Takes 14
    bytes an event in most traces."""

    start_ns: I64
    dur_ns: NDArray[np.uint32] | I64
    sum_ns: I64
    """Busy time before every `STRIDE`-th event, and at last that of all."""
    name: Names
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
        return int(self.sum_ns[-1])

    def span(self, place: int) -> tuple[int, int]:
        """Start and end of an event."""
        start = int(self.start_ns[place])
        return start, start + int(self.dur_ns[place])

    def spans(self, places: I64) -> tuple[I64, I64]:
        """Starts and ends of events."""
        start = self.start_ns[places]
        return start, start + self.dur_ns[places]

    def event(self, place: int) -> int:
        """Id of an event."""
        return self.first_id + place if self.id is None else int(self.id[place])

    def last_before(self, at_ns: I64) -> I64:
        """The last event that starts at or before each instant, -1: none does."""
        return np.searchsorted(self.start_ns, at_ns, side="right") - 1

    def busy_until(self, at_ns: I64) -> I64:
        """Busy time before each instant."""
        if not len(self):
            return np.zeros(len(at_ns), np.int64)
        place = self.last_before(at_ns)
        inside = np.maximum(place, 0)
        start, end = self.spans(inside)
        part = self._before(inside) + np.minimum(at_ns, end) - start
        return np.where(place < 0, 0, part)

    def _before(self, places: I64) -> I64:
        """Busy time before each event."""
        block = places // STRIDE
        near = block[:, None] * STRIDE + np.arange(STRIDE)
        durations = self.dur_ns[np.minimum(near, len(self) - 1)]
        rest = np.where(near < places[:, None], durations, 0).sum(axis=1, dtype=np.int64)
        total: I64 = self.sum_ns[block] + rest
        return total


def make_line(
    start_ns: I64, end_ns: I64, name: Names, first_id: int, ids: I32 | None = None
) -> Line:
    """Of events that ascend and do not overlap."""
    long = end_ns - start_ns
    sums = np.zeros(-(-len(long) // STRIDE) + 1, np.int64)
    if len(long):
        np.cumsum(np.add.reduceat(long, np.arange(0, len(long), STRIDE)), out=sums[1:])
    small = len(long) > 0 and int(long.max()) <= np.iinfo(np.uint32).max
    return Line(
        start_ns, long.astype(np.uint32) if small else long, sums, _short(name), first_id, ids
    )


def _short(name: Names) -> Names:
    """The same ids in half of the memory where they are small enough."""
    if not len(name) or name.min() < 0 or name.max() > np.iinfo(np.uint16).max:
        return name
    return name.astype(np.uint16)


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
    ends = [line.start_ns + line.dur_ns for line in lines]
    start = np.concatenate([line.start_ns for line in lines] or [np.zeros(0, np.int64)])
    end = np.concatenate(ends or [np.zeros(0, np.int64)])
    union = IntervalSets(np.zeros(len(start), np.int32), start, end, 1)
    nameless = np.broadcast_to(np.int32(-1), union.count)
    return make_line(union.start, union.end, nameless, 0)
