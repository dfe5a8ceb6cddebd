"""Tracks of events over time: how busy each column is, and by name what is wide enough."""

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events, getters
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ...analyzers.tracks.picture import Picture, RowPicture
from .fit import clean, fit, shorten
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style
from .track_arrow import Arrow
from .track_cells import cells_of, changed, joined

HEAD = 2
"""Lines of the scale, and of cursor and range below it."""
FULL = 0.995
"""A column that is busy for so much of its time is drawn as full."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What is pointed at, in columns of the picture; they may lie outside of it."""

    row: int
    """Of the rows drawn, -1: none."""
    cursor: int
    picked: tuple[int, int] | None
    """Columns of what is under the cursor, the last one not included."""
    range: tuple[int, int] | None
    """Columns of the range that is marked, the last one not included."""
    arrow: Arrow | None
    """From the launch to the work, if what is under the cursor is one of both."""


class TrackChart(Widget, can_focus=True):
    """Draws a `Picture` with its marks; only cells that changed are sent to the terminal."""

    app = getters.app(any_app)
    SORTS: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("steps", "code", "system", "ranges", "other"), "host"),
        "calls": "calls",
        "kernels": "kernels",
        "collectives": "comm",
        "copies": "copies",
    }
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *("track-chart--host", "track-chart--calls", "track-chart--kernels"),
        *("track-chart--comm", "track-chart--copies", "track-chart--even", "track-chart--odd"),
        *("track-chart--idle", "track-chart--label", "track-chart--heading"),
        *("track-chart--axis", "track-chart--mark", "track-chart--row"),
    }
    DEFAULT_CSS = """
    TrackChart {
        height: 1fr;
        & > .track-chart--host { color: $secondary; }
        & > .track-chart--calls { color: $text-muted; }
        & > .track-chart--kernels { color: $primary; }
        & > .track-chart--comm { color: $accent; }
        & > .track-chart--copies { color: $foreground; }
        & > .track-chart--even { background: $panel; color: $foreground; }
        & > .track-chart--odd { background: $panel-lighten-2; color: $foreground; }
        & > .track-chart--idle { color: $text-muted; }
        & > .track-chart--label { color: $foreground; }
        & > .track-chart--heading { color: $foreground; text-style: bold; }
        & > .track-chart--axis { color: $text-muted; }
        & > .track-chart--mark { color: $accent; text-style: bold; }
        & > .track-chart--row { background: $block-cursor-blurred-background; text-style: bold; }
        &:focus > .track-chart--row {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
        }
        &:ansi > .track-chart--calls { color: $foreground; }
        &:ansi > .track-chart--idle { color: $foreground; text-style: dim; }
        &:ansi > .track-chart--axis { color: $foreground; }
        &:ansi > .track-chart--even { background: ansi_default; color: ansi_default; }
        &:ansi > .track-chart--odd { background: ansi_bright_black; color: ansi_default; }
        &:ansi > .track-chart--row { text-style: reverse; }
        &:nocolor > .track-chart--odd { background: ansi_default; text-style: underline; }
        &:nocolor > .track-chart--row { text-style: reverse; }
    }
    """

    class Pointed(Message):
        """The user pointed at a row drawn and a column; twice: at what is there."""

        def __init__(self, chart: "TrackChart", row: int, column: int, *, twice: bool) -> None:
            super().__init__()
            self.chart = chart
            self.row = row
            self.column = column
            self.twice = twice

        @property
        def control(self) -> "TrackChart":
            return self.chart

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._picture: Picture | None = None
        self._marks = Marks(-1, 0, None, None, None)
        self._ticks: tuple[tuple[int, str], ...] = ()
        self._styles: dict[str, Style] = {}
        self._lines: list[Strip] = []
        self.empty_text = ""

    # -------------------------------------------------------------- content --

    @property
    def picture(self) -> Picture | None:
        return self._picture

    @property
    def marks(self) -> Marks:
        return self._marks

    def show(
        self, picture: Picture | None, marks: Marks, ticks: tuple[tuple[int, str], ...] = ()
    ) -> None:
        """Draw another picture; `ticks`: columns and texts of the scale."""
        self._picture, self._marks, self._ticks = picture, marks, ticks
        before, self._lines = self._lines, [self._line(y) for y in range(self.size.height)]
        if len(before) != len(self._lines):
            self.refresh()
            return
        for y, (old, new) in enumerate(zip(before, self._lines, strict=True)):
            cells = changed(old, new)
            if cells is not None:
                self.refresh(Region(cells[0], y, cells[1], 1))

    @property
    def room(self) -> tuple[int, int]:
        """Rows and columns there is room for."""
        return max(1, self.size.height - HEAD), max(1, self.size.width - self._margin)

    @property
    def _margin(self) -> int:
        """Cells of the labels."""
        return max(16, min(36, self.size.width // 4))

    def notify_style_update(self) -> None:
        self._styles.clear()
        self._lines = []
        super().notify_style_update()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is not None and at.y >= HEAD and at.x >= self._margin:
            self.post_message(
                self.Pointed(self, at.y - HEAD, at.x - self._margin, twice=event.chain == 2)
            )

    # -------------------------------------------------------------- drawing --

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = component_style(self, name and f"track-chart--{name}")
        return style

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        if len(self._lines) != height or self._lines[0].cell_length != width:
            self._lines = [self._line(line) for line in range(height)]
        return self._lines[y] if y < len(self._lines) else Strip.blank(width)

    def _line(self, y: int) -> Strip:
        width, plain, picture = self.size.width, self._style(""), self._picture
        if picture is None:
            text = f" {self.empty_text}" if y == 0 else ""
            return Strip([Segment(fit(clean(text), width), plain)], width)
        if y < HEAD:
            segments = self._scale(picture) if y == 0 else self._pointer(picture)
        elif y - HEAD < len(picture.rows):
            segments = self._row(picture, y - HEAD)
        else:
            return Strip.blank(width, plain)
        return Strip(segments).adjust_cell_length(width, plain)

    def _scale(self, picture: Picture) -> list[Segment]:
        text = ""
        for column, tick in self._ticks:
            if column + len(tick) < picture.columns:
                text = text.ljust(column) + "|" + tick
        return [Segment(" " * self._margin + text, self._style("axis"))]

    def _pointer(self, picture: Picture) -> list[Segment]:
        glyphs, marks = glyphs_of(self.app), self._marks
        cells = [" "] * picture.columns
        if marks.range is not None:
            first, end = (max(0, min(edge, picture.columns)) for edge in marks.range)
            cells[first:end] = glyphs.range * max(0, end - first)
        if 0 <= marks.cursor < picture.columns:
            cells[marks.cursor] = glyphs.descending
        return [Segment(" " * self._margin + "".join(cells), self._style("mark"))]

    def _row(self, picture: Picture, at: int) -> list[Segment]:
        row = picture.rows[at]
        here = at == self._marks.row
        segments = [self._label(row, here=here)]
        if row.sort is None:
            waits = row.row.track >= 0
            return [*segments, Segment("reading …" if waits else "", self._style("idle"))]
        spans = self._spans(row, picture.columns)
        if here:
            spans = self._reversed(spans, self._marks.picked, picture.columns)
        arrow, glyphs = self._marks.arrow, glyphs_of(self.app)
        if arrow is not None:
            empty = (" ", glyphs.split[3])
            for column, sign, covers in arrow.cells(at, picture.columns, glyphs):
                if covers or spans[column][0] in empty:
                    spans[column] = (sign, self._style("mark"))
        return segments + joined(spans)

    def _label(self, row: RowPicture, *, here: bool) -> Segment:
        """The lane at the left, what its events are at the right."""
        room = self._margin - 1
        if row.row.track < 0:
            text = fit(clean(row.row.label), room)
            return Segment(f"{text} ", self._style("row" if here else "heading"))
        sort = "" if row.sort is None or row.row.line > 0 else row.sort.value
        if row.row.hidden:
            sort += f" +{row.row.hidden}"
        owner = clean(row.row.label)
        owner = shorten(owner, max(0, room - len(sort) - 1), glyphs_of(self.app).ellipsis)
        text = fit(owner, room - len(sort)) + sort
        return Segment(f"{text} ", self._style("row" if here else "label"))

    def _spans(self, row: RowPicture, columns: int) -> list[tuple[str, Style]]:
        """A character and its style for each column."""
        glyphs = glyphs_of(self.app)
        marks, steps = glyphs.columns, len(glyphs.columns)
        assert row.sort is not None
        busy, idle = self._style(self.SORTS[row.sort.value]), self._style("idle")
        blank = (" ", busy)
        cells: list[tuple[str, Style]] = []
        for column in range(columns):
            share = row.shares[column]
            if share >= FULL:
                cells.append((marks[-1], busy))
            elif share > 0:
                cells.append((marks[min(int(share * steps), steps - 2)], busy))
            elif row.idle and row.idle[column]:
                cells.append((glyphs.split[3], idle))
            else:
                cells.append(blank)
        for box in row.boxes:
            style = self._style("odd" if box.odd else "even") + Style(color=None)
            room = box.right - box.left
            name = fit(clean(box.name), room - 1, "left", glyphs.ellipsis)
            edge = (glyphs.cursor, busy + style.background_style)
            text = [(sign, style) for sign in cells_of(name, room - 1)]
            cells[box.left : box.right] = [edge, *text]
        return cells

    def _reversed(
        self, cells: list[tuple[str, Style]], picked: tuple[int, int] | None, columns: int
    ) -> list[tuple[str, Style]]:
        """With what is under the cursor in reverse."""
        first, end = picked or (self._marks.cursor, self._marks.cursor + 1)
        over = Style(reverse=True)
        return [
            (sign, style + over) if first <= k < max(end, first + 1) else (sign, style)
            for k, (sign, style) in enumerate(cells[:columns])
        ]
