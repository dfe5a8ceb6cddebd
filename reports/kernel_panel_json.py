"""The panel of one kernel for programs. Times end in `_ns`; unknown is null, with the reason
beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..analyzers.kernel_samples import of_ncu
from .json_text import json_text

if TYPE_CHECKING:
    from ..analyzers.kernel_panel import KernelPanel, ShapeUse
    from ..analyzers.kernel_roofline import RooflinePoint
    from ..analyzers.kernel_samples import KernelSamples
    from ..ingest.ncu import NcuKernel

SCHEMA = "kernel/2"
"""Raised when a key changes its meaning or goes away."""

Json = dict[str, Any]


def kernel_panel_json(
    path: str,
    panel: KernelPanel,
    measured: Sequence[tuple[NcuKernel, bool | None]] = (),
    roofline: RooflinePoint | str = "",
) -> str:
    """What `dctx kernel --json` writes."""
    op, outliers, histogram = panel.op, panel.outliers, panel.histogram
    document: Json = {
        "schema": SCHEMA,
        "version": __version__,
        "input": path,
        "kernel": {
            "name": op.name,
            "count": op.count,
            "sum_ns": op.sum_ns,
            "min_ns": op.min_ns,
            "max_ns": op.max_ns,
            "share": op.share,
        },
        "shapes": [_shape(use) for use in panel.shapes],
        "durations": None
        if histogram is None
        else {
            "edges_ns": histogram.edges_ns,
            "counts": histogram.counts,
            "p50_ns": histogram.p50_ns,
            "p99_ns": histogram.p99_ns,
        },
        "outliers": None
        if outliers is None
        else {
            "launches": outliers.launches,
            "median_ns": outliers.median_ns,
            "above_ns": outliers.above_ns,
            "count": outliers.count,
            "excess_ns": outliers.excess_ns,
            "slowest": [
                {
                    "start_ns": launch.start_ns,
                    "dur_ns": launch.dur_ns,
                    "device": launch.device,
                    "stream": launch.stream,
                    "node": launch.node,
                }
                for launch in outliers.slowest
            ],
        },
        "callers": [
            {
                "node": caller.node,
                "path": caller.names,
                "gpu_ns": caller.gpu_ns,
                "count": caller.count,
                "share": caller.share,
            }
            for caller in panel.callers
        ],
        "counters": [
            {
                "name": counter.name,
                "launches": counter.launches,
                "mean": counter.mean,
                "min": counter.least,
                "max": counter.most,
            }
            for counter in panel.counters
        ],
        "roofline": None if isinstance(roofline, str) else _roofline(roofline),
        "no_roofline": roofline if isinstance(roofline, str) else None,
        "samples": None if panel.samples is None else _samples(panel.samples),
        "collect": panel.collect or None,
        "measured": [
            {
                "name": kernel.name,
                "grid": kernel.grid,
                "block": kernel.block,
                "shape_in_trace": same_shape,
                "metrics": kernel.metrics,
                "units": kernel.units,
                "samples": None if (found := of_ncu(kernel)) is None else _samples(found),
            }
            for kernel, same_shape in measured
        ],
    }
    return json_text(document, indent=1) + "\n"


def _roofline(found: RooflinePoint) -> Json:
    return {
        "share": found.share,
        "bound": found.bound,
        "flops": found.flops,
        "bytes": found.bytes,
        "sum_ns": found.ns,
        "least_ns": found.least_ns,
        "launches": found.launches,
        "operators": found.operators,
        "architecture": found.architecture,
    }


def _samples(samples: KernelSamples) -> Json:
    return {
        "samples": samples.total,
        "samples_by_reason": samples.stalls,
        "samples_without_reason": samples.unexplained,
        "not_issued": samples.not_issued,
        "spread": samples.spread,
        "places": [
            {
                "at": place.at or None,
                "text": place.text or None,
                "file": place.file,
                "line": place.line,
                "samples_by_reason": place.stalls,
                "samples_without_reason": place.unexplained,
            }
            for place in samples.places
        ],
    }


def _shape(use: ShapeUse) -> Json:
    shape, occupancy, waves = use.shape, use.occupancy, use.waves
    return {
        "device": shape.device,
        "grid": shape.grid,
        "block": shape.block,
        "registers_per_thread": shape.registers,
        "shared_bytes": shape.shared_bytes,
        "count": shape.count,
        "sum_ns": shape.sum_ns,
        "shape_of_another_launch": shape.unseen,
        "recorded_occupancy": shape.recorded_occupancy,
        "occupancy": None
        if occupancy is None
        else {
            "share": occupancy.share,
            "blocks": occupancy.blocks,
            "warps": occupancy.warps,
            "most_warps": occupancy.most_warps,
            "limited_by": occupancy.limiters,
            "blocks_by_warps": occupancy.by_warps,
            "blocks_by_slots": occupancy.by_blocks,
            "blocks_by_registers": occupancy.by_registers,
            "blocks_by_shared_memory": occupancy.by_shared,
        },
        "no_occupancy": use.no_occupancy or None,
        "waves": None
        if waves is None
        else {
            "waves": waves.waves,
            "slots": waves.slots,
            "last_blocks": waves.last_blocks,
            "idle_share": waves.idle_share,
        },
        "no_waves": use.no_waves or None,
    }
