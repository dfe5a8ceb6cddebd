"""Columns of the instances of collectives: one cell for each rank, numbers, marks, statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import mean, median
from typing import TYPE_CHECKING, Final

import numpy as np

from ..analyzers.collective_match import MATCHES
from .sheets import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.collective_timing import Timed

    Rows = NDArray[np.int64]


def match_text(of: Timed, instance: int) -> str:
    """How the kernels of the ranks were found to be one, and what is wrong with them."""
    marks = [MATCHES[int(of.matched.basis[instance])]]
    missing = of.traits[instance].missing
    if missing:
        marks.append(f"missing ranks {', '.join(map(str, missing))}")
    if of.names_differ[instance]:
        marks.append("names differ")
    if of.sizes_differ[instance]:
        marks.append("sizes or types differ")
    return "; ".join(marks)


def ranked_members(of: Timed) -> list[tuple[int, int]]:
    """Those with a rank, and it."""
    return [(i, m.rank) for i, m in enumerate(of.found.members) if m.rank is not None]


def cells(of: Timed, rows: Rows, member: int, values_ns: NDArray[np.int64]) -> list[float | None]:
    there = of.present[rows, member].tolist()
    values = values_ns[rows].tolist()
    return [v / 1000 if here else None for v, here in zip(values, there, strict=True)]


def recorded_ns(of: Timed, member: int) -> NDArray[np.int64]:
    """Starts on the member's own clock."""
    return np.append(of.found.work.start_ns, 0)[of.matched.event[:, member]]


def dur_ns(of: Timed, member: int) -> NDArray[np.int64]:
    return of.end_ns[:, member] - of.start_ns[:, member]


def instance_ids(of: Timed, rows: Rows) -> list[str]:
    """The group's name and a number within it, by start."""
    names = _group_prefixes(of)
    numbers = _numbers(of)
    return [names[int(of.found.group[of.first[i]])] + str(int(numbers[i])) for i in rows.tolist()]


def _numbers(of: Timed) -> NDArray[np.int64]:
    group = of.found.group[of.first]
    numbers = np.empty(len(group), np.int64)
    for of_group in np.unique(group).tolist():
        rows = np.flatnonzero(group == of_group)
        numbers[rows] = np.arange(len(rows))
    return numbers


def _group_prefixes(of: Timed) -> dict[int, str]:
    prefixes = {-1: ""}
    seen: dict[str, int] = {}
    for i, group in enumerate(of.found.groups):
        name = group.name or "group"
        seen[name] = seen.get(name, 0) + 1
        prefixes[i] = f"{name}_" if seen[name] == 1 else f"{name}#{seen[name]}_"
    return prefixes


_FOUR: Final[tuple[tuple[str, Callable[[Sequence[float]], float]], ...]] = (
    ("mean", mean),
    ("median", median),
    ("min", min),
    ("max", max),
)


def four_columns(
    name: str,
    groups: Iterable[Sequence[float | None]],
    unit: str = "",
    words: Sequence[str] = ("mean", "median", "min", "max"),
) -> list[Column]:
    """Statistics of each group; blanks are skipped."""
    values = [[v for v in group if v is not None] for group in groups]
    return [
        Column(f"{name}_{word}", [of(v) if v else None for v in values], unit)
        for word, of in _FOUR
        if word in words
    ]
