"""The verdict from the metrics: is the GPU kept waiting by the host?

The rule is the one of the published guide: YES when at least two of the metrics at hand cross their
limits. Two refinements, both shown beside the guide's own result: idle time that copies explain is
not the host's fault, and launch time counts without what the thread spent blocked in a full queue
or loading code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .config import HostConfig, Thresholds


class Answer(StrEnum):
    """Of the verdict."""

    YES = "YES"
    NO = "NO"
    NOT_APPLICABLE = "N/A"


ENOUGH_CROSSED = 2
COUNTED = (
    "gpu_idle_ratio",
    "launch_overhead_ratio",
    "host_prep_exposed_ratio",
    "host_prep_perf_impact",
    "host_prep_idle_attribution",
    "gpu_utilization",
)
"""The metrics that decide. nccl_ratio is a caveat only."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """Ratios; None where they cannot be known, with the reason by name of the metric."""

    gpu_idle_ratio: float | None = None
    launch_overhead_ratio: float | None = None
    """Net, of the busiest thread."""
    host_prep_exposed_ratio: float | None = None
    host_prep_perf_impact: float | None = None
    host_prep_idle_attribution: float | None = None
    gpu_utilization: float | None = None
    nccl_ratio: float | None = None
    """Of all devices together."""
    idle_without_copies: float | None = None
    """gpu_idle_ratio when copies count as busy; None: as without copies."""
    launch_gross_ratio: float | None = None
    """launch_overhead_ratio with the blocked time; None: there was none."""
    nccl_highest: float | None = None
    """nccl_ratio of the device that has most; None: as nccl_ratio."""
    missing: Mapping[str, str] = field(default_factory=dict[str, str])

    def value(self, name: str) -> float | None:
        """A metric by name."""
        found: float | None = getattr(self, name)
        return found


@dataclass(frozen=True, slots=True)
class Judgement:
    """Which metrics are at hand, which of them cross, and what follows."""

    answer: Answer
    crossed: Mapping[str, bool]
    """Of the metrics at hand."""
    host_prep_confirmed: bool
    nccl_caveat: bool
    explained_by_copies: bool
    """The GPU ran no kernel, but copies keep it from idling: M1 and M4 do not count."""

    @property
    def crossed_count(self) -> int:
        return sum(self.crossed.values())

    @property
    def applicable_count(self) -> int:
        return len(self.crossed)


@dataclass(frozen=True, slots=True)
class Overall:
    """The whole verdict."""

    answer: Answer
    aggregate: Judgement
    phases: Mapping[str, Judgement]
    elevated_by: tuple[str, ...]
    """Phases that are YES where the whole is not."""


def judge(metrics: Metrics, limits: Thresholds) -> Judgement:
    """Judge one window, or the steps of one phase."""
    idle, busy = metrics.gpu_idle_ratio, metrics.gpu_utilization
    crossed: dict[str, bool] = {}
    explained = False
    for name in COUNTED:
        value = metrics.value(name)
        if value is None:
            continue
        crossed[name] = _is_crossed(name, value, limits)
    if metrics.idle_without_copies is not None:
        rest = metrics.idle_without_copies
        for name, value in (("gpu_idle_ratio", rest), ("gpu_utilization", 1.0 - rest)):
            if crossed.get(name) and not _is_crossed(name, value, limits):
                crossed[name] = False
                explained = True
    highest = metrics.nccl_ratio if metrics.nccl_highest is None else metrics.nccl_highest
    nothing = idle is None and busy is None
    answer = Answer.YES if sum(crossed.values()) >= ENOUGH_CROSSED else Answer.NO
    return Judgement(
        answer=Answer.NOT_APPLICABLE if nothing else answer,
        crossed=crossed,
        host_prep_confirmed=crossed.get("host_prep_perf_impact", False)
        and crossed.get("host_prep_idle_attribution", False),
        nccl_caveat=highest is not None and _is_crossed("nccl_ratio", highest, limits),
        explained_by_copies=explained,
    )


def judge_as_guide(metrics: Metrics, limits: Thresholds) -> Judgement:
    """The same by the guide's own formulas: copies do not count as work, blocked launches as
    overhead."""
    gross = metrics.launch_gross_ratio
    plain = Metrics(
        gpu_idle_ratio=metrics.gpu_idle_ratio,
        launch_overhead_ratio=metrics.launch_overhead_ratio if gross is None else gross,
        host_prep_exposed_ratio=metrics.host_prep_exposed_ratio,
        host_prep_perf_impact=metrics.host_prep_perf_impact,
        host_prep_idle_attribution=metrics.host_prep_idle_attribution,
        gpu_utilization=metrics.gpu_utilization,
        nccl_ratio=metrics.nccl_ratio,
    )
    return judge(plain, limits)


def verdict(
    aggregate: Metrics,
    phases: Mapping[str, Metrics],
    config: HostConfig,
    *,
    as_guide: bool = False,
) -> Overall:
    """The verdict of a window and its phases: a phase can raise it, never lower it. Without GPU
    work in the window it declines."""
    rule = judge_as_guide if as_guide else judge
    whole = rule(aggregate, config.thresholds)
    parts = {name: rule(metrics, config.of_phase(name)) for name, metrics in phases.items()}
    if whole.answer is Answer.NOT_APPLICABLE:
        return Overall(whole.answer, whole, parts, ())
    elevating = tuple(name for name, part in parts.items() if part.answer is Answer.YES)
    if whole.answer is Answer.YES:
        elevating = ()
    answer = Answer.YES if elevating else whole.answer
    return Overall(answer, whole, parts, elevating)


def _is_crossed(name: str, value: float, limits: Thresholds) -> bool:
    limit: float = getattr(limits, name)
    return value < limit if name == "gpu_utilization" else value > limit
