"""Steps and comparisons for programs. The documents are described in `docs/host.schema.json`.

Times end in `_us` and are microseconds, per step where the name says so. Unknown is null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..analyzers.step_timing import Spread, StepTiming, step_timing
from ..analyzers.steps import Label, Steps
from ..ingest.model import Layer
from .findings import findings_json
from .json_text import json_text
from .kernel_json import kernel_level_json, straggler_json
from .step_use import use_json

if TYPE_CHECKING:
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
        "unattributed_gap_us": us(profile.unattributed_gap_ns),
        "unattributed_step_us": us(profile.unattributed_step_ns),
        "use": use_json(profile.use),
        "operations": operations_json(profile.host),
        "apis": _rows(profile.host, api=True),
        "kernels": None if profile.gpu is None else _rows(profile.gpu),
        "host_missing": profile.host_missing,
        "gpu_missing": profile.gpu_missing,
        "open_ranges": profile.open_ranges,
    }


def per_step_json(profile: StepProfile) -> Json:
    """Means over steps, then over ranks."""
    return {
        "wall_us": us(profile.wall_per_step_ns),
        "launched_kernels": mean(profile.launched_kernels),
        "launched_kernels_all_ranks": _all_ranks(profile.launched_kernels),
        "launched_gpu_us": us(mean(profile.launched_ns)),
        "executed_kernels": mean(profile.executed_kernels),
        "gpu_us": us(mean(profile.gpu_ns)),
        "launches": mean(profile.launches),
        "launch_us": us(mean(profile.launch_ns)),
        "copied_bytes": mean(profile.copy_bytes),
    }


def operations_json(table: StepTable | None) -> list[Json] | None:
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
            "calls_per_step": rounded(float(calls[row])),
            "us_per_step": us(float(total[row])),
            "self_us_per_step": us(float(own[row])),
            "in_step_share": rounded(float(inside[row])),
            "node": int(table.node[row]),
        }
        for row in np.argsort(-total, kind="stable").tolist()
        if api is None or (table.layer[row] == Layer.API) == api
    ]


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
        "avg_us": us(spread.avg_ns),
        "min_us": us(spread.min_ns),
        "max_us": us(spread.max_ns),
        "p50_us": us(spread.p50_ns),
        "p90_us": us(spread.p90_ns),
        "count": spread.count,
    }


def mean(series: Series | None) -> float | None:
    return None if series is None else rounded(series.mean)


def _all_ranks(series: Series | None) -> float | None:
    if series is None or series.mean is None:
        return None
    return rounded(series.mean * len(series.values))


def us(ns: float | None) -> float | None:
    return None if ns is None else round(ns / 1000, 4)


def rounded(value: float | None) -> float | None:
    return None if value is None or value != value else round(value, 4)
