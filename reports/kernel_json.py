"""Pauses of the GPUs, use of CUDA graphs and repeating kernels for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analyzers.kernel_level import part_of, pattern_parts
from .findings import rounded

if TYPE_CHECKING:
    from ..analyzers.gap_table import GapTable
    from ..analyzers.gaps import Gap
    from ..analyzers.kernel_level import KernelLevel
    from ..analyzers.kernel_pattern import KernelPattern
    from ..analyzers.straggler import Straggler

Json = dict[str, Any]


def kernel_level_json(level: KernelLevel) -> Json:
    """As described in `docs/host.schema.json`. Tables are whole."""
    pauses, coverage = level.pauses, level.coverage
    window = pauses.window
    return {
        "window": {
            "kind": window.kind,
            "start_ns": window.start_ns,
            "end_ns": window.end_ns,
            "reason": window.reason,
        },
        "pauses": {
            "idle_us": {str(device): ns / 1000 for device, ns in pauses.idle_ns.items()},
            "devices": [_pauses(found, pauses.idle_ns[found.device]) for found in pauses.devices],
            "streams": [_pauses(found, pauses.idle_ns[found.device]) for found in pauses.streams],
            "longest": [_gap(level, gap) for gap in pauses.largest],
        },
        "graphs": {
            "basis": coverage.basis,
            "coverage": rounded(coverage.coverage),
            "graph_kernels": coverage.graph_kernels,
            "kernels": coverage.kernels,
            "replays": coverage.replays,
            "eager": [
                {
                    "name": use.kernel.name,
                    "capturable": use.capturable,
                    "launches": use.kernel.count,
                    "gpu_us": use.kernel.gpu_ns / 1000,
                    "node": use.kernel.node,
                    "way": _way(level, use.kernel.node),
                }
                for use in coverage.eager
            ],
        },
        "pattern": None if level.pattern is None else _pattern(level, level.pattern),
    }


def straggler_json(found: Straggler | None) -> Json | None:
    """Who comes last to the collectives; `matters`: it is a finding."""
    if found is None:
        return None
    return {
        "device": found.device,
        "last_share": rounded(found.last_share),
        "late_us": found.late_ns / 1000,
        "collectives": found.collectives,
        "matters": found.matters,
    }


def _pauses(found: GapTable, idle_ns: int) -> Json:
    return {
        "device": found.device,
        "lane": found.lane,
        "buckets": [
            {
                "at_least_us": bucket.at_least_ns / 1000,
                "below_us": None if bucket.below_ns is None else bucket.below_ns / 1000,
                "count": bucket.count,
                "total_us": bucket.total_ns / 1000,
                # Streams of one device pause at the same time: only the device's add up to idle.
                "idle_share": rounded(bucket.total_ns / idle_ns)
                if found.lane is None and idle_ns
                else None,
                "typical_cause": bucket.typical_cause,
            }
            for bucket in found.buckets
        ],
    }


def _gap(level: KernelLevel, gap: Gap) -> Json:
    return {
        "device": gap.device,
        "start_ns": gap.start_ns,
        "end_ns": gap.end_ns,
        "before": None if gap.before is None else gap.before.name,
        "after": None if gap.after is None else gap.after.name,
        "way": [] if gap.after is None else _way(level, gap.after.launch_node),
        "lane": gap.lane,
        "causes": [
            {"class": kind.name.lower(), "text": text, "us": ns / 1000}
            for kind, text, ns in gap.causes
        ],
    }


def _pattern(level: KernelLevel, pattern: KernelPattern) -> Json:
    return {
        "device": pattern.device,
        "step": pattern.step_number if pattern.step_number >= 0 else None,
        "start_ns": pattern.start_ns,
        "end_ns": pattern.end_ns,
        "repeats": pattern.repeats,
        "coverage": rounded(pattern.coverage),
        "pause_us": pattern.gap_ns / 1000,
        "positions": [
            {
                "name": position.name,
                "part": part_of(level, position),
                "kernel_us": position.kernel_ns / 1000,
                "pause_us": position.gap_ns / 1000,
                "node": position.node,
            }
            for position in pattern.positions
        ],
        "parts": [
            {
                "part": part.part,
                "positions": part.positions,
                "kernel_us": part.kernel_ns / 1000,
                "pause_us": part.gap_ns / 1000,
            }
            for part in pattern_parts(level, pattern)
        ],
    }


def _way(level: KernelLevel, node: int | None) -> list[str]:
    return [] if node is None else list(level.way.get(node, ()))
