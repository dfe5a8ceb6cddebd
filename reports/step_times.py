"""Duration, gap and wall time of steps as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..analyzers.quantities import plural
from ..analyzers.step_timing import Spread, StepTiming, step_timing
from . import format as fmt
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.steps import Steps


def step_count(steps: Steps) -> str:
    """`230 steps`, or how many of them are in the benchmark phase where some are not."""
    if steps.chosen_count == steps.count:
        return plural(steps.count, "step")
    return f"{steps.chosen_count:,} of {plural(steps.count, 'step')} in the benchmark phase"


def step_times(steps: Steps, width: int) -> Iterator[str]:
    """Duration, gap and wall time of the steady steps."""
    timing = step_timing(steps)
    if timing is None:
        yield "No steady steps: times per step are n/a."
        return
    negative = sum(rank.negative_gaps for rank in timing.ranks)
    rows = [
        (name, *_spread(spread))
        for name, spread in (
            ("step duration", timing.duration),
            ("gap to the next step", timing.gap),
            ("wall per step", timing.wall),
        )
    ]
    yield from table(
        ("steady steps, µs", "mean", "min", "p50", "p90", "max", "count"), rows, width, indent=""
    )
    yield from paragraph(_counted(steps, timing), width, indent="  ")
    if len(timing.ranks) > 1:
        means = ", ".join(
            f"{t.rank.label} {fmt.number((t.wall or t.duration).avg_ns / 1000)} µs"
            for t in timing.ranks
            if timing.wall is None or t.wall is not None
        )
        what = "wall per step" if timing.wall is not None else "step duration"
        yield from paragraph(f"{what} by rank: {means}", width, indent="  ")
    if negative:
        yield from paragraph(
            f"{plural(negative, 'step')} began before the one before had ended (negative gaps).",
            width,
        )


def _counted(steps: Steps, timing: StepTiming) -> str:
    """What `count` is: fewer than the steady steps of a rank, more where several ranks ran them."""
    counts = sorted({rank.duration.count for rank in timing.ranks})
    each = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    steady = len(np.unique(steps.iteration[steps.steady]))
    ranks = f" on each of {len(timing.ranks)} ranks" if len(timing.ranks) > 1 else ""
    which = ", no two in a row" if timing.wall is None else ": those before another steady one"
    return f"count: {each} of {plural(steady, 'steady step')}{ranks}{which}"


def _spread(spread: Spread | None) -> tuple[str, ...]:
    if spread is None:
        return (fmt.NA,) * 5 + ("0",)
    values = (spread.avg_ns, spread.min_ns, spread.p50_ns, spread.p90_ns, spread.max_ns)
    return (*(fmt.number(value / 1000) for value in values), fmt.count(spread.count))
