"""Steps and comparisons for programs. The documents are described in `docs/host.schema.json`.

Times end in `_us` and are microseconds, per step where the name says so. Unknown is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..analyzers.change import Change, Status
from ..analyzers.sources import source_function
from ..analyzers.step_timing import Spread, StepTiming, step_timing
from ..analyzers.steps import Label, Steps
from ..ingest.model import Layer
from .findings import findings_json
from .json_text import json_text
from .kernel_json import kernel_level_json, straggler_json

if TYPE_CHECKING:
    from ..analyzers.pairing import Compared
    from ..analyzers.regression import Comparison, TableChange
    from ..analyzers.step_profile import StepProfile
    from ..analyzers.step_table import Series, StepTable
    from ..analyzers.step_view import StepView

Json = dict[str, Any]


SCHEMA = "host/1"
"""Of every document about host overhead: raised when a key changes its meaning or goes away."""


def steps_document(path: str, view: StepView) -> str:
    """What `dctx steps --json` writes."""
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "input": path,
        "iterations": iterations_json(view.steps),
        "steps": steps_json(view.steps, view.profile),
        "straggler": straggler_json(view.profile.straggler),
        "kernel_level": None if view.level is None else kernel_level_json(view.level),
        "findings": findings_json(view.findings),
    }
    return json_text(document, indent=2) + "\n"


def iterations_json(steps: Steps) -> Json:
    """How the steps were found."""
    return {
        "method": steps.method.value,
        "reason": steps.reason,
        "validated": steps.validated,
        "validation": steps.validation,
        "count": steps.count,
        "range_count": len(steps),
        "size": None if steps.all_reduce is None else steps.all_reduce.size,
    }


def steps_json(steps: Steps, profile: StepProfile) -> Json:
    """Phases, times and per-step costs of the steady steps. Tables are whole."""
    timing = step_timing(steps)
    return {
        "ranks": [
            {"label": r.label, "pid": r.pid, "rank": r.rank, "devices": list(r.devices)}
            for r in steps.ranks
        ],
        "phases": {
            phase.name.lower(): len(np.unique(steps.iteration[steps.of_phase(phase)]))
            for phase in steps.phases
        },
        "labels": {
            label.name.lower(): int((steps.label == label).sum())
            for label in Label
            if (steps.label == label).any()
        },
        "benchmark": None
        if steps.benchmark is None
        else {
            "start_ns": steps.runs[steps.benchmark].start_ns,
            "end_ns": steps.runs[steps.benchmark].end_ns,
            "iterations": steps.runs[steps.benchmark].iterations,
            "reason": steps.benchmark_reason,
        },
        "segments": [
            {"label": s.label, "start_ns": s.start_ns, "end_ns": s.end_ns} for s in steps.segments
        ],
        "steady_generation": steps.steady_generation,
        "steady_steps": len(steps.steady),
        "pairs": profile.pairs,
        "timing": None if timing is None else _timing(timing),
        "per_step": per_step_json(profile),
        "unattributed_gap_us": _us(profile.unattributed_gap_ns),
        "unattributed_step_us": _us(profile.unattributed_step_ns),
        "operations": _operations(profile.host),
        "apis": _rows(profile.host, api=True),
        "kernels": None if profile.gpu is None else _rows(profile.gpu),
        "host_missing": profile.host_missing,
        "gpu_missing": profile.gpu_missing,
        "open_ranges": profile.open_ranges,
    }


def per_step_json(profile: StepProfile) -> Json:
    """Means over steps, then over ranks."""
    return {
        "wall_us": _us(profile.wall_per_step_ns),
        "launched_kernels": _mean(profile.launched_kernels),
        "launched_kernels_all_ranks": _all_ranks(profile.launched_kernels),
        "launched_gpu_us": _us(_mean(profile.launched_ns)),
        "executed_kernels": _mean(profile.executed_kernels),
        "gpu_us": _us(_mean(profile.gpu_ns)),
        "launches": _mean(profile.launches),
        "launch_us": _us(_mean(profile.launch_ns)),
        "copied_bytes": _mean(profile.copy_bytes),
    }


def comparison_json(
    result: Compared, labels: tuple[str, str], sources: Mapping[str, str] | None = None
) -> Json:
    """The comparison; with `not_comparable` set, all figures are null."""
    comparison, conclusion = result.comparison, result.conclusion
    head: Json = {
        "not_comparable": result.not_comparable,
        "cautions": list(result.cautions),
        "generation": result.generation,
    }
    if comparison is None or conclusion is None:
        sides: list[Json | None] = [
            None if p is None else _side(p, label, None, sources)
            for p, label in zip((result.baseline, result.target), labels, strict=True)
        ]
        empty = dict.fromkeys(
            ("ops", "apis", "kernels", "conclusion", "sentences", "gap_share", "gpu_unchanged",
             "regression_pct", "primary_cause", "explained_us", "unattributed_us",
             "unattributed_gap_us", "unattributed_step_us", "floor_us")
        )  # fmt: skip
        return {**head, "baseline": sides[0], "target": sides[1], "delta": None, **empty}
    wall = comparison.wall
    return {
        **head,
        "baseline": _side(comparison.baseline, labels[0], comparison, sources),
        "target": _side(comparison.target, labels[1], comparison, sources),
        "delta": {
            "wall_per_step": _change(wall),
            "step_duration": _change(comparison.duration),
            "inter_step_gap": _change(comparison.gap),
        },
        "ops": _changes(comparison.operations, sources or {}),
        "apis": _changes(comparison.calls, None),
        "kernels": _changes(comparison.kernels, None),
        "conclusion": conclusion.outcome.value,
        "sentences": list(conclusion.sentences),
        "gap_share": _rounded(conclusion.gap_share),
        "gpu_unchanged": conclusion.gpu_unchanged,
        "regression_pct": _rounded(wall.percent),
        "primary_cause": conclusion.outcome.value if conclusion.regressed else None,
        "explained_us": _us(comparison.explained_ns),
        "unattributed_us": _us(comparison.unattributed_ns),
        "unattributed_gap_us": _us(comparison.unattributed_gap_ns),
        "unattributed_step_us": _us(comparison.unattributed_step_ns),
        "floor_us": _us(comparison.limits.floor_of(wall.baseline)),
    }


def _side(
    profile: StepProfile,
    label: str,
    comparison: Comparison | None,
    sources: Mapping[str, str] | None,
) -> Json:
    return {
        "label": label,
        "steps": profile.pairs,
        "ranks": len(profile.ranks),
        "ss_wall_per_step": _us(profile.wall_per_step_ns),
        "step_dur_avg": _us(profile.duration.mean),
        "inter_step_gap_avg": _us(profile.gap.mean),
        "inter_step_gap_p50": _us(profile.gap.p50_ns),
        "nvtx_top_ops": _top_operations(profile, sources),
        "gpu_per_step": _us(_mean(profile.gpu_ns)),
        "kernels_per_step": _mean(profile.launched_kernels),
        **{k: v for k, v in per_step_json(profile).items() if k != "wall_us"},
    }


def _top_operations(
    profile: StepProfile, sources: Mapping[str, str] | None, limit: int = 30
) -> list[Json]:
    rows = _operations(profile.host) or []
    return [
        {
            "name": row["name"],
            "us_per_step": row["us_per_step"],
            "calls_per_step": row["calls_per_step"],
            "source_function": source_function(row["name"], sources),
        }
        for row in rows[:limit]
    ]


def _operations(table: StepTable | None) -> list[Json] | None:
    return None if table is None else _rows(table, api=False)


def _rows(table: StepTable | None, *, api: bool | None = None) -> list[Json] | None:
    """Rows of a table, most time first. `api`: only CUDA calls, or only what is none."""
    if table is None:
        return None
    total, own, calls = table.total.mean, table.self_per_step_ns, table.calls_per_step
    inside = table.in_step_share
    return [
        {
            "name": table.names[row],
            "layer": Layer(int(table.layer[row])).name.lower(),
            "step_range": bool(table.is_step[row]),
            "place": table.place(row),
            "calls_per_step": _rounded(float(calls[row])),
            "us_per_step": _us(float(total[row])),
            "self_us_per_step": _us(float(own[row])),
            "in_step_share": _rounded(float(inside[row])),
            "node": int(table.node[row]),
        }
        for row in np.argsort(-total, kind="stable").tolist()
        if api is None or (table.layer[row] == Layer.API) == api
    ]


def _changes(table: TableChange | None, sources: Mapping[str, str] | None) -> list[Json] | None:
    """Rows that changed, or that lie above the floor on a side."""
    if table is None:
        return None
    rows: list[Json] = []
    for row in range(len(table)):
        old, new = float(table.baseline_ns[row]), float(table.target_ns[row])
        if table.status[row] is Status.UNCHANGED and max(old, new) < table.floor_ns:
            continue
        noise = float(table.noise_ns[row])
        node, of_target = table.node(row)
        rows.append(
            {
                "name": table.names[row],
                "layer": Layer(int(table.layer[row])).name.lower(),
                "status": table.status[row].value,
                "mark": table.mark(row) or None,
                "place": table.place(row),
                "baseline_us_per_step": _us(old) if table.baseline_row[row] >= 0 else None,
                "target_us_per_step": _us(new) if table.target_row[row] >= 0 else None,
                "delta_us_per_step": _us(new - old),
                "delta_pct": _rounded(table.delta_percent(row)),
                "noise_us": None if np.isinf(noise) else _us(noise),
                "baseline_calls_per_step": _rounded(float(table.baseline_calls[row])),
                "target_calls_per_step": _rounded(float(table.target_calls[row])),
                "source_function": None
                if sources is None
                else source_function(table.names[row], sources),
                "node": node,
                "node_of": "target" if of_target else "baseline",
            }
        )
    return rows


def _change(change: Change) -> Json:
    return {
        "us": _us(change.delta),
        "pct": _rounded(change.percent),
        "noise_us": _us(change.noise),
        "significant": change.significant,
    }


def _timing(timing: StepTiming) -> Json:
    return {
        "duration": _spread(timing.duration),
        "gap": _spread(timing.gap),
        "wall": _spread(timing.wall),
        "negative_gaps": sum(rank.negative_gaps for rank in timing.ranks),
        "slowest": timing.slowest.label,
        "ranks": [
            {
                "label": rank.rank.label,
                "duration": _spread(rank.duration),
                "gap": _spread(rank.gap),
                "wall": _spread(rank.wall),
                "negative_gaps": rank.negative_gaps,
            }
            for rank in timing.ranks
        ],
    }


def _spread(spread: Spread | None) -> Json | None:
    if spread is None:
        return None
    return {
        "avg_us": _us(spread.avg_ns),
        "min_us": _us(spread.min_ns),
        "max_us": _us(spread.max_ns),
        "p50_us": _us(spread.p50_ns),
        "p90_us": _us(spread.p90_ns),
        "count": spread.count,
    }


def _mean(series: Series | None) -> float | None:
    return None if series is None else _rounded(series.mean)


def _all_ranks(series: Series | None) -> float | None:
    if series is None or series.mean is None:
        return None
    return _rounded(series.mean * len(series.values))


def _us(ns: float | None) -> float | None:
    return None if ns is None else round(ns / 1000, 4)


def _rounded(value: float | None) -> float | None:
    return None if value is None or value != value else round(value, 4)
