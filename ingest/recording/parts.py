"""What contexts of a recording cost, part by part, and all of it together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..arrays import I16, I32, I64, NULL64
from ..model import GpuKind
from ..timeline.sums import Summed
from ..tree_only import Costs, OtherValues

DURATIONS: Final = {
    "host_dur_sum_ns": "sum_ns",
    "host_dur_min_ns": "min_ns",
    "host_dur_max_ns": "max_ns",
}
"""Columns of path_metric by the metric of a recording."""
_GPU: Final = ("gpu_ops", "kernels", "gpu_ns", "gpu_min_ns", "gpu_max_ns")
_COLUMNS: Final = ("calls", "host_ns", "bytes", *DURATIONS, *_GPU)
F64 = NDArray[np.float64]
Further = tuple[I32, int, F64]
"""Nodes, string of a metric without a column, values."""


@dataclass(slots=True)
class Part:
    """Contexts of one origin: their nodes in the tree, and their values."""

    node: I32
    device: I16
    columns: dict[str, I64]
    """Of path_metric; what is missing was not measured."""
    host_squares: F64
    gpu_squares: F64
    name: I32
    """String of the GPU work; -1 where it is none."""
    kind: NDArray[np.uint8]
    """GpuKind of the work."""
    further: list[Further]


def host_part(node: I32, columns: dict[str, I64], squares: F64, further: list[Further]) -> Part:
    """Contexts of a thread."""
    rows = len(node)
    none = np.full(rows, -1, np.int32)
    device, kind = np.full(rows, -1, np.int16), np.zeros(rows, np.uint8)
    return Part(node, device, columns, squares, np.zeros(rows), none, kind, further)


def window_part(sums: Summed) -> Part:
    """Contexts of a window under XLA's profiler. Of its GPU work the sums are known, and so the
    duration of what ran once."""
    columns = dict(sums.columns)
    single = columns["gpu_ops"] == 1
    columns["gpu_min_ns"] = columns["gpu_max_ns"] = np.where(single, columns["gpu_ns"], NULL64)
    squares = np.where(single, columns["gpu_ns"].astype(np.float64) ** 2, np.nan)
    kind = np.full(len(sums.node), GpuKind.KERNEL, np.uint8)
    return Part(
        sums.node, sums.device, columns, sums.dur_sumsq, squares, sums.kernel_name, kind, []
    )


def costs_of(parts: Sequence[Part]) -> Costs:
    """All parts as one."""
    return Costs(
        np.concatenate([part.node for part in parts]),
        np.concatenate([part.device for part in parts]),
        {name: np.concatenate([_column(part, name) for part in parts]) for name in _COLUMNS},
        {
            "host_dur_sumsq": np.concatenate([part.host_squares for part in parts]),
            "gpu_sumsq": np.concatenate([part.gpu_squares for part in parts]),
        },
    )


def _column(part: Part, name: str) -> I64:
    found = part.columns.get(name)
    return np.full(len(part.node), NULL64) if found is None else found


def others_of(parts: Sequence[Part]) -> OtherValues | None:
    """The metrics without a column of their own; None when there are none."""
    further = [row for part in parts for row in part.further]
    if not further:
        return None
    rows = [len(nodes) for nodes, _, _ in further]
    return OtherValues(
        np.concatenate([nodes for nodes, _, _ in further]),
        np.full(sum(rows), -1, np.int16),
        np.repeat(np.array([name for _, name, _ in further], np.int32), rows),
        np.concatenate([values for _, _, values in further]),
        np.zeros(sum(rows), np.bool_),
    )
