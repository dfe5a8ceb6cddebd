"""How long steps take and how far apart they lie: duration, gap to the next one, wall time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .steps import Rank, Steps


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution of times in ns. p50 and p90 are the values at ⌊q·count⌋ of the sorted ones."""

    avg_ns: float
    min_ns: float
    max_ns: float
    count: int
    p50_ns: float
    p90_ns: float
    variance: float
    """Of the sample (n - 1), 0 for a single value; ns²."""


@dataclass(frozen=True, slots=True)
class RankTiming:
    """Steady steps of one rank, those that another steady step follows: the three are of the same
    steps, so that wall.avg = duration.avg + gap.avg. Where no step is followed by one, the duration
    is of all steady steps, and gap and wall are None."""

    rank: Rank
    duration: Spread
    gap: Spread | None
    wall: Spread | None
    negative_gaps: int
    """Steps that began before the one before had ended (overlapping scheduler)."""


@dataclass(frozen=True, slots=True)
class StepTiming:
    """Per rank, and over the ranks: averages are means over ranks, min and max the extremes, the
    quantiles those of all values together. Ranks without a wall time count only where no rank has
    one, so that wall.avg = duration.avg + gap.avg here too."""

    ranks: tuple[RankTiming, ...]
    duration: Spread
    gap: Spread | None
    wall: Spread | None
    slowest: Rank
    """The rank with the longest wall time per step (duration where there are no pairs)."""


def spread(values: NDArray[np.int64]) -> Spread:
    """Distribution of at least one value."""
    ordered = np.sort(values)
    count = len(ordered)
    return Spread(
        avg_ns=float(ordered.mean()),
        min_ns=float(ordered[0]),
        max_ns=float(ordered[-1]),
        count=count,
        p50_ns=float(ordered[int(0.5 * count)]),
        p90_ns=float(ordered[int(0.9 * count)]),
        variance=float(ordered.var(ddof=1)) if count > 1 else 0.0,
    )


def step_timing(steps: Steps) -> StepTiming | None:
    """Timing of the steady steps; None where there are none."""
    steady, pairs = steps.steady, steps.pairs
    if not len(steady):
        return None
    duration = steps.end_ns - steps.start_ns
    gap = np.zeros(len(steps), np.int64)
    wall = np.zeros(len(steps), np.int64)
    gap[pairs] = steps.start_ns[pairs + 1] - steps.end_ns[pairs]
    wall[pairs] = steps.start_ns[pairs + 1] - steps.start_ns[pairs]
    timings: list[RankTiming] = []
    for index, rank in enumerate(steps.ranks):
        own = steady[steps.rank[steady] == index]
        linked = pairs[steps.rank[pairs] == index]
        if not len(own):
            continue
        timings.append(
            RankTiming(
                rank=rank,
                duration=spread(duration[linked if len(linked) else own]),
                gap=spread(gap[linked]) if len(linked) else None,
                wall=spread(wall[linked]) if len(linked) else None,
                negative_gaps=int((gap[linked] < 0).sum()),
            )
        )
    gaps = [t.gap for t in timings if t.gap is not None]
    walls = [t.wall for t in timings if t.wall is not None]
    counted = [t for t in timings if t.wall is not None] or timings
    slowest = max(counted, key=lambda t: (t.wall or t.duration).avg_ns)
    return StepTiming(
        ranks=tuple(timings),
        duration=_over_ranks([t.duration for t in counted], duration[pairs if walls else steady]),
        gap=_over_ranks(gaps, gap[pairs]) if gaps else None,
        wall=_over_ranks(walls, wall[pairs]) if walls else None,
        slowest=slowest.rank,
    )


def _over_ranks(parts: Sequence[Spread], values: NDArray[np.int64]) -> Spread:
    together = spread(values)
    return Spread(
        avg_ns=sum(part.avg_ns for part in parts) / len(parts),
        min_ns=together.min_ns,
        max_ns=together.max_ns,
        count=together.count,
        p50_ns=together.p50_ns,
        p90_ns=together.p90_ns,
        variance=together.variance,
    )
