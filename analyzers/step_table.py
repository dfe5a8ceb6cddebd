"""What each operation cost per step, by name: flat columns, and the statistics tests need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Samples:
    """A quantity of single steps, pooled over ranks: one entry an operation (or one in all).

    `mean` is the mean over ranks of each rank's mean; `variance` the sample variance of all
    values together, NaN with fewer than two.
    """

    mean: F64
    variance: F64
    count: int
    """Values, of all ranks."""
    rank_mean: F64
    """(entries, ranks)"""
    rank_variance: F64
    """(entries, ranks)"""
    rank_count: I64
    """(ranks,)"""


@dataclass(frozen=True, slots=True)
class StepTable:
    """Sums over the compared steps, one row a name and place. `(rows, ranks)` unless said.

    Events belong to the step in whose window [start, next start) they begin.
    """

    names: tuple[str, ...]
    layer: U8
    """(rows,) `Layer`."""
    other_thread: Flags
    """(rows,) True: not on the thread that runs the steps, so it may overlap them."""
    is_step: Flags
    """(rows,) True: the step range itself."""
    node: I32
    """(rows,) the heaviest context, -1 none."""
    parents: tuple[str | None, ...]
    """(rows,) name of the operation around that context; None at the top or right in a step."""
    steps: I64
    """(ranks,) how many steps the sums are over."""
    calls: I64
    total_ns: I64
    """Durations, with what is nested in them; a name nested in itself counts once."""
    total_square: F64
    """Sum over steps of the squared total of a step."""
    self_ns: I64
    """Durations without what is nested; for GPU work as `total_ns`."""
    self_in_step_ns: I64
    """The part of `self_ns` that begins inside the step range, not in the gap after it."""
    total_in_step_ns: I64

    def __len__(self) -> int:
        return len(self.names)

    def place(self, row: int) -> str:
        """Where the operation runs: `in step`, `gap`, `other threads`, or what it is part of."""
        if self.other_thread[row]:
            return "other threads"
        parent = self.parents[row]
        if parent is not None:
            return f"in {parent}"
        return "in step" if self.in_step_share[row] >= 0.5 else "gap"

    @property
    def calls_per_step(self) -> F64:
        """(rows,) mean over ranks."""
        return per_step(self.calls, self.steps)

    @property
    def self_per_step_ns(self) -> F64:
        """(rows,) mean over ranks."""
        return per_step(self.self_ns, self.steps)

    @property
    def total(self) -> Samples:
        """Total time of single steps."""
        return samples(self.total_ns, self.total_square, self.steps)

    @property
    def in_step_share(self) -> F64:
        """(rows,) part of the total that begins inside the step range; NaN without any time."""
        total = self.total_ns.sum(1)
        inside = self.total_in_step_ns.sum(1)
        share = np.full(len(self), np.nan)
        np.divide(inside, total, out=share, where=total > 0)
        return share


def per_step(sums: I64, steps: I64) -> F64:
    """Mean over ranks of `sums` (rows, ranks) over `steps` (ranks,)."""
    known = steps > 0
    if not known.any():
        return np.full(len(sums), np.nan)
    means: F64 = (sums[:, known] / steps[known]).mean(axis=1)
    return means


def samples(sums: I64, squares: F64, steps: I64) -> Samples:
    """Statistics from sums and sums of squares, both (rows, ranks), over `steps` (ranks,)."""
    count = int(steps.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        rank_mean = sums / steps
        rank_variance = (squares - sums * rank_mean) / (steps - 1)
        pooled = sums.sum(1) / count if count else np.full(len(sums), np.nan)
        variance = (squares.sum(1) - sums.sum(1) * pooled) / (count - 1)
    few = np.full_like(rank_variance, np.nan)
    rank_variance = np.where(steps > 1, np.maximum(rank_variance, 0.0), few)
    if count < 2:
        variance = np.full(len(sums), np.nan)
    return Samples(
        mean=per_step(sums, steps),
        variance=np.maximum(variance, 0.0),
        count=count,
        rank_mean=rank_mean,
        rank_variance=rank_variance,
        rank_count=steps,
    )


@dataclass(frozen=True, slots=True)
class Series:
    """One value a step, a column for each rank (columns may differ in length)."""

    values: tuple[I64, ...]

    @property
    def count(self) -> int:
        return sum(len(column) for column in self.values)

    @property
    def samples(self) -> Samples:
        """One entry."""
        sums = [[int(column.sum()) for column in self.values]]
        squares = [[float(np.square(column.astype(np.float64)).sum()) for column in self.values]]
        return samples(
            np.array(sums, np.int64).reshape(1, -1),
            np.array(squares, np.float64).reshape(1, -1),
            np.array([len(column) for column in self.values], np.int64),
        )

    @property
    def mean(self) -> float | None:
        """Mean over ranks of each rank's mean; None without a value."""
        return float(self.samples.mean[0]) if self.count else None

    def quantile_ns(self, q: float) -> float | None:
        """The value at ⌊q·count⌋ of all ranks' sorted values; None without a value."""
        if not self.count:
            return None
        return float(np.sort(np.concatenate(self.values))[int(q * self.count)])

    @property
    def p50_ns(self) -> float | None:
        return self.quantile_ns(0.5)
