"""The whole answer about one trace: verdict, causes of idle time, cost of steps, findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .findings import Finding, ordered
from .handoff import ExposedPrep, most_exposed
from .host_findings import host_findings
from .host_overhead import HostOverhead, analyze
from .idle_blame import IdleBlame, idle_blame
from .profile_findings import profile_findings
from .step_profile import StepProfile, step_profile

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .config import HostConfig


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
    steps = None if profile is None else profile.steps
    result = analyze(trace, config, window=window, steps=steps)
    profile = profile or step_profile(trace, result.steps)
    return Judged(
        result=result,
        blame=idle_blame(result),
        profile=profile,
        findings=ordered([*host_findings(result), *profile_findings(profile)]),
        exposed=most_exposed(result),
    )
