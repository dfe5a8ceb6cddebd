"""The verdict on host overhead for programs: the document that `docs/host.schema.json` describes.

Its top level is compatible with the published guide's integration document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..analyzers.handoff import (
    bottleneck_phase,
    first_target,
    host_prep_confirmed,
    prep_confirmed_in,
    regressed,
)
from ..analyzers.verdict import Answer
from .comparison_json import comparison_json
from .findings import findings_json
from .headline import headline
from .json_text import json_text
from .rule_gates import figure_json, rule_json
from .side_by_side import side_by_side_json
from .step_json import SCHEMA, iterations_json, steps_json

if TYPE_CHECKING:
    from ..analyzers.compare_figures import Figure, RuleGate
    from ..analyzers.compare_parts import Part
    from ..analyzers.findings import Finding
    from ..analyzers.gates import Gate
    from ..analyzers.host_metrics import Measured
    from ..analyzers.host_overhead import HostOverhead, PhaseResult
    from ..analyzers.idle_blame import IdleBlame
    from ..analyzers.judging import Judged
    from ..analyzers.pairing import Compared
    from ..analyzers.step_profile import StepProfile
    from ..analyzers.verdict import Judgement, Metrics

Json = dict[str, Any]

AGGREGATE = (
    "gpu_idle_ratio",
    "launch_overhead_ratio",
    "host_prep_exposed_ratio",
    "host_prep_perf_impact",
    "host_prep_idle_attribution",
    "gpu_utilization",
    "nccl_ratio",
)


@dataclass(frozen=True, slots=True)
class HostReport:
    """All that a document about one trace, or about a target and its baseline, is made from."""

    inputs: tuple[str, ...]
    """The trace; with a comparison baseline and target."""
    judged: Judged
    """Of the only trace, or of the target."""
    gates: Sequence[Gate] = ()
    compared: Compared | None = None
    labels: tuple[str, str] = ("baseline", "target")
    rules: Sequence[RuleGate] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict[str, "Figure"])
    """Of the comparison, by name, where they were worked out."""
    parts: Mapping[str, Part] = field(default_factory=dict[str, "Part"])
    """The parts that were asked for, side by side, by title."""

    @property
    def result(self) -> HostOverhead:
        return self.judged.result

    @property
    def blame(self) -> IdleBlame | None:
        return self.judged.blame

    @property
    def profile(self) -> StepProfile:
        return self.judged.profile

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Those of the comparison come first."""
        own = () if self.compared is None else self.compared.findings
        return (*own, *self.judged.findings)


def host_document(report: HostReport) -> str:
    """Indented JSON with a final newline."""
    return json_text(host_json(report), indent=2) + "\n"


def host_json(report: HostReport) -> Json:
    """The document as values; keys come in a fixed order."""
    result = report.result
    judged = result.overall.aggregate
    document: Json = {
        "verdict": result.answer.value,
        "aggregate_metrics": _metrics(result.measured.metrics),
        "crossed_count": judged.crossed_count,
        "applicable_count": judged.applicable_count,
        "host_prep_confirmed": judged.host_prep_confirmed,
        "nccl_caveat": judged.nccl_caveat,
        "crossed_details": dict(judged.crossed),
        "phases": {
            name: _phase(phase, result.overall.phases[name])
            for name, phase in result.phases.items()
        },
    }
    if result.answer is Answer.YES or report.compared is not None:
        document["optimization_handoff"] = _handoff(report)
    document["dctx"] = _own(report)
    if report.figures:
        document["dctx"]["figures"] = {
            name: figure_json(figure) for name, figure in report.figures.items()
        }
    if report.rules:
        document["dctx"]["rules"] = [rule_json(gate) for gate in report.rules]
    if report.parts:
        document["dctx"]["side_by_side"] = {
            title.lower().replace(" ", "_"): side_by_side_json(part)
            for title, part in report.parts.items()
        }
    return document


def _handoff(report: HostReport) -> Json:
    result, profile = report.result, report.profile
    comparison = None if report.compared is None else report.compared.comparison
    target = first_target(report.judged, comparison)
    found: Json = {
        "verdict": result.answer.value,
        "primary_bottleneck_phase": bottleneck_phase(result),
        "host_prep_confirmed": host_prep_confirmed(result),
        "host_prep_confirmed_in": list(prep_confirmed_in(result)),
    }
    if report.compared is not None:
        worse = [] if comparison is None else regressed(comparison, dict(result.config.sources))
        found["top_regressing_ops"] = [
            {
                "nvtx_name": op.name,
                "delta_us_per_step": _us(op.delta_ns),
                "source_function": op.source,
            }
            for op in worse
        ]
    launched = profile.launched_kernels
    kernels = None if launched is None else launched.mean
    return {
        **found,
        "recommended_first_target": None if target is None else target.source or target.name,
        "wall_time_per_step_us": _us(profile.wall_per_step_ns),
        "inter_step_gap_p50_us": _us(profile.gap.p50_ns),
        "kernels_per_step": None if kernels is None else round(kernels, 4),
    }


def _own(report: HostReport) -> Json:
    result = report.result
    window = result.window
    comparison = None
    if report.compared is not None:
        comparison = comparison_json(report.compared, report.labels, result.config.sources)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "inputs": list(report.inputs),
        "window": None
        if window is None
        else {
            "kind": window.kind,
            "start_ns": window.start_ns,
            "end_ns": window.end_ns,
            "reason": window.reason,
        },
        "thresholds": {
            "aggregate": asdict(result.config.thresholds),
            **{name: asdict(result.config.of_phase(name)) for name in result.phases},
        },
        "metrics_missing": dict(result.measured.metrics.missing),
        "headline": headline(result),
        "elevated_by": list(result.overall.elevated_by),
        "host_prep_confirmed_in": list(prep_confirmed_in(result)),
        "explained_by_copies": result.overall.aggregate.explained_by_copies,
        "devices": _devices(result.measured),
        "comm_ratio": _ratio(result.measured.comm_ratio),
        "launch": _launch(result.measured),
        "copies": {
            "only_ns": sum(device.copy_only_ns for device in result.measured.taking_part),
            "idle_ratio_with_copies_busy": _ratio(result.measured.metrics.idle_without_copies),
        },
        "idle_blame": _blame(report.blame),
        "reliability": {
            "level": result.reliability.level.name.lower(),
            "reasons": [
                {"id": c.code, "level": c.trust.name.lower(), "text": c.text}
                for c in result.reliability.conditions
            ],
        },
        "iterations": iterations_json(result.steps),
        "steps": steps_json(result.steps, report.profile),
        "comparison": comparison,
        "findings": findings_json(report.findings),
        "gates": [
            {
                "name": g.name.value,
                "failed": g.failed,
                "judged": g.judged,
                "value": g.value,
                "limit": g.limit,
            }
            for g in report.gates
        ],
        "guide_verdict": {
            "verdict": result.guide.answer.value,
            "crossed_count": result.guide.aggregate.crossed_count,
            "applicable_count": result.guide.aggregate.applicable_count,
        },
    }


def _phase(phase: PhaseResult, judged: Judgement) -> Json:
    found: Json = {
        "iteration_count": phase.iterations,
        "range_count": phase.ranges,
        "verdict": judged.answer.value,
        "crossed_count": judged.crossed_count,
        "applicable_count": judged.applicable_count,
        "host_prep_confirmed": judged.host_prep_confirmed,
        "crossed_details": dict(judged.crossed),
        "metrics": _metrics(phase.measured.metrics),
        "metrics_missing": dict(phase.measured.metrics.missing),
    }
    if phase.name == "generation":
        found["cuda_graphs_detected"] = phase.graphs
    return found


def _metrics(metrics: Metrics) -> Json:
    return {name: _ratio(metrics.value(name)) for name in AGGREGATE}


def _devices(measured: Measured) -> list[Json]:
    return [
        {
            "device": device.device,
            "label": device.label,
            "takes_part": device.takes_part,
            "window_ns": device.window_ns,
            "busy_ns": device.busy_ns,
            "idle_ns": device.idle_ns,
            "copy_only_ns": device.copy_only_ns,
            "gpu_idle_ratio": _ratio(device.idle_ratio),
            "nccl_ratio": _ratio(device.nccl_ratio),
            "comm_ratio": _ratio(device.comm_ratio),
            "prep_ns": device.prep_ns,
            "prep_exposed_ns": device.prep_exposed_ns,
        }
        for device in measured.devices
    ]


def _launch(measured: Measured) -> Json | None:
    launch = measured.launch
    if launch is None:
        return None
    return {
        "gross": _ratio(launch.gross_ratio),
        "blocked": _ratio(launch.blocked_share),
        "blocked_by": launch.blocked_by,
        "net": _ratio(launch.net_ratio),
        "sum": _ratio(launch.sum_ratio),
        "threads": [
            {
                "lane": thread.lane,
                "name": thread.name,
                "process": thread.process,
                "calls": thread.calls,
                "gross_ns": thread.gross_ns,
                "blocked_ns": thread.blocked_ns,
                "net_ns": thread.net_ns,
                "window_ns": thread.window_ns,
            }
            for thread in launch.threads
        ],
    }


def _blame(blame: IdleBlame | None) -> list[Json] | None:
    """All causes; they sum to the idle time of all devices exactly."""
    if blame is None:
        return None
    return [
        {
            "device": cause.device,
            "class": cause.idle_class.name.lower(),
            "name": cause.text or None,
            "ns": cause.ns,
        }
        for cause in blame.causes
    ]


def _ratio(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _us(ns: float | None) -> float | None:
    return None if ns is None else round(ns / 1000, 4)
