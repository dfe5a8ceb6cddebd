"""What two traces say in one sentence, with the signs checked first."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from .change import Status
from .quantities import percent, plural, us

if TYPE_CHECKING:
    from .regression import Comparison, TableChange

GAP_SHARE = 0.6
"""From this part of the slowdown on it is the gap's; up to 1 - GAP_SHARE it is the step's."""
GPU_SHARE = 0.05
"""Changes of single kernels that sum to less of the base's GPU time are no change."""
_WORSE = (Status.REGRESSION, Status.NEW)
_BETTER = (Status.IMPROVED, Status.REMOVED)


class Outcome(StrEnum):
    """Of a comparison."""

    UNKNOWN = "cannot tell"
    """Too few steps: a difference may be chance, and no difference may hide one."""
    UNCHANGED = "No significant change"
    IMPROVED = "Improved"
    GAP = "inter-step host overhead"
    STEP = "step execution"
    BOTH = "both"
    """Gap and step."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The outcome and why."""

    outcome: Outcome
    gap_share: float | None
    """Part of the slowdown that is in the gaps between steps; None unless it is slower."""
    gpu_unchanged: bool | None
    """By kernel name; None where GPU work is not known on both sides."""
    sentences: tuple[str, ...]
    """The first one is the conclusion."""

    @property
    def regressed(self) -> bool:
        return self.outcome in (Outcome.GAP, Outcome.STEP, Outcome.BOTH)


def conclude(comparison: Comparison) -> Conclusion:
    """Time per step decides; single operations only explain."""
    wall = comparison.wall
    gpu = gpu_unchanged(comparison.kernels)
    share: float | None = None
    size = f"{us(abs(wall.delta))} per step ({percent(wall.percent, sign=False)})"
    if wall.noise is None:
        outcome = Outcome.UNKNOWN
        says = [_cannot_tell(comparison)]
    elif not wall.significant:
        outcome = Outcome.UNCHANGED
        says = [
            f"No significant change: {us(wall.delta, sign=True)} per step "
            f"({percent(wall.percent)}), {_why_not(comparison)}.",
            *_rows(comparison, "Changes that offset each other", _WORSE + _BETTER),
        ]
    elif wall.delta < 0:
        outcome = Outcome.IMPROVED
        says = [
            f"Improved by {size}.",
            *_rows(comparison, "Lost again in", _WORSE),
        ]
    else:
        share = comparison.gap.delta / wall.delta
        outcome = (
            Outcome.GAP if share >= GAP_SHARE else Outcome.STEP if share <= 1 - GAP_SHARE
            else Outcome.BOTH
        )  # fmt: skip
        says = [f"Slower by {size}: {_where(outcome, share)}.", *_gpu(comparison, gpu)]
    return Conclusion(outcome, share, gpu, tuple(says))


def gpu_unchanged(kernels: TableChange | None) -> bool | None:
    """Whether the changes of single kernels sum to at most 5 % of the base's GPU time."""
    if kernels is None:
        return None
    busy = np.isin(kernels.layer, (Layer.KERNEL, Layer.GRAPH))
    before = float(kernels.baseline_ns[busy].sum())
    return float(np.abs(kernels.delta_ns[busy]).sum()) <= GPU_SHARE * before


def _cannot_tell(comparison: Comparison) -> str:
    wall, old, new = comparison.wall, comparison.baseline.pairs, comparison.target.pairs
    return (
        f"Cannot tell: the means differ by {us(wall.delta, sign=True)} per step "
        f"({percent(wall.percent)}), but they are of {old:,} and {plural(new, 'step')} only. "
        f"{comparison.limits.steps} on each side are needed to tell a change from chance."
    )


def few_steps(comparison: Comparison, sure: int) -> str | None:
    """A caution where a side has fewer than `sure` steps; None where both have enough."""
    old, new = comparison.baseline.iterations, comparison.target.iterations
    if min(old, new) >= sure:
        return None
    return (
        f"only {old:,} and {plural(new, 'step')} that another steady one follows; {sure} on each "
        "side would be sure"
    )


def _why_not(comparison: Comparison) -> str:
    wall, limits = comparison.wall, comparison.limits
    if wall.noise is not None and abs(wall.delta) <= wall.noise:
        return f"within the variation of the steps (± {us(wall.noise)})"
    return f"within ± {limits.step_percent:g} %"


def _where(outcome: Outcome, share: float) -> str:
    part = f"{100 * share:.0f} % of it lies in the gaps between steps"
    if outcome is Outcome.GAP:
        return f"inter-step host overhead, {part}"
    if outcome is Outcome.STEP:
        return f"step execution, {part}"
    return f"both inside the steps and between them, {part}"


def _gpu(comparison: Comparison, unchanged: bool | None) -> list[str]:
    if unchanged is None or comparison.kernels is None:
        return []
    if unchanged:
        return ["Kernel time unchanged: what the steps lost, they lost on the host."]
    kernels = comparison.kernels
    rows = [
        f"{kernels.names[row]} {us(float(kernels.delta_ns[row]), sign=True)}"
        for row in range(min(3, len(kernels)))
        if kernels.sure[row]
    ]
    old, new = comparison.baseline.gpu_ns, comparison.target.gpu_ns
    before, after = (None if s is None else s.mean for s in (old, new))
    size = ""
    if before and after is not None:
        change = f"{us(after - before, sign=True)} ({percent(100 * (after - before) / before)})"
        size = f", kernel time {change}"
    return [f"Kernels changed{size}{': ' + ', '.join(rows) if rows else ''}."]


def _rows(comparison: Comparison, title: str, statuses: tuple[Status, ...]) -> list[str]:
    table = comparison.operations
    rows = [] if table is None else table.rows_of(*statuses)
    if table is None or not rows:
        return []
    listed = ", ".join(
        f"{table.names[row]} {us(float(table.delta_ns[row]), sign=True)}" for row in rows
    )
    return [f"{title}: {listed}."]
