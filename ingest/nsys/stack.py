"""Columns of the events that nest on their thread: annotations first, then calls, in one block
each, so that the sweep over both needs no copy."""

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import I32, I64

if TYPE_CHECKING:
    from .nvtx import Annotations


class StackRoom:
    """Lane, start and end of all nesting events. Memory is taken as rows are added."""

    def __init__(self, stack: "Annotations | None", calls: int) -> None:
        """`stack` moves in (its columns become views); room for `calls` more rows is kept."""
        self.annotations = 0 if stack is None else len(stack)
        size = self.annotations + calls
        self._lane: I32 = np.empty(size, np.int32)
        self._start: I64 = np.empty(size, np.int64)
        self._end: I64 = np.empty(size, np.int64)
        self._rows = 0
        if stack is not None:
            self.add(stack.lane, stack.span.start, stack.span.end)
            part = slice(0, self.annotations)
            stack.lane = self._lane[part]
            stack.span.start, stack.span.end = self._start[part], self._end[part]

    def add(self, lane: I32, start: I64, end: I64) -> None:
        """Append rows."""
        rows = slice(self._rows, self._rows + len(lane))
        self._lane[rows], self._start[rows], self._end[rows] = lane, start, end
        self._rows = rows.stop

    def take(self, rows: int) -> tuple[I32, I64, I64]:
        """Views of the last `rows` rows."""
        part = slice(self._rows - rows, self._rows)
        return self._lane[part], self._start[part], self._end[part]

    def columns(self) -> tuple[I32, I64, I64]:
        """Lane, start and end of all rows."""
        return self._lane[: self._rows], self._start[: self._rows], self._end[: self._rows]
