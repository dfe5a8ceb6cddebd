"""What tree-table and table share: keys and mouse, scrolling, choosing the order."""

from abc import abstractmethod

from textual import events

from .columns import letter_choices, sort_letters
from .rows_window import RowsWindow
from .sources import ColumnSpec

WHEEL_LINES = 3


class RowsView(RowsWindow, can_focus=True):
    """Rows that keys and mouse move through."""

    @abstractmethod
    def sort_by(self, key: str, descending: bool) -> None:
        """Order the rows by a column."""

    @abstractmethod
    def action_open(self) -> None:
        """Open what the row stands for."""

    # ----------------------------------------------------------------- events --

    def on_resize(self, event: events.Resize) -> None:
        self.forget_layout()
        self._top = self._window_top(self._cursor, self._top)
        self.refresh()  # drawn at the new size already, but from the old top
        self.window_moved()

    def on_key(self, event: events.Key) -> None:
        """While the order is being chosen, the next key is a column's letter."""
        if not self._choosing or event.key == "s":
            return
        letters = sort_letters(self.columns)
        column = letters.get(event.character or "")
        if column is None and (event.character or "").isalpha():
            self.app.notify(letter_choices(self.columns), markup=False)
        else:
            self._stop_choosing()
            if column is not None:
                self._sort_column(self.columns[column])
            elif event.key != "escape":
                return
        event.stop()
        event.prevent_default()

    def on_blur(self) -> None:
        self._stop_choosing()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll_window(WHEEL_LINES)
        event.stop()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll_window(-WHEEL_LINES)
        event.stop()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None:
            return
        event.stop()
        if at.y == 0:
            column = self.layout_now.at(at.x - 1)
            if column is not None and column.spec.sortable:
                self._sort_column(column.spec)
            return
        if at.x == self.size.width - 1 and self.row_count > self.page_rows:
            share = (at.y - 1) / max(1, self.page_rows - 1)
            self.move_cursor(round(share * (self.row_count - 1)))
            return
        row = self._top + at.y - 1
        if row >= self.row_count:
            return
        self.move_cursor(row)
        if event.chain == 2:
            self.action_open()

    def _scroll_window(self, lines: int) -> None:
        height = self.page_rows
        top = min(max(self._top + lines, 0), max(0, self.row_count - height))
        if top == self._top:
            return
        cursor = min(max(self._cursor, top), top + height - 1)
        moved = cursor != self._cursor
        self._cursor = cursor
        self._move_window(top)
        if moved:
            self.cursor_moved()

    # ---------------------------------------------------------------- actions --

    def action_cursor_up(self) -> None:
        self.move_cursor(self._cursor - 1)

    def action_cursor_down(self) -> None:
        self.move_cursor(self._cursor + 1)

    def action_page_up(self) -> None:
        self._page(-1)

    def action_page_down(self) -> None:
        self._page(1)

    def action_cursor_first(self) -> None:
        self.move_cursor(0)

    def action_cursor_last(self) -> None:
        self.move_cursor(self.row_count - 1)

    def _page(self, direction: int) -> None:
        step = direction * max(1, self.page_rows - 1)
        last_top = max(0, self.row_count - self.page_rows)
        target = min(max(self._cursor + step, 0), max(0, self.row_count - 1))
        top = min(max(self._top + step, 0), last_top)
        if top != self._top and target != self._cursor:
            self._move_window(top)
        self.move_cursor(target)

    def action_sort(self) -> None:
        """Show the columns' letters; pressed again, sort by the next column."""
        if self._choosing:
            self._sort_next()
        else:
            self._choosing = True
            self.refresh_header()

    def action_reverse(self) -> None:
        key, descending = self.order
        self.sort_by(key, not descending)

    def _sort_next(self) -> None:
        sortable = [column for column in self.columns if column.sortable]
        if not sortable:
            return
        keys = [column.key for column in sortable]
        at = keys.index(self.order[0]) if self.order[0] in keys else -1
        column = sortable[(at + 1) % len(sortable)]
        self.sort_by(column.key, column.align == "right")

    def _sort_column(self, column: ColumnSpec) -> None:
        """Numbers start with the largest, texts with the first; again turns the order round."""
        key, descending = self.order
        self.sort_by(column.key, not descending if key == column.key else column.align == "right")

    def _stop_choosing(self) -> None:
        if self._choosing:
            self._choosing = False
            self.refresh_header()
