"""The card of the Overview, made from the judgement of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..analyzers.handoff import first_target, prep_confirmed_in
from ..analyzers.prescribe.superseding import superseded
from ..analyzers.step_selection import StepSeries, step_series
from ..analyzers.step_timing import step_timing
from ..analyzers.verdict import COUNTED, Answer
from ..queries.paths import heaviest_nodes
from . import format as fmt
from .headline import headline, in_words, nccl_note
from .host_json import HostReport
from .next_step import next_step
from .verdict_card import (
    CardFinding,
    CardSignal,
    CardSteps,
    CardValue,
    Lead,
    LeadView,
    VerdictCard,
)

if TYPE_CHECKING:
    from ..analyzers.findings import Finding
    from ..analyzers.host_overhead import HostOverhead
    from ..analyzers.judging import Judged
    from ..analyzers.steps import Steps
    from ..analyzers.verdict import Judgement, Metrics
    from ..queries.trace import Trace

SIGNALS = (
    ("gpu_idle_ratio", "GPU idle"),
    ("launch_overhead_ratio", "launch, busiest"),
    ("host_prep_exposed_ratio", "prep exposed"),
    ("host_prep_perf_impact", "prep of wall"),
    ("host_prep_idle_attribution", "prep of idle"),
    ("nccl_ratio", "NCCL of busy"),
)
"""Metric and what it is called on the card. Utilisation is the other face of idle time."""
PREP = ("host_prep_exposed_ratio", "host_prep_perf_impact", "host_prep_idle_attribution")
_FINDING_LEADS: dict[str, LeadView] = {
    "graphs-off": "kernels",
    "copy-bound": "kernels",
    "launch-back-pressure": "kernels",
    "device-imbalance": "kernels",
}
"""Where findings lead whose evidence names no call path; the others lead to the steps."""
MOST_BARS = 240


def verdict_card(trace: Trace, judged: Judged, nodes: tuple[int, int] | None = None) -> VerdictCard:
    """Everything the Overview says about host overhead; `nodes`: the subtree of the process that
    was judged alone. Reads summary tables."""
    result = judged.result
    overall = result.overall
    names = tuple(result.phases)
    return VerdictCard(
        answer=overall.answer.value,
        headline=headline(result),
        basis=_basis(result),
        window_kind="" if result.window is None else result.window.kind,
        window=window_text(result),
        phases=names,
        signals=_signals(result),
        limits_note=_limits_note(result),
        reliability=result.reliability.level.name.lower(),
        reasons=_reasons(result),
        next_step=next_step(HostReport((), judged)),
        lead=_lead(trace, judged, nodes),
        findings=card_findings(trace, judged.findings, nodes),
        steps=card_steps(result.steps),
    )


def window_text(result: HostOverhead) -> str:
    """Which part of the trace was judged, and why that one."""
    window = result.window
    if window is None:
        return "n/a: no single kernel was recorded"
    span = f"{window.start_ns / 1e9:.3f} to {window.end_ns / 1e9:.3f} s"
    return f"{window.kind}, {span}: {window.reason}"


def _basis(result: HostOverhead) -> str:
    judged = result.overall.aggregate
    parts = [f"{judged.crossed_count} of {judged.applicable_count} signals beyond their limit"]
    if result.overall.elevated_by:
        parts.append(f"elevated by {' and '.join(result.overall.elevated_by)}")
    confirmed = prep_confirmed_in(result)
    if confirmed:
        parts.append(f"host preparation confirmed {in_words(confirmed)}")
    if judged.nccl_caveat:
        parts.append(nccl_note(judged))
    if result.guide.answer is not result.answer:
        parts.append(f"by the published guide's own count: {result.guide.answer.value}")
    return " · ".join(parts) if result.window is not None else ""


def _reasons(result: HostOverhead) -> tuple[str, ...]:
    """Conditions, then what is not known, each reason once with all that it concerns."""
    found = [f"{c.code} {c.trust.name.lower()}: {c.text}" for c in result.reliability.conditions]
    titles = dict(SIGNALS)
    missing: dict[str, list[str]] = {}
    for metric, reason in result.measured.metrics.missing.items():
        if metric in titles and result.window is not None:
            names = missing.setdefault(reason, [])
            title = "host prep" if metric in PREP else titles[metric]
            names += [] if title in names else [title]
    found += [f"n/a {', '.join(names)}: {reason}" for reason, names in missing.items()]
    return tuple(found)


def _signals(result: HostOverhead) -> tuple[CardSignal, ...]:
    """What the verdict rests on. Of host preparation one line where nothing of it is known."""
    if result.window is None:
        return ()
    parts = (result.measured, *(phase.measured for phase in result.phases.values()))
    unknown = all(part.metrics.value(PREP[0]) is None for part in parts)
    return tuple(
        _signal(result, metric, "host prep" if unknown and metric == PREP[0] else title)
        for metric, title in SIGNALS
        if not unknown or metric not in PREP[1:]
    )


def _limits_note(result: HostOverhead) -> str:
    """Where a phase is judged by limits of its own."""
    notes: list[str] = []
    for name in result.phases:
        limits = result.config.of_phase(name)
        own = [
            f"{title} > {100 * getattr(limits, metric):g} %"
            for metric, title in SIGNALS
            if getattr(limits, metric) != getattr(result.config.thresholds, metric)
        ]
        notes += [f"limit in {name}: {', '.join(own)}"] if own else []
    return "; ".join(notes)


def _signal(result: HostOverhead, metric: str, title: str) -> CardSignal:
    limits = result.config.thresholds
    metrics = result.measured.metrics
    limit: float = getattr(limits, metric)
    judged = result.overall.aggregate
    phases = tuple(
        CardValue(
            fmt.share(phase.measured.metrics.value(metric)),
            _crosses(result.overall.phases[name], metric),
        )
        for name, phase in result.phases.items()
    )
    return CardSignal(
        name=title,
        value=fmt.share(metrics.value(metric)),
        limit=f"> {100 * limit:g} %",
        mark=_mark(judged, metrics, metric),
        phases=phases,
    )


def _crosses(judged: Judgement, metric: str) -> bool:
    if metric in COUNTED:
        return judged.crossed.get(metric, False)
    return judged.nccl_caveat


def _mark(judged: Judgement, metrics: Metrics, metric: str) -> str:
    if metrics.value(metric) is None:
        return ""
    crossed = _crosses(judged, metric)
    if metric == "gpu_idle_ratio":
        if judged.explained_by_copies and not crossed:
            return "copies"
        severe = crossed and judged.crossed.get("gpu_utilization", False)
        return "severe" if severe else "elevated" if crossed else ""
    if metric not in COUNTED:
        return "caveat" if crossed else ""
    return "crossed" if crossed else ""


def _lead(trace: Trace, judged: Judged, nodes: tuple[int, int] | None) -> Lead:
    """Where the next step is taken: the path of the first target, the kernels, or the steps."""
    result = judged.result
    if result.answer is Answer.NOT_APPLICABLE:
        return Lead("paths")
    if result.answer is Answer.NO:
        return Lead("kernels")
    target = first_target(judged)
    if target is not None:
        node = heaviest_nodes(trace, [target.name], nodes).get(target.name)
        if node is not None:
            return Lead("paths", node)
    return Lead("steps")


def card_findings(
    trace: Trace, findings: Sequence[Finding], nodes: tuple[int, int] | None = None
) -> tuple[CardFinding, ...]:
    """Each leads where its first row of evidence that leads anywhere does: to GPU work that it
    names, or to a call path, by node or by name."""
    names = {e.name for finding in findings for e in finding.evidence if e.name is not None}
    named = heaviest_nodes(trace, names, nodes)

    def lead(finding: Finding) -> Lead:
        for row in finding.evidence:
            if row.kind is not None and row.name:
                return Lead("kernels", op=(int(row.kind), row.name))
            node = named.get(row.name or "") if row.node is None else row.node
            if node is not None and node >= 0:
                return Lead("paths", node)
        return Lead(_FINDING_LEADS.get(finding.id, "steps"))

    return tuple(
        CardFinding(
            finding.id,
            int(finding.weight),
            -1.0 if finding.gain is None else finding.gain.share,
            finding.sentence + _gain(finding),
            finding.remedy,
            lead(finding),
        )
        for finding in findings
    )


def _gain(finding: Finding) -> str:
    gain = finding.gain
    return "" if gain is None else f" Gain: at most {fmt.share(gain.share)}."


def merged_findings(
    verdict: Sequence[CardFinding], found: Sequence[CardFinding]
) -> tuple[CardFinding, ...]:
    """Findings of the verdict and of the analyzers in one list, in the order of
    `findings.ordered`, each cause once."""
    gone = superseded([finding.id for finding in found])
    kept = [finding for finding in verdict if finding.id not in gone]
    return tuple(sorted([*kept, *found], key=lambda f: (-f.weight, -f.gain_share)))


def card_steps(steps: Steps) -> CardSteps | None:
    """Wall time of the steps; None where there are none."""
    series = step_series(steps)
    if not len(series):
        return None
    counts = ", ".join(
        f"{phase.name.lower()} {fmt.count(len(np.unique(steps.iteration[steps.of_phase(phase)])))}"
        for phase in steps.phases
    )
    within = "" if steps.chosen_count == steps.count else " in the benchmark phase"
    return CardSteps(
        title=f"Steps {fmt.count(steps.chosen_count)}{within} · {counts}",
        walls_ns=_bars(series),
        caption=steady_text(steps),
    )


def steady_text(steps: Steps) -> str:
    """How long a steady step takes from one start to the next."""
    timing = step_timing(steps)
    if timing is None:
        return "no steady steps: their time is n/a"
    times = timing.wall or timing.duration
    what = "from step to step" if timing.wall is not None else "a step"
    if times.count == 1:
        return f"{fmt.duration(times.avg_ns)} {what} (a single steady step)"
    return (
        f"{fmt.duration(times.avg_ns)} {what} (steady mean), p50 {fmt.duration(times.p50_ns)}, "
        f"p90 {fmt.duration(times.p90_ns)}"
    )


def _bars(series: StepSeries) -> tuple[int, ...]:
    """At most `MOST_BARS`: the longest of each few steps."""
    wall = np.maximum(series.wall_ns, 0)
    each = -(-len(wall) // MOST_BARS)
    starts = np.arange(0, len(wall), each)
    bars: list[int] = np.maximum.reduceat(wall, starts).tolist()
    return tuple(bars)
