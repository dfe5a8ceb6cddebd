"""All that is told about the steps of one trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .findings import Finding, ordered
from .graph_coverage import eager_in_graphs
from .host_overhead import analyze
from .kernel_level import KernelLevel, kernel_level
from .profile_findings import profile_findings
from .step_profile import StepProfile, step_profile

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .config import HostConfig
    from .steps import Steps


@dataclass(frozen=True, slots=True)
class StepView:
    """Steps, what they cost, and how the kernels follow each other in the window of a verdict."""

    profile: StepProfile
    level: KernelLevel | None
    """None: no kernel ran."""
    findings: tuple[Finding, ...]

    @property
    def steps(self) -> Steps:
        return self.profile.steps


def view_steps(trace: Trace, config: HostConfig | None = None) -> StepView:
    """Reads events. RequestError for a pattern that is none."""
    overhead = analyze(trace, config)
    profile = step_profile(trace, overhead.steps)
    level = kernel_level(overhead)
    eager = None if level is None else eager_in_graphs(level.coverage)
    found = [*profile_findings(profile), *([] if eager is None else [eager])]
    return StepView(profile, level, ordered(found))
