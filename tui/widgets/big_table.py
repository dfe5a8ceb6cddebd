"""A table of any number of rows, of which only the pages in sight are held."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from ..keys import bindings
from .columns import Layout, place_from
from .fit import fit
from .rows import RowsView
from .rows_window import Piece
from .sources import ColumnSpec, TableRow

PAGE_ROWS = 200
CACHED_PAGES = 16
PAGES_UNDER_WAY = 2
"""Pages asked for at a time. While a key is held down, pages that have left the window by the
time an answer comes are never asked for."""


class BigTable(RowsView):
    """Rows come in pages: the table posts `PageWanted`, its owner answers with `deliver`.

    Until then placeholders are drawn and every key works. A page that cannot be had is answered
    with `withdraw`, so that it can be asked for again. `reset` begins a new generation (other
    rows, another order); pages of older generations are dropped on arrival. The table never sorts:
    it posts `SortWanted`, and its owner answers with `reset`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("table")]

    class PageWanted(Message):
        """Rows [first, first + count) of this generation are in sight, or soon will be."""

        def __init__(self, view: "BigTable", generation: int, first: int, count: int) -> None:
            self.view = view
            self.generation = generation
            self.first = first
            self.count = count
            super().__init__()

        @property
        def control(self) -> "BigTable":
            return self.view

    class SortWanted(RowsView.RowMessage):
        """The user asked for another order. `row_key` is the cursor's row, None if unknown."""

        def __init__(
            self, view: "BigTable", row: int, row_key: int | None, key: str, descending: bool
        ) -> None:
            super().__init__(view, row)
            self.row_key = row_key
            self.key = key
            self.descending = descending

    class Highlighted(RowsView.RowMessage):
        """Another row has the cursor, and its contents are there."""

        def __init__(self, view: "BigTable", row: int, row_key: int) -> None:
            super().__init__(view, row)
            self.row_key = row_key

    class Opened(RowsView.RowMessage):
        """A row was opened by Enter or a double click."""

        def __init__(self, view: "BigTable", row: int, row_key: int) -> None:
            super().__init__(view, row)
            self.row_key = row_key

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._columns: tuple[ColumnSpec, ...] = ()
        self._count = 0
        self._order = ("", True)
        self._generation = 0
        self._pages: OrderedDict[int, Sequence[TableRow]] = OrderedDict()
        self._under_way: set[int] = set()
        self._told: tuple[int, int] | None = None
        self._first_column = 0

    # --------------------------------------------------------------- contents --

    @property
    def row_count(self) -> int:
        return self._count

    @property
    def columns(self) -> Sequence[ColumnSpec]:
        return self._columns

    @property
    def order(self) -> tuple[str, bool]:
        return self._order

    @property
    def generation(self) -> int:
        """Number of the latest `reset`."""
        return self._generation

    @property
    def cursor_row(self) -> TableRow | None:
        """The row with the cursor; None while its page is not there."""
        return self.row(self.cursor)

    def reset(
        self,
        columns: Sequence[ColumnSpec],
        row_count: int,
        *,
        sort_key: str = "",
        descending: bool = True,
        cursor: int | None = None,
    ) -> int:
        """Begin anew with other rows, the cursor on row `cursor` (the same row number if None).

        Returns the generation that deliveries have to name."""
        self._generation += 1
        self._columns = tuple(columns)
        self._count = row_count
        self._order = (sort_key, descending)
        self._pages.clear()
        self._under_way.clear()
        self._told = None
        self._first_column = min(self._first_column, max(0, len(self._columns) - 1))
        self.forget_layout()
        offset = self.cursor - self.top
        self.set_cursor(self.cursor if cursor is None else cursor, offset=offset)
        return self._generation

    def show(
        self,
        columns: Sequence[ColumnSpec],
        rows: Sequence[TableRow],
        *,
        sort_key: str = "",
        descending: bool = True,
        cursor: int | None = None,
    ) -> None:
        """Begin anew with rows that are all there already."""
        self.reset(columns, 0, sort_key=sort_key, descending=descending, cursor=0)
        self._count = len(rows)
        # One page more than there are: all rows stay, whatever the cache's size.
        self._pages = OrderedDict({-1: rows})
        self.set_cursor(self.cursor if cursor is None else cursor)

    def deliver(self, generation: int, first: int, rows: Sequence[TableRow]) -> None:
        """Hand over the page that begins at row `first`. On the application's thread."""
        if generation != self._generation:
            return
        page = first // PAGE_ROWS
        self._under_way.discard(page)
        self._pages[page] = rows
        in_sight = self._pages_in_sight()
        for old in list(self._pages):
            if len(self._pages) <= CACHED_PAGES:
                break
            if old not in in_sight:
                del self._pages[old]
        if page in in_sight:
            self.refresh_rows()
        self._want_pages()
        self._follow_cursor()

    def withdraw(self, generation: int, first: int) -> None:
        """Answer a wish that cannot be met; the page is asked for again at the next move."""
        if generation == self._generation:
            self._under_way.discard(first // PAGE_ROWS)

    def row(self, row: int) -> TableRow | None:
        """A row, None while its page is not there or beyond the end."""
        if not 0 <= row < self._count:
            return None
        whole = self._pages.get(-1)
        if whole is not None:
            return whole[row]
        number, at = divmod(row, PAGE_ROWS)
        page = self._pages.get(number)
        return page[at] if page is not None and at < len(page) else None

    def sort_by(self, key: str, descending: bool) -> None:
        row = self.cursor_row
        self._order = (key, descending)
        self.refresh_header()
        self.post_message(
            self.SortWanted(self, self.cursor, None if row is None else row.key, key, descending)
        )

    def cursor_moved(self) -> None:
        self._follow_cursor()

    def window_moved(self) -> None:
        self._want_pages()

    def _follow_cursor(self) -> None:
        row = self.cursor_row
        if row is not None and (told := (self.cursor, row.key)) != self._told:
            self._told = told
            self.post_message(self.Highlighted(self, self.cursor, row.key))

    def _pages_in_sight(self) -> range:
        last = min(self.top + self.page_rows, self._count) - 1
        return range(self.top // PAGE_ROWS, last // PAGE_ROWS + 1)

    def _want_pages(self) -> None:
        """Ask for what is in sight; only when that is there, for the page the window nears."""
        if -1 in self._pages or not self.size.height:
            return
        in_sight = self._pages_in_sight()
        missing = [page for page in in_sight if page not in self._pages]
        for page in in_sight:
            if page in self._pages:
                self._pages.move_to_end(page)
        if not missing:
            near = self.page_rows
            missing = [
                row // PAGE_ROWS
                for row in (self.top + 2 * near, self.top - near)
                if 0 <= row < self._count and row // PAGE_ROWS not in self._pages
            ]
        for page in missing:
            if page in self._under_way:
                continue
            if len(self._under_way) >= PAGES_UNDER_WAY:
                return
            self._under_way.add(page)
            first = page * PAGE_ROWS
            count = min(PAGE_ROWS, self._count - first)
            self.post_message(self.PageWanted(self, self._generation, first, count))

    # ---------------------------------------------------------------- actions --

    def action_open(self) -> None:
        row = self.cursor_row
        if row is not None:
            self.post_message(self.Opened(self, self.cursor, row.key))

    def action_columns_right(self) -> None:
        if self.layout_now.hidden_right:
            self._scroll_columns(1)

    def action_columns_left(self) -> None:
        if self._first_column:
            self._scroll_columns(-1)

    def _scroll_columns(self, step: int) -> None:
        self._first_column += step
        self.forget_layout()
        self.refresh()

    # --------------------------------------------------------------- painting --

    def make_layout(self, width: int) -> Layout:
        return place_from(self._columns, width, self._first_column)

    def row_pieces(self, row: int, layout: Layout) -> tuple[list[Piece], bool]:
        contents = self.row(row)
        if contents is None:
            ellipsis = self.glyphs.ellipsis
            text = "".join(fit(ellipsis, c.width, c.spec.align) + " " for c in layout.placed)
            return [Piece(text[: layout.width].ljust(layout.width), "rows--dim")], False
        style = "rows--dim" if contents.dim else ""
        pieces = self.cell_pieces(layout, contents.cells, contents.share, style, layout.width)
        return pieces, contents.marked
