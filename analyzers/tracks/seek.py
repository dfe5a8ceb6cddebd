"""The way along a line: the event at an instant, the next one, the next pause, the next namesake.

All answers are places in the line (or spans of time); None where there is nothing further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .line import Line, make_line, union_line

Flags = NDArray[np.bool_]
Direction = Literal[1, -1]

LAST_NS = np.iinfo(np.int64).max
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


def pause_at(lines: Sequence[Line], at_ns: int) -> tuple[int, int] | None:
    """From the last end before an instant at which none of the lines is busy to the next start;
    None before the first event and after the last."""
    ends: list[int] = []
    starts: list[int] = []
    for line in lines:
        before, after = next_event(line, at_ns + 1, -1), next_event(line, at_ns, 1)
        ends += [] if before is None else [line.span(before)[1]]
        starts += [] if after is None else [line.span(after)[0]]
    return (max(ends), min(starts)) if ends and starts else None


def next_pause(
    lines: Sequence[Line], at_ns: int, direction: Direction, least_ns: int
) -> tuple[int, int] | None:
    """The next pause, in which none of the lines is busy, that is at least so long and begins after
    `at_ns`; or the last one that begins before it. Start and end."""
    if len(lines) == 1:
        return _line_pause(lines[0], at_ns, direction, least_ns)
    for first, end in _stretches(lines, at_ns, direction):
        union = union_line([_part(line, first, end) for line in lines])
        begin = max(at_ns, first - 1) if direction > 0 else min(at_ns, end)
        found = _line_pause(union, begin, direction, least_ns)
        if found is not None and first <= found[0] < end:
            return found
    return None


def _stretches(
    lines: Sequence[Line], at_ns: int, direction: Direction
) -> Iterator[tuple[int, int]]:
    """Stretches of time from an instant on, or backwards from it, in which no line has more than
    `PIECE` events."""
    edge = at_ns
    while True:
        far: list[int] = []
        for line in lines:
            place = int(line.last_before(np.array([edge], np.int64))[0]) + direction * PIECE
            if 0 <= place < len(line):
                far.append(int(line.start_ns[place]))
        if not far:
            yield (edge, LAST_NS) if direction > 0 else (-LAST_NS, edge)
            return
        # At least one instant: many events of no length can start at the same.
        new = max(min(far), edge + 1) if direction > 0 else min(max(far), edge - 1)
        yield (edge, new) if direction > 0 else (new, edge)
        edge = new


def _part(line: Line, first_ns: int, end_ns: int) -> Line:
    """The events from the last one that starts at or before `first_ns` to the first one that starts
    at or after `end_ns`: what pauses that begin between both depend on."""
    first = max(0, int(line.last_before(np.array([first_ns], np.int64))[0]))
    end = int(np.searchsorted(line.start_ns, end_ns, side="left")) + 1
    start = line.start_ns[first:end]
    return make_line(start, start + line.dur_ns[first:end], line.name[first:end], 0)


def _line_pause(
    line: Line, at_ns: int, direction: Direction, least_ns: int
) -> tuple[int, int] | None:
    """As `next_pause`, of one line."""
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
