"""Columns that the sheets of operators share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..native import intern_rows
from .sheet_context import ARGUMENTS, Context, as_percent
from .sheets import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.op_groups import Groups


def shares(total: NDArray[np.int64]) -> list[Column]:
    """Each row's part of the sum, and the running sum of the parts."""
    whole = int(total.sum())
    return [
        Column("Percentage (%)", as_percent(total, whole), "%"),
        Column("Cumulative Percentage (%)", as_percent(np.cumsum(total), whole), "%"),
    ]


def ids(of: NDArray[np.int32]) -> list[int | None]:
    """Numbers of events; -1 is blank."""
    return [None if i < 0 else i for i in of.tolist()]


def argument_columns(context: Context, launcher: NDArray[np.int32], tail: str = "") -> list[Column]:
    """Arguments as recorded, by host event."""
    return [
        Column(
            f"{name}{tail}",
            [context.literal(i) for i in context.arguments(launcher, field).tolist()],
        )
        for name, field in ARGUMENTS
    ]


def label(context: Context, rows: int, tail: str = "") -> list[Column]:
    """Labels of processes are not read: the column keeps its place for what expects it."""
    if not context.options.tracelens:
        return []
    return [Column(f"process_label{tail}", [None] * rows)]


def pairs(group: NDArray[np.int32], other: NDArray[np.int32]) -> list[tuple[int, int]]:
    """The distinct pairs of two columns."""
    _, first = intern_rows([group, other])
    return list(zip(group[first].tolist(), other[first].tolist(), strict=True))


def one_name(
    groups: Groups, lane: NDArray[np.int32], name: Callable[[int], str | None]
) -> list[str | None]:
    """The one name of the lanes of each group, or how many there are."""
    found: list[set[str | None]] = [set() for _ in range(len(groups.first))]
    for group, of_lane in pairs(groups.of_row, lane):
        found[group].add(name(of_lane))
    return [names.pop() if len(names) == 1 else f"({len(names)})" for names in found]
