"""What a timeline shows of a window: some rows by column, and the event under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .line import Line
from .seek import event_at, pause_at
from .timeline import Row, Timeline
from .track import Origin, Sort
from .window import Window, line_columns


@dataclass(frozen=True, slots=True)
class NamedBox:
    """An event that is drawn by itself: columns `left` up to `right`."""

    left: int
    right: int
    name: str
    odd: bool
    """Of two that follow each other, one is."""


@dataclass(frozen=True, slots=True)
class RowPicture:
    """A row. The three by column are empty for headings and tracks still to be read."""

    row: Row
    sort: Sort | None
    shares: tuple[float, ...] = ()
    """Of the column, how much is busy: 0 to 1."""
    boxes: tuple[NamedBox, ...] = ()
    idle: tuple[bool, ...] = ()
    """GPU rows: nothing ran on the device. Empty where that is not known."""


@dataclass(frozen=True, slots=True)
class Picked:
    """What is under the cursor: an event, or the pause in which the cursor is."""

    track: int
    line: int
    start_ns: int
    end_ns: int
    table: Origin
    event: int | None
    """Its id; None: a pause. That of GPU rows is one of the whole device."""
    place: int
    """Of the event in its line; -1 for a pause."""
    name: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The rows that fit on the screen."""

    window: Window
    columns: int
    rows: tuple[RowPicture, ...]
    picked: Picked | None
    """None on a heading."""


def draw(
    timeline: Timeline,
    rows: Sequence[Row],
    window: Window,
    columns: int,
    under: tuple[Row, int] | None,
) -> Picture:
    """`under`: row and instant of the cursor. Waits for the database only for names that are not
    known yet."""
    edges = window.edges(columns)
    idle: dict[int, tuple[bool, ...]] = {}

    def idle_of(device: int | None) -> tuple[bool, ...]:
        lines = None if device is None else timeline.device_lines(device)
        if device is None or lines is None:
            return ()
        if device not in idle:
            busy = np.stack([np.diff(line.busy_until(edges)) for line in lines])
            idle[device] = tuple((busy.sum(axis=0) == 0).tolist())
        return idle[device]

    width = np.maximum(np.diff(edges), 1)
    drawn: list[RowPicture] = []
    for row in rows:
        line = line_of(timeline, row)
        if line is None:
            drawn.append(RowPicture(row, None))
            continue
        track = timeline.tracks[row.track]
        shown = line_columns(line, window, columns)
        names = timeline.texts(int(line.name[box.place]) for box in shown.boxes)
        boxes = tuple(
            NamedBox(b.left, b.right, names[int(line.name[b.place])], bool(b.place % 2))
            for b in shown.boxes
        )
        shares = tuple((shown.busy_ns / width).tolist())
        idle_columns = idle_of(track.device) if track.on_gpu else ()
        drawn.append(RowPicture(row, track.sort, shares, boxes, idle_columns))
    return Picture(window, columns, tuple(drawn), None if under is None else pick(timeline, *under))


def line_of(timeline: Timeline, row: Row) -> Line | None:
    """The line of a row; None for headings and tracks still to be read."""
    if row.track < 0 or row.line < 0:
        return None
    lines = timeline.lines(row.track)
    return lines[row.line] if row.line < len(lines) else None


def pause_lines(timeline: Timeline, row: Row) -> Sequence[Line]:
    """The lines whose common pauses count on a row: on GPU rows those of the device. Of
    headings and tracks still to be read there are none."""
    line = line_of(timeline, row)
    if line is None:
        return ()
    track = timeline.tracks[row.track]
    if track.on_gpu and track.device is not None:
        return timeline.device_lines(track.device) or (line,)
    return (line,)


def pick(timeline: Timeline, row: Row, at_ns: int) -> Picked | None:
    """What is at an instant of a row; None on headings, and where nothing comes before or after."""
    line = line_of(timeline, row)
    if line is None:
        return None
    table = timeline.tracks[row.track].origin
    place = event_at(line, at_ns)
    if place is not None:
        start, end = line.span(place)
        name = int(line.name[place])
        text = timeline.texts([name])[name]
        return Picked(row.track, row.line, start, end, table, line.event(place), place, text)
    whole = pause_lines(timeline, row)
    if any(event_at(other, at_ns) is not None for other in whole):
        whole = (line,)
    pause = pause_at(whole, at_ns)
    if pause is None:
        return None
    start, end = pause
    return Picked(row.track, row.line, start, end, table, None, -1, "")
