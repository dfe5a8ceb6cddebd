"""What tree-table and table share: cursor, scrolling, headings, choosing the order, painting.

Lines are drawn one by one (Textual's line API); nothing is kept for rows that are not in sight.
Over SSH bytes count more than milliseconds, so a move inside the window redraws two lines, the
window moves by half its height when the cursor leaves it, and a line has few styles.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import getters
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from .columns import Layout, header_line, sort_letters
from .fit import bar, clean, fit, wrap
from .glyphs import Glyphs, glyphs_of
from .host import any_app
from .paint import component_style
from .sources import ColumnSpec

EDGE_CELLS = 3
"""The mark at the left of a line; a blank and the scroll position at the right."""


class Piece(NamedTuple):
    """A stretch of a line in one style: a name of `RowsWindow.COMPONENT_CLASSES`, or nothing."""

    text: str
    style: str = ""


class RowsWindow(Widget):
    """A line of headings and the rows in sight under it, one of which has the cursor."""

    app = getters.app(any_app)

    ALLOW_MAXIMIZE = True

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--header",
        "rows--cursor",
        "rows--dim",
        "rows--bar",
        "rows--match",
        "rows--warning",
        "rows--accent",
    }

    DEFAULT_CSS = """
    RowsWindow {
        width: 1fr;
        height: 1fr;
        overflow: hidden hidden;
        & > .rows--header { color: $text-muted; text-style: bold; }
        & > .rows--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .rows--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .rows--dim { color: $text-muted; }
        & > .rows--bar { color: $primary; }
        & > .rows--match { color: $text-accent; text-style: bold underline; }
        & > .rows--warning { color: $text-warning; }
        & > .rows--accent { color: $text-primary; }
        &:ansi > .rows--header { color: $foreground; }
        &:ansi > .rows--dim { color: $foreground; text-style: dim; }
        &:nocolor > .rows--cursor { text-style: underline; }
        &:nocolor:focus > .rows--cursor { text-style: reverse; }
    }
    """

    empty_text: reactive[str] = reactive("")
    """What is said in place of rows when there are none: why, and what to do."""

    class RowMessage(Message):
        """A message about one row of a view."""

        def __init__(self, view: "RowsWindow", row: int) -> None:
            self.view = view
            self.row = row
            super().__init__()

        @property
        def control(self) -> "RowsWindow":
            return self.view

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._cursor = 0
        self._top = 0
        self._choosing = False
        self._placed: Layout | None = None
        self._rich_styles: dict[str, Style] = {}

    # ------------------------------------------------------------- to fill in --

    @property
    @abstractmethod
    def row_count(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def columns(self) -> Sequence[ColumnSpec]:
        """All columns, shown or not."""

    @property
    @abstractmethod
    def order(self) -> tuple[str, bool]:
        """Key of the column the rows are ordered by, and whether descending."""

    @abstractmethod
    def make_layout(self, width: int) -> Layout:
        """The columns shown in a line of that many cells."""

    @abstractmethod
    def row_pieces(self, row: int, layout: Layout) -> tuple[list[Piece], bool]:
        """What the row shows in `layout.width` cells, and whether it bears the mark."""

    @abstractmethod
    def cursor_moved(self) -> None:
        """Called whenever another row has the cursor."""

    def window_moved(self) -> None:
        """Called whenever other rows may have come in sight."""

    # ------------------------------------------------------------------ state --

    @property
    def cursor(self) -> int:
        """Row of the cursor."""
        return self._cursor

    @property
    def top(self) -> int:
        """First row in sight."""
        return self._top

    @property
    def page_rows(self) -> int:
        """Rows in sight."""
        return max(1, self.size.height - 1)

    @property
    def choosing_order(self) -> bool:
        """Whether the next key chooses the column to sort by."""
        return self._choosing

    @property
    def glyphs(self) -> Glyphs:
        return glyphs_of(self.app)

    @property
    def layout_now(self) -> Layout:
        """The columns at the present width: lines are drawn before `Resize` tells of another."""
        width = max(1, self.size.width - EDGE_CELLS)
        if self._placed is None or self._placed.width != width:
            self._placed = self.make_layout(width)
        return self._placed

    def forget_layout(self) -> None:
        """Place the columns anew at the next drawing."""
        self._placed = None

    def set_cursor(self, row: int, *, offset: int | None = None) -> None:
        """Put the cursor on a row, `offset` lines below the top if given, and redraw everything.

        For rows that changed under the cursor; keys use `move_cursor`."""
        last = max(0, self.row_count - 1)
        self._cursor = min(max(row, 0), last)
        if offset is not None:
            self._top = self._cursor - offset
        self._top = self._window_top(self._cursor, self._top)
        self.refresh()
        self.window_moved()
        self.cursor_moved()

    def move_cursor(self, row: int) -> None:
        """Move the cursor; the window follows by half its height when the row is outside it."""
        row = min(max(row, 0), max(0, self.row_count - 1))
        if row == self._cursor:
            return
        old, self._cursor = self._cursor, row
        top = self._window_top(row, self._top)
        if top != self._top:
            self._move_window(top)
        else:
            self._refresh_row(old)
            self._refresh_row(row)
        self.cursor_moved()

    def _window_top(self, row: int, top: int) -> int:
        height = self.page_rows
        if row < top:
            top = row if row < top - height else row - height // 2
        elif row >= top + height:
            top = row - height + 1 if row >= top + 2 * height else row - (height - 1) // 2
        return min(max(top, 0), max(0, self.row_count - height))

    def _refresh_row(self, row: int) -> None:
        self.refresh(Region(0, row - self._top + 1, self.size.width, 1))

    def _move_window(self, top: int) -> None:
        self._top = top
        self.refresh_rows()
        self.window_moved()

    def refresh_rows(self) -> None:
        self.refresh(Region(0, 1, self.size.width, self.page_rows))

    def refresh_header(self) -> None:
        self.refresh(Region(0, 0, self.size.width, 1))

    # --------------------------------------------------------------- painting --

    def notify_style_update(self) -> None:
        self._rich_styles.clear()
        super().notify_style_update()

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def style_named(self, name: str) -> Style:
        """The style of a component class on the widget's own background."""
        style = self._rich_styles.get(name)
        if style is None:
            style = self._rich_styles[name] = component_style(self, name)
        return style

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if width <= EDGE_CELLS:
            return Strip.blank(width, self.style_named(""))
        if y == 0:
            return self._render_header(width)
        row = self._top + y - 1
        if row >= self.row_count:
            lines = [] if self.row_count else wrap(self.empty_text, width - EDGE_CELLS)
            text = f" {lines[row]}" if row < len(lines) else ""
            return Strip([Segment(fit(text, width), self.style_named(""))], width)
        pieces, marked = self.row_pieces(row, self.layout_now)
        edge = " " + self._thumb(y - 1)
        glyphs = self.glyphs
        if row == self._cursor:
            text = glyphs.cursor + "".join(piece.text for piece in pieces) + edge
            return Strip([Segment(text, self.style_named("rows--cursor"))], width)
        segments: list[Segment] = []
        text, style = (glyphs.mark if marked else " "), pieces[0].style if pieces else ""
        for piece in (*pieces, Piece(edge)):
            # Blanks look the same in any style but the underlined one.
            blank = not piece.text.strip() and style != "rows--match"
            if piece.style == style or blank:
                text += piece.text
            elif not text.strip():
                text, style = text + piece.text, piece.style
            else:
                segments.append(Segment(text, self.style_named(style)))
                text, style = piece.text, piece.style
        segments.append(Segment(text, self.style_named(style)))
        return Strip(segments, width)

    def _render_header(self, width: int) -> Strip:
        layout = self.layout_now
        letters = sort_letters(self.columns) if self._choosing else None
        more = self.glyphs.more_left if layout.hidden_left else " "
        text = more + header_line(layout, self.order, self.glyphs, letters) + "  "
        return Strip([Segment(text, self.style_named("rows--header"))], width)

    def _thumb(self, line: int) -> str:
        """The scroll position: part of a bar at the right edge, nothing when all rows fit."""
        count, height = self.row_count, self.page_rows
        if count <= height:
            return " "
        length = max(1, height * height // count)
        start = round(self._top / (count - height) * (height - length))
        return self.glyphs.thumb if start <= line < start + length else " "

    def cell_pieces(
        self, layout: Layout, cells: Sequence[str], share: float | None, style: str, end: int
    ) -> list[Piece]:
        """The columns that have a text in `cells`, and blanks up to cell `end` of the line."""
        pieces: list[Piece] = []
        glyphs = self.glyphs
        text, x = "", 0
        for column in layout.placed:
            if column.index >= len(cells):
                continue
            spec, width = column.spec, column.width
            text += " " * (column.x - x)
            x = column.x + width
            if spec.bar and width > spec.bar:
                drawn = bar(share, spec.bar, glyphs.blocks)
                pieces += [Piece(text, style), Piece(drawn, "rows--bar")]
                text, width = "", width - spec.bar
            text += fit(clean(cells[column.index]), width, spec.align, glyphs.ellipsis)
        pieces.append(Piece(text + " " * (end - x), style))
        return pieces
