"""A comparison for programs, as described in `docs/host.schema.json`. Unknown is null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyzers.change import Change, Status
from ..analyzers.sources import source_function
from ..ingest.model import Layer
from .step_json import mean, operations_json, per_step_json, rounded, us

if TYPE_CHECKING:
    from ..analyzers.pairing import Compared
    from ..analyzers.regression import Comparison, TableChange
    from ..analyzers.step_profile import StepProfile

Json = dict[str, Any]


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
        "gap_share": rounded(conclusion.gap_share),
        "gpu_unchanged": conclusion.gpu_unchanged,
        "regression_pct": rounded(wall.percent),
        "primary_cause": conclusion.outcome.value if conclusion.regressed else None,
        "explained_us": us(comparison.explained_ns),
        "unattributed_us": us(comparison.unattributed_ns),
        "unattributed_gap_us": us(comparison.unattributed_gap_ns),
        "unattributed_step_us": us(comparison.unattributed_step_ns),
        "floor_us": us(comparison.limits.floor_of(wall.baseline)),
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
        "ss_wall_per_step": us(profile.wall_per_step_ns),
        "step_dur_avg": us(profile.duration.mean),
        "inter_step_gap_avg": us(profile.gap.mean),
        "inter_step_gap_p50": us(profile.gap.p50_ns),
        "nvtx_top_ops": _top_operations(profile, sources),
        "gpu_per_step": us(mean(profile.gpu_ns)),
        "kernels_per_step": mean(profile.launched_kernels),
        **{k: v for k, v in per_step_json(profile).items() if k != "wall_us"},
    }


def _top_operations(
    profile: StepProfile, sources: Mapping[str, str] | None, limit: int = 30
) -> list[Json]:
    rows = operations_json(profile.host) or []
    return [
        {
            "name": row["name"],
            "us_per_step": row["us_per_step"],
            "calls_per_step": row["calls_per_step"],
            "source_function": source_function(row["name"], sources),
        }
        for row in rows[:limit]
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
                "baseline_us_per_step": us(old) if table.baseline_row[row] >= 0 else None,
                "target_us_per_step": us(new) if table.target_row[row] >= 0 else None,
                "delta_us_per_step": us(new - old),
                "delta_pct": rounded(table.delta_percent(row)),
                "noise_us": None if np.isinf(noise) else us(noise),
                "baseline_calls_per_step": rounded(float(table.baseline_calls[row])),
                "target_calls_per_step": rounded(float(table.target_calls[row])),
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
        "us": us(change.delta),
        "pct": rounded(change.percent),
        "noise_us": us(change.noise),
        "significant": change.significant,
    }
