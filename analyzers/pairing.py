"""Two traces brought to equal work, then compared; or why they cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .change import CompareLimits
from .conclusion import Conclusion, conclude, few_steps
from .patterns import comparison_findings
from .quantities import plural
from .regression import Comparison, compare_profiles
from .step_places import StepPlaces
from .step_profile import step_profile
from .step_slots import Slots
from .steps import StepOptions, find_steps

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .findings import Finding
    from .step_profile import StepProfile
    from .steps import Steps

SURE_STEPS = 20
FEWEST_STEPS = 5


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of two traces. Without one, `not_comparable` says why."""

    baseline: StepProfile | None
    target: StepProfile | None
    comparison: Comparison | None
    not_comparable: str | None
    conclusion: Conclusion | None
    findings: tuple[Finding, ...]
    generation: int | None
    """Generation requests of the compared steps; None where texts do not tell them."""
    cautions: tuple[str, ...]
    places: tuple[StepPlaces, StepPlaces] | None = field(default=None, repr=False)
    """The events of the compared steps of both traces, for what else is asked of them; None
    without a comparison."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The steps of two traces, steady where they do the same work on both sides."""

    baseline: Steps
    target: Steps
    generation: int | None
    """Generation requests of the steady steps; None where texts do not tell them."""
    cautions: tuple[str, ...]
    not_comparable: str | None
    """Why they do not do the same work; each side then has its own steady steps."""


def pair_steps(baseline: Trace, target: Trace, options: StepOptions | None = None) -> Pair:
    """Find the steps of both traces. RequestError for a pattern that is none."""
    options = options or StepOptions()
    traces = (baseline, target)
    with ThreadPoolExecutor(len(traces)) as pool:
        old, new = pool.map(find_steps, traces, (options, options))
        generation, cautions, reason = _common(old, new, options)
        if reason is not None:
            return Pair(old, new, None, (), reason)
        forced = replace(options, generation=generation)

        def steady(side: tuple[Trace, Steps]) -> Steps:
            trace, steps = side
            return steps if steps.steady_generation == generation else find_steps(trace, forced)

        old, new = pool.map(steady, ((baseline, old), (target, new)))
    return Pair(old, new, generation, cautions, None)


def compare_traces(
    baseline: Trace,
    target: Trace,
    options: StepOptions | None = None,
    limits: CompareLimits | None = None,
    *,
    pair: Pair | None = None,
) -> Compared:
    """Compare steady steps with the same number of generation requests on both sides.

    pair: the steps, where they are known.
    """
    pair = pair or pair_steps(baseline, target, options)
    if pair.not_comparable is not None:
        return _not_comparable(pair.not_comparable)
    with ThreadPoolExecutor(2) as pool:
        (before, old), (after, new) = pool.map(
            _profile, (baseline, target), (pair.baseline, pair.target)
        )
    comparison = compare_profiles(before, after, limits)
    if comparison is None:
        lacking = "target" if before.pairs else "base"
        reason = f"the {lacking} has no two consecutive steady steps"
        return _not_comparable(reason, before, after)
    return Compared(
        baseline=comparison.baseline,
        target=comparison.target,
        comparison=comparison,
        not_comparable=None,
        conclusion=conclude(comparison),
        findings=comparison_findings(comparison),
        generation=pair.generation,
        cautions=(*(pair.cautions or _few(comparison)), *_ranks(comparison)),
        places=(old, new),
    )


def _profile(trace: Trace, steps: Steps) -> tuple[StepProfile, StepPlaces]:
    places = StepPlaces(trace, Slots(steps))
    return step_profile(trace, steps, places), places


def _not_comparable(
    reason: str, baseline: StepProfile | None = None, target: StepProfile | None = None
) -> Compared:
    return Compared(baseline, target, None, reason, None, (), None, ())


def _common(
    baseline: Steps, target: Steps, options: StepOptions
) -> tuple[int | None, tuple[str, ...], str | None]:
    """Generation requests of the steps to compare, cautions, and why there is nothing to."""
    for name, steps in (("base", baseline), ("target", target)):
        if not len(steps):
            return None, (), f"no steps were found in the {name}: {steps.reason}"
    if options.generation is not None:
        return options.generation, (), None
    counts = (baseline.generation_counts, target.generation_counts)
    if not any(counts):
        return None, (), None
    common = {g: min(counts[0][g], counts[1][g]) for g in counts[0] if g in counts[1]}
    sure = [g for g, steps in common.items() if steps >= SURE_STEPS]
    if sure:
        return max(sure), (), None
    few = [g for g, steps in common.items() if steps >= FEWEST_STEPS]
    if few:
        generation = max(few)
        caution = (
            f"only {common[generation]} steps with {generation} generation requests are in both "
            f"traces; {SURE_STEPS} would be sure"
        )
        return generation, (caution,), None
    return None, (), (
        "the steady steps of the two traces do different work: no number of generation requests "
        f"has {FEWEST_STEPS} steps in both (base: {_listed(counts[0])}; "
        f"target: {_listed(counts[1])})"
    )  # fmt: skip


def _listed(counts: Mapping[int, int]) -> str:
    if not counts:
        return "not told"
    most = sorted(counts.items(), key=lambda item: (-item[1], -item[0]))[:3]
    return ", ".join(f"{steps} steps with {generation}" for generation, steps in most)


def _few(comparison: Comparison) -> tuple[str, ...]:
    caution = few_steps(comparison, SURE_STEPS)
    return () if caution is None else (caution,)


def _ranks(comparison: Comparison) -> tuple[str, ...]:
    old, new = len(comparison.baseline.ranks), len(comparison.target.ranks)
    if old == new:
        return ()
    return (f"the base has {plural(old, 'rank')}, the target {new}: their work may differ",)
