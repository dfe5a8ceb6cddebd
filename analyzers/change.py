"""Whether a per-step quantity changed between two traces, or only varies."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .step_table import F64, Flags, Samples, Series


@dataclass(frozen=True, slots=True)
class CompareLimits:
    """What counts as a change. Percentages are of the base."""

    regression_percent: float = 50.0
    improvement_percent: float = 30.0
    floor_ns: float = 5_000.0
    floor_share: float = 0.002
    """Of the base's wall per step; the larger of the two floors holds."""
    step_percent: float = 2.0
    """For wall per step, step duration and gap."""
    sigmas: float = 3.0
    """Standard errors of the difference that it must exceed."""
    steps: int = 10
    """Fewest steps on either side for that test."""

    def floor_of(self, wall_ns: float) -> float:
        return max(self.floor_ns, self.floor_share * wall_ns)


class Status(StrEnum):
    """Of an operation, target against base."""

    REGRESSION = "REGRESSION"
    IMPROVED = "IMPROVED"
    NEW = "NEW"
    REMOVED = "REMOVED"
    RANK_DEPENDENT = "RANK-DEPENDENT"
    """More on one rank, less on another."""
    UNCHANGED = "UNCHANGED"


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity on both sides."""

    baseline: float
    target: float
    noise: float | None
    """What a difference must exceed to be more than chance; None with too few steps."""
    significant: bool
    """Beyond the percent limit and the noise."""

    @property
    def delta(self) -> float:
        return self.target - self.baseline

    @property
    def percent(self) -> float | None:
        """None where the base is 0."""
        return 100 * self.delta / self.baseline if self.baseline else None


def change(baseline: Series, target: Series, limits: CompareLimits) -> Change | None:
    """Of wall per step, step duration or gap; None when a side has no value."""
    old, new = baseline.samples, target.samples
    if not old.count or not new.count:
        return None
    noise = float(noise_of(old, new, limits)[0])
    before, after = float(old.mean[0]), float(new.mean[0])
    beyond = abs(after - before) > limits.step_percent / 100 * abs(before)
    return Change(
        baseline=before,
        target=after,
        noise=None if np.isinf(noise) else noise,
        significant=bool(beyond and abs(after - before) > noise),
    )


def noise_of(baseline: Samples, target: Samples, limits: CompareLimits) -> F64:
    """sigmas · √(s_b² / n_b + s_t² / n_t), infinite with too few steps on a side."""
    if min(baseline.count, target.count) < limits.steps:
        return np.full(len(baseline.mean), np.inf)
    squared = baseline.variance / baseline.count + target.variance / target.count
    noise: F64 = limits.sigmas * np.sqrt(squared)
    return noise


def rank_noise_of(baseline: Samples, target: Samples, limits: CompareLimits) -> F64:
    """The same for each rank: (entries, ranks)."""
    enough = np.minimum(baseline.rank_count, target.rank_count) >= limits.steps
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = (
            baseline.rank_variance / baseline.rank_count + target.rank_variance / target.rank_count
        )
    noise: F64 = np.where(enough, limits.sigmas * np.sqrt(squared), np.inf)
    return noise


def disagree(baseline: Samples, target: Samples, floor_ns: float, limits: CompareLimits) -> Flags:
    """True where one rank got slower and another faster, both beyond floor and noise.

    Ranks are compared by their order; False throughout where their numbers differ.
    """
    if baseline.rank_mean.shape != target.rank_mean.shape:
        return np.zeros(len(baseline.mean), np.bool_)
    delta = target.rank_mean - baseline.rank_mean
    sure = (np.abs(delta) >= floor_ns) & (np.abs(delta) > rank_noise_of(baseline, target, limits))
    more, less = sure & (delta > 0), sure & (delta < 0)
    found: Flags = np.asarray(more.any(axis=1) & less.any(axis=1))
    return found
