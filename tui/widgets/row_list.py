"""A short list whose rows lead somewhere: figures in front, then a name cut to the width."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events, getters
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from ..keys import bindings
from .fit import clean, fit, shorten, skip
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style

BETWEEN = " > "
LONG_NAME, SHORT_NAME = 24, 12
"""Names on a way are shortened to these cells before more of them are left out."""
LEAST_END = 8
"""Cells of the outermost name where hardly anything fits."""
TAIL_NAMES = 3
"""The innermost names that come before the outermost one."""

Tone = Literal["normal", "dim", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list. Rows without a target are read, not opened."""

    label: str
    figures: str = ""
    """Columns in front of the label, already aligned."""
    target: object | None = None
    tone: Tone = "normal"
    keep_end: bool = False
    """Cut the label at its beginning: the end of a file's path says more than its start."""
    parts: tuple[str, ...] = ()
    """A way of names, outermost first: shortened by what says least, instead of the label."""
    minor: frozenset[int] = frozenset()
    """Places in `parts` of the names that are left out first."""


def cut_start(text: str, width: int, ellipsis: str) -> str:
    """`text` in exactly `width` cells; when too long its beginning gives way to the ellipsis."""
    excess = cell_len(text) - width
    if excess > 0 and width > 1:
        text = ellipsis + skip(text, excess + 1)
    return fit(text, width, ellipsis=ellipsis)


@lru_cache(512)
def fit_way(
    names: tuple[str, ...], width: int, ellipsis: str, minor: frozenset[int] = frozenset()
) -> str:
    """Names along a way, outermost first, in `width` cells where that can be.

    Long names are shortened, then minor names (their places in `names`) left out, outer ones
    first, then names in the middle; the outermost (the process, of which there may be many alike)
    and the innermost stay. What room remains goes to the longest of those shown."""
    if len(names) < 2:
        return shorten(names[0], width, ellipsis) if names else ""
    places = range(len(names))
    major = [place for place in places if place not in minor or place in (0, len(names) - 1)]
    extra = [place for place in places if place not in major]
    choices: list[tuple[list[str], int]] = [
        (_with_gaps(names, {*major, *extra[left_out:]}, ellipsis), LONG_NAME)
        for left_out in range(len(extra) + 1)
    ]
    inner = [names[place] for place in major]
    choices += [
        ([inner[0], ellipsis, *inner[start:]], LONG_NAME)
        for start in range(2, len(inner) - TAIL_NAMES + 1)
    ]
    whole_end = max(SHORT_NAME, cell_len(names[-1]))
    choices += [([inner[0], ellipsis, *inner[start:]], whole_end) for start in range(2, len(inner))]
    for shown, least in choices:
        most = _longest_name(shown, width)
        if most >= min(least, max(map(cell_len, shown), default=0)):
            return BETWEEN.join(shorten(name, most, ellipsis) for name in shown)
    return _ends(names, width, ellipsis)


def _ends(names: Sequence[str], width: int, ellipsis: str) -> str:
    """The outermost name shortened before the innermost, which alone is shown where it must."""
    between = f"{BETWEEN}{ellipsis}{BETWEEN}" if len(names) > 2 else BETWEEN
    room = width - cell_len(between)
    if room < LEAST_END + min(SHORT_NAME, cell_len(names[-1])):
        return shorten(names[-1], width, ellipsis)
    first = shorten(names[0], max(LEAST_END, room - cell_len(names[-1])), ellipsis)
    return first + between + shorten(names[-1], room - cell_len(first), ellipsis)


def _with_gaps(names: Sequence[str], places: set[int], ellipsis: str) -> list[str]:
    """The names at the places, with an ellipsis wherever some between them are left out."""
    shown: list[str] = []
    for place, name in enumerate(names):
        if place in places:
            shown.append(name)
        elif shown and shown[-1] != ellipsis:
            shown.append(ellipsis)
    return shown


def _longest_name(names: Sequence[str], width: int) -> int:
    """To how many cells names may be long so that all of them fit."""
    lengths = [cell_len(name) for name in names]
    room = width - len(BETWEEN) * (len(names) - 1)
    low, high = 0, max(lengths, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(length, middle) for length in lengths) <= room:
            low = middle
        else:
            high = middle - 1
    return low


class RowList(ScrollView, can_focus=True):
    """A list of `Row`. Posts `Opened`, `Moved`, and `Edge` when the cursor leaves it."""

    app = getters.app(any_app)
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row-list--cursor",
        "row-list--dim",
        "row-list--warning",
        "row-list--error",
    }
    DEFAULT_CSS = """
    RowList {
        height: auto;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        & > .row-list--dim { color: $text-muted; }
        &:ansi > .row-list--dim { color: $foreground; text-style: dim; }
        & > .row-list--warning { color: $warning; }
        & > .row-list--error { color: $error; text-style: bold; }
        & > .row-list--cursor { text-style: none; }
        &:focus > .row-list--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
        &:nocolor:focus > .row-list--cursor { text-style: reverse; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]

    class Opened(Message):
        """The user opened a row."""

        def __init__(self, sender: "RowList", row: Row) -> None:
            super().__init__()
            self.list = sender
            self.row = row

        @property
        def control(self) -> "RowList":
            return self.list

    class Edge(Message):
        """The cursor was moved beyond the first (`down` False) or last row."""

        def __init__(self, sender: "RowList", *, down: bool) -> None:
            super().__init__()
            self.list = sender
            self.down = down

    def __init__(
        self,
        rows: Sequence[Row] = (),
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: tuple[Row, ...] = tuple(rows)
        self._heading = ""
        self._cursor = 0
        self._styles: dict[str, Style] = {}
        self.virtual_size = Size(0, len(self._rows))

    # ----------------------------------------------------------- content --

    @property
    def rows(self) -> tuple[Row, ...]:
        return self._rows

    @property
    def cursor(self) -> int:
        """Index of the row under the cursor."""
        return self._cursor

    @property
    def cursor_row(self) -> Row | None:
        return self._rows[self._cursor] if self._rows else None

    def set_rows(self, rows: Sequence[Row], heading: str = "") -> None:
        """Replace the rows; the cursor stays where it can. `heading` names the figures."""
        old, lines = self._rows, self._lines
        if heading != self._heading:
            self.refresh(Region(0, 0, self.size.width, 1))
        self._heading = heading
        self._rows = tuple(rows)
        self._cursor = min(self._cursor, max(0, len(self._rows) - 1))
        if self._lines != lines:
            self.virtual_size = Size(0, self._lines)
            self.refresh(layout=True)
            return
        for index, (before, after) in enumerate(zip(old, self._rows, strict=False)):
            if before != after:
                self._refresh_row(index)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._lines

    @property
    def _lines(self) -> int:
        return len(self._rows) + self._head

    @property
    def _head(self) -> int:
        """Lines the heading takes: it stays when the rows scroll."""
        return 1 if self._heading else 0

    # ------------------------------------------------------------- moving --

    def move_to(self, index: int) -> None:
        """Put the cursor on a row and bring it into view."""
        index = max(0, min(index, len(self._rows) - 1))
        if index != self._cursor:
            self._refresh_row(self._cursor)
            self._cursor = index
            self._refresh_row(index)
        self.scroll_to_region(Region(0, index, 1, 1 + self._head), animate=False, force=True)
        # A list as high as its rows scrolls with what it stands in.
        for box in self.ancestors:
            if isinstance(box, Widget) and box.allow_vertical_scroll:
                offset = box.scroll_offset - box.content_region.offset
                if self.region.height <= box.content_region.height:
                    # The whole list at once: moves inside it then repaint two lines, not a page.
                    shown = self.region.translate(offset)
                else:
                    at = self.content_region.offset + offset
                    shown = Region(at.x, at.y + self._head + index - self.scroll_offset.y, 1, 1)
                box.scroll_to_region(shown, animate=False, force=True)
                break

    def _refresh_row(self, index: int) -> None:
        y = self._head + index - self.scroll_offset.y
        self.refresh(Region(0, y, self.size.width, 1))

    def action_cursor_up(self) -> None:
        if self._cursor == 0:
            self.post_message(self.Edge(self, down=False))
        else:
            self.move_to(self._cursor - 1)

    def action_cursor_down(self) -> None:
        if self._cursor >= len(self._rows) - 1:
            self.post_message(self.Edge(self, down=True))
        else:
            self.move_to(self._cursor + 1)

    def action_page_up(self) -> None:
        self.move_to(self._cursor - max(1, self.size.height - 1))

    def action_page_down(self) -> None:
        self.move_to(self._cursor + max(1, self.size.height - 1))

    def action_cursor_first(self) -> None:
        self.move_to(0)

    def action_cursor_last(self) -> None:
        self.move_to(len(self._rows) - 1)

    def action_open(self) -> None:
        row = self.cursor_row
        if row is not None and row.target is not None:
            self.post_message(self.Opened(self, row))

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None or at.y < self._head:
            return
        index = at.y - self._head + self.scroll_offset.y
        if 0 <= index < len(self._rows):
            self.move_to(index)
            if event.chain == 2:
                self.action_open()

    # ------------------------------------------------------------ drawing --

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()

    def _style(self, name: str) -> Style:
        """The style of a part of the list; asking Textual for each line takes most of its time."""
        style = self._styles.get(name)
        if style is None:
            style = component_style(self, f"row-list--{name}" if name else "")
            self._styles[name] = style
        return style

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if y < self._head:
            text = fit(f" {self._heading}", width)
            return Strip([Segment(text, self._style("dim"))], width)
        index = y - self._head + self.scroll_offset.y
        if index >= len(self._rows):
            return Strip.blank(width, self._style(""))
        row = self._rows[index]
        text = f" {row.figures}{self._label(row, width - cell_len(row.figures) - 1)}"
        if index == self._cursor and self.has_focus:
            style = self._style("cursor")
        else:
            style = self._style("" if row.tone == "normal" else row.tone)
        return Strip([Segment(text, style)], width)

    def _label(self, row: Row, room: int) -> str:
        ellipsis = glyphs_of(self.app).ellipsis
        if row.parts:
            return fit(
                clean(fit_way(row.parts, room, ellipsis, row.minor)), room, ellipsis=ellipsis
            )
        if row.keep_end:
            return cut_start(clean(row.label), room, ellipsis)
        return fit(clean(row.label), room, ellipsis=ellipsis)
