"""A roofline drawn in the terminal: what calls reach against what the device can do at most."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import getters
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from .fit import clean, fit, wrap
from .glyphs import ascii_chosen, glyphs_of
from .host import any_app
from .log_axes import Axis, log_axis, tick_text
from .paint import component_style

MARGIN = 7
"""Cells of the scale at the left, the axis included."""
LEAST_LINES, LEAST_CELLS = 4, 16
"""Of the field of points; where there is less, only the sentence is shown."""
UNIT = "FLOP/byte"
DOTS_X, DOTS_Y = 2, 4
"""Dots of a braille character."""
BRAILLE = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
MARKS = ("•", "●", "◆")
ASCII_MARKS = ("o", "O", "@")


@dataclass(frozen=True, slots=True)
class Point:
    """One set of arguments: where it stands, and how much of the time it takes."""

    key: int
    x: float
    """FLOP/byte."""
    y: float
    """TFLOP/s."""
    large: bool
    """Takes a good part of the time."""


@dataclass(frozen=True, slots=True)
class Roof:
    """What a kind of computation reaches at most."""

    label: str
    tflops: float


@dataclass(frozen=True, slots=True)
class Roofline:
    """All that is drawn. `bandwidth_tbytes` in 10^12 bytes/s."""

    points: Sequence[Point]
    roofs: Sequence[Roof]
    """The highest first."""
    bandwidth_tbytes: float
    title: str


class RooflinePlot(Widget):
    """Log-log axes: FLOP/byte to the right, TFLOP/s upwards. The points of the row under the
    cursor have a mark of their own; the ridge of their roof is drawn down to the axis."""

    app = getters.app(any_app)
    ALLOW_MAXIMIZE = True
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "roofline--axis",
        "roofline--roof",
        "roofline--point",
        "roofline--chosen",
    }
    DEFAULT_CSS = """
    RooflinePlot {
        & > .roofline--axis { color: $text-muted; }
        & > .roofline--roof { color: $secondary; }
        & > .roofline--point { color: $primary; }
        & > .roofline--chosen { color: $accent; text-style: bold; }
        &:ansi > .roofline--axis { color: $foreground; }
        &:nocolor > .roofline--chosen { text-style: bold reverse; }
    }
    """
    say: reactive[str] = reactive("")
    """In place of a plot: why there is none."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._shown: Roofline | None = None
        self._chosen: frozenset[int] = frozenset()
        self._ridge: Roof | None = None
        self._lines: list[Strip] | None = None

    @property
    def chosen(self) -> frozenset[int]:
        """Keys of the points that are marked."""
        return self._chosen

    @property
    def shown(self) -> Roofline | None:
        return self._shown

    def show(self, roofline: Roofline | None) -> None:
        """Draw another one; None draws the sentence `say`."""
        self._shown = roofline
        self._redraw()

    def choose(self, keys: frozenset[int], ridge: str | None) -> None:
        """Mark the points of these keys, and the ridge of the roof of this label."""
        roofs = () if self._shown is None else self._shown.roofs
        found = next((roof for roof in roofs if roof.label == ridge), None)
        if (keys, found) != (self._chosen, self._ridge):
            self._chosen, self._ridge = keys, found
            self._redraw()

    def _redraw(self) -> None:
        self._lines = None
        self.refresh()

    def on_resize(self) -> None:
        self._redraw()  # lines are drawn before this is told

    def watch_say(self) -> None:
        self._lines = None

    def notify_style_update(self) -> None:
        self._lines = None
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        if self._lines is None:
            self._lines = self._draw()
        if y < len(self._lines):
            return self._lines[y]
        return Strip.blank(self.size.width, component_style(self))

    # ---------------------------------------------------------------- drawing --

    def _draw(self) -> list[Strip]:
        width, lines = self.size.width, self.size.height - 3
        plot = width - MARGIN - 1
        shown, plain = self._shown, component_style(self)
        if shown is None or not shown.points or lines < LEAST_LINES or plot < LEAST_CELLS:
            text = self.say if shown is None or not shown.points else "too little room for a plot"
            return [Strip([Segment(fit(line, width), plain)]) for line in wrap(text, width)]
        top = max(
            max(roof.tflops for roof in shown.roofs) if shown.roofs else 0,
            max(point.y for point in shown.points),
        )
        ridges = [roof.tflops / shown.bandwidth_tbytes for roof in shown.roofs]
        xs = [point.x for point in shown.points] + ridges
        across = log_axis(min(xs), max(xs) * 4, plot)
        up = log_axis(min(point.y for point in shown.points), top * 2, lines)
        field = self._field(shown, across, up)
        axis = component_style(self, "roofline--axis")
        ellipsis = glyphs_of(self.app).ellipsis
        head = fit(f"TFLOP/s  {clean(shown.title)}", width, "left", ellipsis)
        strips = [Strip([Segment(head, axis)], width)]
        labels = dict(up.ticks)
        bar = "|" if ascii_chosen(self.app) else "│"
        for row in range(lines):
            label = labels.get(lines - 1 - row)
            scale = "" if label is None else tick_text(label)
            segments = [Segment(fit(scale, MARGIN - 1, "right") + bar, axis), *field[row]]
            strips.append(Strip(segments).adjust_cell_length(width, plain))
        return [*strips, *self._foot(across, width, axis)]

    def _foot(self, across: Axis, width: int, style: Style) -> list[Strip]:
        plain = ascii_chosen(self.app)
        rule, tick, corner = ("-", "+", "+") if plain else ("─", "┴", "└")
        line, texts = [rule] * across.cells, ""
        room = across.cells - len(UNIT)
        for at, value in across.ticks:
            line[at] = tick
            text = tick_text(value)
            start = max(at - len(text) // 2, 0)
            if (not texts or start > len(texts)) and start + len(text) < room:
                texts = texts.ljust(start) + text
        texts = texts.ljust(room) + UNIT
        first = " " * (MARGIN - 1) + corner + "".join(line)
        return [
            Strip([Segment(first, style)]).adjust_cell_length(width, component_style(self)),
            Strip([Segment(" " * MARGIN + texts, style)]).adjust_cell_length(width),
        ]

    def _field(self, shown: Roofline, across: Axis, up: Axis) -> list[list[Segment]]:
        """The lines of the field, from above."""
        width, height = across.cells, up.cells
        roof = component_style(self, "roofline--roof")
        styles = {"": component_style(self), "roof": roof}
        styles["point"] = component_style(self, "roofline--point")
        styles["chosen"] = component_style(self, "roofline--chosen")
        grid = [[(" ", "")] * width for _ in range(height)]
        plain = ascii_chosen(self.app)
        for (x, y), mark in self._dots(shown, across, up, plain):
            grid[height - 1 - y][x] = (mark, "roof")
        taken = {(across.cell(p.x), height - 1 - up.cell(p.y)) for p in shown.points}
        for each in shown.roofs:
            _name_roof(grid, each, up, taken)
        marks = ASCII_MARKS if plain else MARKS
        for chosen in (False, True):  # the marked points above the others
            for large in (False, True):
                for point in shown.points:
                    if (point.key in self._chosen, point.large) == (chosen, large):
                        mark = marks[2] if chosen else marks[1 if large else 0]
                        x, y = across.cell(point.x), up.cell(point.y)
                        grid[height - 1 - y][x] = (mark, "chosen" if chosen else "point")
        return [_runs(line, styles) for line in grid]

    def _dots(
        self, shown: Roofline, across: Axis, up: Axis, plain: bool
    ) -> Iterator[tuple[tuple[int, int], str]]:
        """The roofs, and the ridge of the marked points, by cell counted from below."""
        across_dots, up_dots = (1, 1) if plain else (DOTS_X, DOTS_Y)
        found: dict[tuple[int, int], int] = {}

        def dot(x: int, y: int) -> None:
            if 0 <= y < up.cells * up_dots:
                cell = (x // across_dots, y // up_dots)
                bit = BRAILLE[x % across_dots][up_dots - 1 - y % up_dots] if not plain else 1
                found[cell] = found.get(cell, 0) | bit

        for x in range(across.cells * across_dots):
            intensity = across.value((x + 0.5) / across_dots)
            slope = shown.bandwidth_tbytes * intensity
            highest = shown.roofs[0].tflops if shown.roofs else slope
            if slope <= highest:
                dot(x, int(up.place(slope) * up_dots))
            for roof in shown.roofs:
                if roof.tflops <= slope:
                    dot(x, int(up.place(roof.tflops) * up_dots))
        if self._ridge is not None:
            ridge = self._ridge.tflops / shown.bandwidth_tbytes
            x = int(across.place(ridge) * across_dots)
            for y in range(0, max(0, int(up.place(self._ridge.tflops) * up_dots)), 2):
                dot(x, y)
        for cell, bits in found.items():
            yield cell, "." if plain else chr(0x2800 + bits)


def _name_roof(
    grid: list[list[tuple[str, str]]], roof: Roof, up: Axis, taken: set[tuple[int, int]]
) -> None:
    """At its right end above the line, else below it; where both are taken, not at all."""
    line = len(grid) - 1 - up.cell(roof.tflops)
    text = clean(roof.label)
    start = len(grid[0]) - len(text)
    for row in (line - 1, line + 1):
        if 0 <= row < len(grid) and start >= 0:
            room = range(start, start + len(text))
            if all(grid[row][x][0] == " " and (x, row) not in taken for x in room):
                for x, mark in zip(room, text, strict=True):
                    grid[row][x] = (mark, "roof")
                return


def _runs(line: Sequence[tuple[str, str]], styles: dict[str, Style]) -> list[Segment]:
    """Stretches of one style."""
    segments: list[Segment] = []
    run, name = "", ""
    for mark, style in line:
        if style != name and run:
            segments.append(Segment(run, styles[name]))
            run = ""
        name = style
        run += mark
    return [*segments, Segment(run, styles[name])]
