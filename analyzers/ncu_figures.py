"""Which profiled kernels are that of a panel, and the figures that both pages of an export have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .collect_command import function_name

if TYPE_CHECKING:
    from ..ingest.ncu import NcuKernel
    from .kernel_panel import KernelPanel


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value: of the raw page times `scale`, else of the details page."""

    label: str
    raw: str
    details: str
    unit: str
    scale: float = 1.0


FIGURES: Final = (
    Figure("issue slots used", "smsp__issue_active.avg.per_cycle_active",
           "Scheduler Statistics: One or More Eligible", "%", 100),
    Figure("cycles between instructions of a warp",
           "smsp__average_warp_latency_per_inst_issued.ratio",
           "Warp State Statistics: Warp Cycles Per Issued Instruction", "cycles"),
    Figure("achieved occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active",
           "Occupancy: Achieved Occupancy", "%"),
    Figure("theoretical occupancy", "sm__maximum_warps_per_active_cycle_pct",
           "Occupancy: Theoretical Occupancy", "%"),
    Figure("waves", "launch__waves_per_multiprocessor", "Launch Statistics: Waves Per SM", ""),
    Figure("compute throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
           "GPU Speed Of Light Throughput: Compute (SM) Throughput", "%"),
    Figure("memory throughput",
           "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
           "GPU Speed Of Light Throughput: Memory Throughput", "%"),
    Figure("L2 hit rate", "lts__t_sector_hit_rate.pct",
           "Memory Workload Analysis: L2 Hit Rate", "%"),
)  # fmt: skip


def figures(kernel: NcuKernel) -> list[tuple[Figure, float]]:
    """Those that the export tells, as Nsight Compute gives them."""
    found: list[tuple[Figure, float]] = []
    for figure in FIGURES:
        if figure.raw in kernel.metrics:
            found.append((figure, kernel.metrics[figure.raw] * figure.scale))
        elif figure.details in kernel.metrics:
            found.append((figure, kernel.metrics[figure.details]))
    return found


def of_panel(panel: KernelPanel, kernels: list[NcuKernel]) -> list[tuple[NcuKernel, bool | None]]:
    """Profiled launches of the panel's kernel, and whether the trace has their grid and block;
    None: the export does not tell them. Those with a shape of the trace first."""
    wanted = function_name(panel.op.name)
    shapes = {(use.shape.grid, use.shape.block) for use in panel.shapes}
    found = [
        (kernel, None if kernel.grid is None else (kernel.grid, kernel.block) in shapes)
        for kernel in kernels
        if function_name(kernel.name) == wanted
    ]
    return sorted(found, key=lambda one: one[1] is False)
