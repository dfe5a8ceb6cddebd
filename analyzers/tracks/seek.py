"""The way along a line: the event at an instant, the next one, the next pause, the next namesake.

All answers are places in the line (or spans of time); None where there is nothing further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .line import Line

Flags = NDArray[np.bool_]
Direction = Literal[1, -1]

PIECE = 1 << 16
"""Events that are searched at once: the next one is mostly near."""


def event_at(line: Line, at_ns: int) -> int | None:
    """The event that runs at an instant: one that has a length before one that has none."""
    place = int(line.last_before(np.array([at_ns], np.int64))[0])
    if place < 0:
        return None
    start, end = line.span(place)
    return place if at_ns < end or at_ns == start else None


def next_event(line: Line, at_ns: int, direction: Direction) -> int | None:
    """The first event that starts after an instant, or the last one that starts before it."""
    side: Literal["left", "right"] = "right" if direction > 0 else "left"
    place = int(np.searchsorted(line.start_ns, at_ns, side=side)) - (direction < 0)
    return place if 0 <= place < len(line) else None


def next_pause(
    line: Line, at_ns: int, direction: Direction, least_ns: int
) -> tuple[int, int] | None:
    """The next pause between two events that is at least so long and begins after `at_ns`; or the
    last one that begins before it. Start and end."""
    if len(line) < 2:
        return None

    def long(first: int, end: int) -> Flags:
        """Of the pauses behind the events `first` up to `end`."""
        _, ends = line.spans(np.arange(first, end))
        return line.start_ns[first + 1 : end + 1] - ends >= max(1, least_ns)

    # Pause k lies behind event k and begins where that ends: ends ascend as starts do.
    place = int(line.last_before(np.array([at_ns], np.int64))[0])
    if direction > 0:
        first = max(place, 0)
        if place >= 0 and line.span(place)[1] <= at_ns:
            first += 1
        found = _first(len(line) - 1, first, long)
    else:
        last = place if place >= 0 and line.span(place)[1] < at_ns else place - 1
        found = _last(min(last, len(line) - 2), long)
    if found is None:
        return None
    return line.span(found)[1], int(line.start_ns[found + 1])


def next_named(line: Line, place: int, direction: Direction) -> int | None:
    """The next event of the same name."""
    name = line.name[place]

    def same(first: int, end: int) -> Flags:
        return np.asarray(line.name[first:end] == name, np.bool_)

    if direction > 0:
        return _first(len(line), place + 1, same)
    return _last(place - 1, same)


def place_of(line: Line, event: int, start_ns: int) -> int | None:
    """Where in the line an event is, if it is there at all."""
    first = int(np.searchsorted(line.start_ns, start_ns, side="left"))
    end = int(np.searchsorted(line.start_ns, start_ns, side="right"))
    for place in range(first, end):
        if line.event(place) == event:
            return place
    return None


def _pieces(first: int, end: int, direction: Direction) -> Iterator[tuple[int, int]]:
    if direction > 0:
        for begin in range(first, end, PIECE):
            yield begin, min(begin + PIECE, end)
    else:
        for stop in range(end, first, -PIECE):
            yield max(first, stop - PIECE), stop


def _first(count: int, start: int, test: Callable[[int, int], Flags]) -> int | None:
    for begin, end in _pieces(start, count, 1):
        hits = np.flatnonzero(test(begin, end))
        if len(hits):
            return begin + int(hits[0])
    return None


def _last(start: int, test: Callable[[int, int], Flags]) -> int | None:
    for begin, end in _pieces(0, start + 1, -1):
        hits = np.flatnonzero(test(begin, end))
        if len(hits):
            return begin + int(hits[-1])
    return None
