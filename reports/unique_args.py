"""The sheet of operators by name and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..analyzers.kernel_slots import pieces
from ..analyzers.op_groups import group_rows, spread
from .kernel_sheets import kernel_details
from .op_columns import argument_columns, ids, label, one_name, shares
from .overlap_columns import NAMES, overlap_columns, overlap_split, row_overlaps
from .sheet_context import ARGUMENTS, Context, as_us
from .sheets import Column
from .splits import KERNELS, MODULE, RECOMPUTE, split_columns, splits
from .stack_columns import call_stack_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.op_groups import Groups

_NEVER: Final = np.iinfo(np.int64).max


def unique_args(context: Context) -> list[Column]:
    """Operators by name and arguments."""
    ops = context.device.ops
    keys = [ops.name, ops.category]
    keys += [context.arguments(ops.host, field) for _, field in ARGUMENTS]
    lane = context.lane(ops.host)
    if context.options.rules.by_thread:
        keys.append(lane)
    apart = splits(context, ops.host, ops.count)
    below = pieces(ops.row)
    beside = row_overlaps(context, below, ops.direct_ns) if context.overlap else None
    apart += overlap_split(context, beside)
    groups = group_rows([*keys, *(s.ids for s in apart)], ops.direct_ns)
    first = groups.first
    direct, subtree = spread(groups, ops.direct_ns), spread(groups, ops.subtree_ns)
    statistics = [
        Column(f"total_{scope}_kernel_time_{word}", as_us(getattr(values, field)), "µs")
        for word, field in (
            ("mean", "mean"),
            ("median", "median"),
            ("std", "std"),
            ("min", "low"),
            ("max", "high"),
            ("sum", "total"),
        )
        for scope, values in (("direct", direct), ("subtree", subtree))
    ]
    return [
        Column("name", [ops.names[i] for i in ops.name[first].tolist()]),
        *split_columns(apart, first, NAMES),
        Column("op category", [ops.categories[i] for i in ops.category[first].tolist()]),
        *split_columns(apart, first, MODULE),
        Column("process_name", one_name(groups, lane, context.process)),
        *label(context, len(first)),
        Column("thread_name", one_name(groups, lane, context.thread)),
        *argument_columns(context, ops.host[first]),
        *split_columns(apart, first, KERNELS, RECOMPUTE),
        Column("operation_count", groups.count.tolist()),
        *_first_start(context, groups, ops.host),
        *statistics,
        Column("ex_UID", ids(ops.host[first])),
        *call_stack_column(context, ops.host[first]),
        *kernel_details(context, groups, below),
        *overlap_columns(context, groups, beside, below, np.arange(len(ops.host))),
        *shares(groups.total),
    ]


def _first_start(context: Context, groups: Groups, host: NDArray[np.int32]) -> list[Column]:
    """Start of the first call of each row after the first of the sheet, where stacks are asked
    for: both tell phases of a program apart."""
    if not context.options.stacks:
        return []
    known = host >= 0
    start = np.full(len(groups.first), _NEVER, np.int64)
    np.minimum.at(start, groups.of_row[known], context.report.host.start_ns[host[known]])
    base = int(start.min(initial=_NEVER))
    values = [None if at == _NEVER else (at - base) / 1000 for at in start.tolist()]
    return [Column("first_occurrence_time", values, "µs")]
