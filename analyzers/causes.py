"""Which operations a change of the step comes from, in order: the short answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .change import Status

if TYPE_CHECKING:
    from .regression import Comparison

_WORSE = (Status.REGRESSION, Status.NEW)
_BETTER = (Status.IMPROVED, Status.REMOVED)


def causes(comparison: Comparison, *, worse: bool) -> list[tuple[str, float]]:
    """Operations that got slower or came in (`worse`), or got faster or went, and by how many ns
    per step, the largest change first. What lies inside one of them is left out: it is part of it.
    """
    table = comparison.operations
    if table is None:
        return []
    rows = table.rows_of(*(_WORSE if worse else _BETTER))
    names = {table.names[row] for row in rows}
    found = [
        (table.names[row], float(table.delta_ns[row]))
        for row in rows
        if table.place(row).removeprefix("in ") not in names
    ]
    return sorted(found, key=lambda cause: (-abs(cause[1]), cause[0]))
