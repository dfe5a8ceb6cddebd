"""Idle gaps by length, with what usually causes gaps of that length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..native import IntervalSets, group_stats
from ..queries.ops import OpRef, ops_at
from ..queries.trace import Trace

BUCKETS = (
    (0, "dispatch"),
    (1_000, "graph segment replay"),
    (5_000, "graph launch"),
    (10_000, "light Python between segments"),
    (50_000, "loop of piecewise replays"),
    (100_000, "interpreter"),
    (500_000, "heavy Python"),
    (1_000_000, "eager Python"),
    (5_000_000, "synchronisation or object creation"),
)
"""Shortest gap of each bucket in ns (the next one's is not in it), and its typical cause: a hint,
not a measurement."""


_AT_ONCE = 262_144
"""Gaps looked at together, so that temporary columns stay small."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Gaps of one range of lengths."""

    at_least_ns: int
    below_ns: int | None
    typical_cause: str
    count: int
    total_ns: int
    after: OpRef | None = None
    """The operation that ended the longest of them; only told of devices."""


@dataclass(frozen=True, slots=True)
class GapTable:
    """Gaps between the kernels of one device, or of one stream of it. All buckets, by length."""

    device: int
    lane: int | None
    """Stream; None: of the device, all streams together."""
    buckets: tuple[Bucket, ...]

    @property
    def count(self) -> int:
        return sum(bucket.count for bucket in self.buckets)

    @property
    def total_ns(self) -> int:
        return sum(bucket.total_ns for bucket in self.buckets)


def gap_table(
    sets: IntervalSets, device: int, lane: int | None = None, trace: Trace | None = None
) -> GapTable:
    """Gaps between the intervals of the only group. `trace`: tell what ended the longest gap of
    each bucket, of a device; reads events."""
    edges = np.array([edge for edge, _ in BUCKETS], np.int64)
    counts = np.zeros(len(BUCKETS), np.int64)
    totals = np.zeros(len(BUCKETS), np.int64)
    longest = np.full(len(BUCKETS), -1, np.int64)
    ended = np.zeros(len(BUCKETS), np.int64)
    for first in range(0, sets.count, _AT_ONCE):
        rows = slice(first, first + _AT_ONCE)
        begins = sets.start[1:][rows]
        gaps = begins - sets.end[rows][: len(begins)]
        place = np.searchsorted(edges, gaps, side="right") - 1
        stats = group_stats(place, gaps)
        counts[stats.group] += stats.count
        totals[stats.group] += stats.sum
        for bucket, most in zip(stats.group.tolist(), stats.max.tolist(), strict=True):
            if most > longest[bucket]:
                longest[bucket], ended[bucket] = most, begins[np.argmax(gaps == most)]
    after: dict[int, OpRef] = {}
    if trace is not None and counts.any():
        ops = ops_at(trace, device, starts=ended[counts > 0].tolist())
        after = {op.start_ns: op for op in reversed(ops)}
    buckets = [
        Bucket(
            at_least_ns=edge,
            below_ns=BUCKETS[position + 1][0] if position + 1 < len(BUCKETS) else None,
            typical_cause=cause,
            count=int(counts[position]),
            total_ns=int(totals[position]),
            after=after.get(int(ended[position])) if counts[position] else None,
        )
        for position, (edge, cause) in enumerate(BUCKETS)
    ]
    return GapTable(device, lane, tuple(buckets))
