"""The whole answer about one trace: verdict, causes of idle time, cost of steps, findings."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .finding_places import placed
from .findings import Finding, ordered
from .handoff import ExposedPrep, most_exposed
from .host_findings import host_findings
from .host_overhead import HostOverhead, analyze
from .idle_blame import IdleBlame, idle_blame
from .pairing import Compared, compare_traces, pair_steps
from .profile_findings import profile_findings
from .step_profile import StepProfile, step_profile

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .config import HostConfig
    from .steps import Steps


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of one trace."""

    result: HostOverhead
    blame: IdleBlame | None
    """None: the trace has no kernel."""
    profile: StepProfile
    findings: tuple[Finding, ...]
    exposed: ExposedPrep | None
    """None: no range prepares inputs while a GPU idles."""


def judge_trace(
    trace: Trace,
    config: HostConfig | None = None,
    *,
    window: str = "auto",
    profile: StepProfile | None = None,
) -> Judged:
    """Judge a trace; `profile`: of its steps, where it is known. RequestError for a window or a
    pattern that cannot be used."""
    result, blame = _answer(trace, config, window, None if profile is None else profile.steps)
    return judged(result, blame, profile or step_profile(trace, result.steps))


def judge_pair(
    baseline: Trace, target: Trace, config: HostConfig | None = None, *, window: str = "auto"
) -> tuple[Compared, Judged]:
    """Compare two traces and judge the target, at the same time. RequestError as above."""
    options, limits = (None, None) if config is None else (config.steps, config.compare)
    pair = pair_steps(baseline, target, options)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(_answer, target, config, window, pair.target)
        compared = compare_traces(baseline, target, limits=limits, pair=pair)
        result, blame = answer.result()
    profile = compared.target
    if profile is None:
        profile = step_profile(target, result.steps)
    return compared, judged(result, blame, profile)


def _answer(
    trace: Trace, config: HostConfig | None, window: str, steps: Steps | None = None
) -> tuple[HostOverhead, IdleBlame | None]:
    result = analyze(trace, config, window=window, steps=steps)
    return result, idle_blame(result)


def judged(result: HostOverhead, blame: IdleBlame | None, profile: StepProfile) -> Judged:
    """The parts of an answer that are known, with the findings that follow from them."""
    return Judged(
        result=result,
        blame=blame,
        profile=profile,
        findings=ordered(
            placed(result.data.trace, [*host_findings(result, blame), *profile_findings(profile)])
        ),
        exposed=most_exposed(result),
    )
