"""What ran beside the work of operators, as a key of rows and as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..analyzers.kernel_overlap import Pairs, RowOverlap, beside, overlapping, row_overlap
from ..analyzers.op_groups import rates
from ..native import intern_rows
from .kernel_sheets import kernel_details
from .perf_columns import FIVE, blank
from .sheets import Column
from .splits import Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.op_groups import Groups
    from .sheet_context import Context

    Below = tuple[NDArray[np.int32], NDArray[np.int64]]

NAMES: Final = "overlapping_kernel_names"
_DETAILS: Final = (
    "overlapping_kernels_details__summarize_kernel_stats",
    "trunc_overlapping_kernels_details",
)


def _pairs(context: Context) -> Pairs:
    device = context.device
    return overlapping(device.source.work, device.launcher[device.counted])


def row_overlaps(context: Context, below: Below, time_ns: NDArray[np.int64]) -> RowOverlap:
    """By row of a table, with the pieces of its work and the union of them."""
    return row_overlap(context.device.source.work, _pairs(context), below, time_ns)


def overlap_split(context: Context, found: RowOverlap | None) -> list[Split]:
    """Rows apart by the names of what ran beside them; none where that is not asked for."""
    if found is None:
        return []
    texts = context.report.texts

    def names(at: int) -> str:
        return repr(sorted(texts[i] for i in found.name_sets[at]))

    return [Split(NAMES, found.names, names)]


def overlap_columns(
    context: Context,
    groups: Groups,
    found: RowOverlap | None,
    below: Below,
    member: NDArray[np.int64],
) -> list[Column]:
    """What ran beside the work, and for how much of it. `below`: pieces by their place among the
    rows `member` of the table, which the groups are over."""
    if found is None:
        return []
    pairs = _pairs(context)
    row, pair = beside(pairs, below)
    other = pairs.other[pair]
    _, once = intern_rows([row, other.astype(np.int64)])
    whole = 100 if "D39" in context.options.rules.compat else 1
    percent = rates(groups, found.percent[member] / whole)
    return [
        *kernel_details(context, groups, (row[once], other[once]), _DETAILS),
        *(
            Column(f"overlap_pct_{word}", blank(getattr(percent, field)), "%")
            for word, field in FIVE
        ),
    ]
