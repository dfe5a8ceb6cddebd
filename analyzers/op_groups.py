"""Statistics over groups of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..native import intern_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of rows with equal keys: those with the most of the summed value first, equal ones by
    their first row."""

    of_row: I32
    """Group of each row."""
    first: I64
    """First row of each group."""
    count: I64
    total: I64
    """Sum of the value by which the groups are ordered."""


def group_rows(keys: Sequence[NDArray[np.integer]], value: I64) -> Groups:
    """The groups of rows that are equal in all key columns."""
    ids, first = intern_rows(keys)
    count = np.bincount(ids, minlength=len(first))
    total = sums(ids, value, len(first))
    order = np.lexsort((first, -total))
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return Groups(place[ids], first[order], count[order], total[order])


def sums(group: I32, value: I64, groups: int) -> I64:
    """Exact sum by group."""
    result = np.zeros(groups, np.int64)
    np.add.at(result, group, value)
    return result


@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics of a value by group, in its unit."""

    total: I64
    mean: F64
    median: F64
    """Mean of the two middle values where their number is even."""
    std: F64
    """Of a sample (n - 1); NaN where there is one value only."""
    low: I64
    high: I64

    def take(self, groups: I64) -> Spread:
        """Of these groups, in this order."""
        return Spread(
            self.total[groups],
            self.mean[groups],
            self.median[groups],
            self.std[groups],
            self.low[groups],
            self.high[groups],
        )


def spread(groups: Groups, value: I64) -> Spread:
    """Statistics of `value` over the rows of each group."""
    number = len(groups.first)
    total = sums(groups.of_row, value, number)
    mean = total / groups.count
    order = np.lexsort((value, groups.of_row))
    ordered = value[order]
    begin = np.cumsum(groups.count) - groups.count
    low, high = ordered[begin], ordered[begin + groups.count - 1]
    middle = (ordered[begin + (groups.count - 1) // 2] + ordered[begin + groups.count // 2]) / 2
    squares = np.bincount(groups.of_row, (value - mean[groups.of_row]) ** 2, minlength=number)
    with np.errstate(invalid="ignore", divide="ignore"):
        std = np.where(groups.count > 1, np.sqrt(squares / (groups.count - 1)), np.nan)
    return Spread(total, mean, middle, std, low, high)


@dataclass(frozen=True, slots=True)
class Rates:
    """Statistics of a quotient by group. NaN where no row of a group has a value."""

    mean: F64
    median: F64
    std: F64
    """Of a sample (n - 1); NaN where there is one value only."""
    low: F64
    high: F64


def rates(groups: Groups, value: F64) -> Rates:
    """Statistics of `value` over the rows of each group that have one: NaN is none."""
    number = len(groups.first)
    known = ~np.isnan(value)
    of_row, of_value = groups.of_row[known], value[known]
    count = np.bincount(of_row, minlength=number)
    order = np.lexsort((of_value, of_row))
    ordered = np.append(of_value[order], np.nan)
    begin = np.cumsum(count) - count
    some = count > 0

    def at(offset: I64) -> F64:
        return np.where(some, ordered[np.where(some, begin + offset, -1)], np.nan)

    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(of_row, of_value, minlength=number) / count
        squares = np.bincount(of_row, (of_value - mean[of_row]) ** 2, minlength=number)
        std = np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan)
    middle = (at((count - 1) // 2) + at(count // 2)) / 2
    return Rates(mean, middle, std, at(np.zeros_like(count)), at(count - 1))
