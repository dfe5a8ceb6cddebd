"""Numbers distinct combinations of values over several shares of a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import intern_rows
from .arrays import I32


class Interner:
    """`values[i]` is the combination with number i, in order of first use."""

    def __init__(self) -> None:
        self.values: list[tuple[int, ...]] = []
        self._ids: dict[tuple[int, ...], int] = {}

    def ids(self, columns: Sequence[NDArray[Any]]) -> I32:
        """Number of each row's combination. Cheap when few combinations occur."""
        if not len(columns[0]):
            return np.empty(0, np.int32)
        dense, first = intern_rows(columns)
        found = zip(*(column[first].tolist() for column in columns), strict=True)
        numbers = np.array([self._number(values) for values in found], np.int32)
        return numbers[dense]

    def _number(self, values: tuple[int, ...]) -> int:
        number = self._ids.setdefault(values, len(self.values))
        if number == len(self.values):
            self.values.append(values)
        return number

    def columns(self, width: int) -> list[I32]:
        """The combinations as `width` int32 columns."""
        table = np.array(self.values, np.int32).reshape(-1, width)
        return [np.ascontiguousarray(table[:, column]) for column in range(width)]
