"""Where operators were called from, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analyzers.call_stacks import call_stack, entry_point, full_stack
from .sheets import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .sheet_context import Context


def stack_columns(
    context: Context,
    host: NDArray[np.int32],
    below: tuple[NDArray[np.int32], NDArray[np.int64]],
    rows: NDArray[np.int64],
) -> list[Column]:
    """`entry_point` and `call_stack_full` of some rows by host event; none where that was not
    asked for. `below`: pieces of the work of all rows."""
    if not context.options.stacks:
        return []
    report, work = context.report, context.device.source.work
    of_row, pieces = below
    order = np.lexsort((pieces, of_row))
    begin = np.searchsorted(of_row[order], rows)
    end = np.searchsorted(of_row[order], rows, "right")
    entries: list[str | None] = []
    stacks: list[str | None] = []
    for event, first, last in zip(host.tolist(), begin.tolist(), end.tolist(), strict=True):
        if event < 0:
            entries.append(None)
            stacks.append(None)
            continue
        own = pieces[order[first:last]]
        launches: list[int] = work.launch[own].tolist()
        names = [report.texts[i] for i in work.name[own].tolist()]
        entries.append(entry_point(report.host, report.texts, event, launches))
        kernels = list(zip(launches, names, strict=True))
        stacks.append(full_stack(report.host, report.texts, event, kernels))
    return [Column("entry_point", entries), Column("call_stack_full", stacks)]


def call_stack_column(context: Context, host: NDArray[np.int32]) -> list[Column]:
    """`call_stack` down to the operator, by host event."""
    if not context.options.stacks:
        return []
    report = context.report
    stacks = [
        None if event < 0 else " => ".join(call_stack(report.host, report.texts, event))
        for event in host.tolist()
    ]
    return [Column("call_stack", stacks)]
