"""A window of time on so many columns, and what of a line lies in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .line import Line

I64 = NDArray[np.int64]

LEAST_NS = 1_000
"""The narrowest window: recorders tell times to some tens of nanoseconds at best."""
LEAST_BOX = 3
"""Columns an event must take to be drawn by itself, with its name."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `start_ns` to `end_ns`, within `first_ns` to `last_ns`, which is the whole."""

    first_ns: int
    last_ns: int
    start_ns: int
    end_ns: int

    @classmethod
    def whole(cls, first_ns: int, last_ns: int) -> Window:
        """All of it; at least as wide as the narrowest window."""
        last_ns = max(last_ns, first_ns + LEAST_NS)
        return cls(first_ns, last_ns, first_ns, last_ns)

    @property
    def width_ns(self) -> int:
        return self.end_ns - self.start_ns

    @property
    def is_whole(self) -> bool:
        return self.start_ns == self.first_ns and self.end_ns == self.last_ns

    def at(self, start_ns: int, width_ns: int) -> Window:
        """Another window of the same whole: moved and cut to lie in it."""
        whole = self.last_ns - self.first_ns
        width = max(LEAST_NS, min(width_ns, whole))
        if whole - width <= whole // 1_000:  # what halving and doubling lose does not count
            width = whole
        start = max(self.first_ns, min(start_ns, self.last_ns - width))
        return replace(self, start_ns=start, end_ns=start + width)

    def panned(self, by_ns: int) -> Window:
        """Moved, as far as there is anything."""
        return self.at(self.start_ns + by_ns, self.width_ns)

    def zoomed(self, numerator: int, denominator: int, around_ns: int) -> Window:
        """Wider or narrower by a ratio; `around_ns` stays at its place on the screen."""
        whole = self.last_ns - self.first_ns
        width = max(LEAST_NS, min(self.width_ns * numerator // denominator, whole))
        left = (around_ns - self.start_ns) * width // self.width_ns
        return self.at(around_ns - left, width)

    def around(self, start_ns: int, end_ns: int) -> Window:
        """So wide that a span takes half of it, in its middle."""
        width = max(LEAST_NS, 2 * (end_ns - start_ns))
        return self.at((start_ns + end_ns - width) // 2, width)

    def showing(self, at_ns: int) -> Window:
        """The window itself where it holds the instant, else moved so that it is in the middle."""
        if self.start_ns <= at_ns < self.end_ns:
            return self
        return self.at(at_ns - self.width_ns // 2, self.width_ns)

    def edges(self, columns: int) -> I64:
        """Where the columns begin, and the end of the last: `columns` + 1 instants."""
        return self.start_ns + self.width_ns * np.arange(columns + 1, dtype=np.int64) // columns

    def column(self, at_ns: int, columns: int) -> int:
        """The column that holds an instant; below 0 or from `columns` on outside the window."""
        # The first edge at or before it: floor((k w) / n) <= t  <=>  k <= ((t + 1) n - 1) / w.
        return ((at_ns - self.start_ns + 1) * columns - 1) // self.width_ns

    def span(self, column: int, columns: int) -> tuple[int, int]:
        """First instant of a column, and the one after its last."""
        left = self.start_ns + self.width_ns * column // columns
        return left, self.start_ns + self.width_ns * (column + 1) // columns

    def time(self, column: int, columns: int) -> int:
        """The middle of a column."""
        left, right = self.span(column, columns)
        return (left + right) // 2


@dataclass(frozen=True, slots=True)
class Box:
    """An event that is wide enough to be drawn by itself."""

    place: int
    """In its line."""
    left: int
    right: int
    """Columns from `left` up to this one, which is not part of it."""


@dataclass(frozen=True, slots=True, eq=False)
class LineColumns:
    """A line in a window, by column."""

    busy_ns: I64
    """They sum to the busy time of the line in the window."""
    begun: I64
    """Events that start in the column."""
    boxes: tuple[Box, ...]
    """From left to right, at least `LEAST_BOX` columns each; they do not overlap."""


def line_columns(line: Line, window: Window, columns: int) -> LineColumns:
    """Takes as long as there are columns, whatever the number of events."""
    edges = window.edges(columns)
    busy = np.diff(line.busy_until(edges))
    begun = np.diff(np.searchsorted(line.start_ns, edges, side="left"))
    return LineColumns(busy, begun, _boxes(line, window, edges))


def _boxes(line: Line, window: Window, edges: I64) -> tuple[Box, ...]:
    """An event of two columns and more lies over an edge of one: only such can be wide enough."""
    places = np.unique(line.last_before(edges))
    places = places[places >= 0]
    start, end = line.spans(places)
    columns = len(edges) - 1
    left = _nearest(start, window, columns)
    right = _nearest(end, window, columns)
    wide = right - left >= LEAST_BOX
    return tuple(
        Box(place, a, b)
        for place, a, b in zip(
            places[wide].tolist(), left[wide].tolist(), right[wide].tolist(), strict=True
        )
    )


def _nearest(at_ns: I64, window: Window, columns: int) -> I64:
    """The edge of a column that is nearest to each instant; instants outside count as at the
    window's ends. Monotonous, so that what does not overlap does not overlap on the screen."""
    inside = np.clip(at_ns, window.start_ns, window.end_ns) - window.start_ns
    rounded: I64 = (2 * inside * columns + window.width_ns) // (2 * window.width_ns)
    return rounded
