"""A tree whose rows carry columns of figures: the call paths."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType

from ..keys import bindings
from .columns import Layout, place_by_rank
from .fit import cells, clean, fit, shorten, skip
from .rows import RowsView
from .rows_window import Piece
from .sources import ColumnSpec, TreeLine, TreeSource

MARGIN_ROWS = 8
"""Rows fetched beyond those in sight, on either side."""
LABEL_STEP = 16
"""Cells by which long labels move sideways."""
LEAST_LABEL = 14
"""Cells that a label keeps beside a long note, or half of the room."""


class TreeTable(RowsView):
    """Draws a `TreeSource`: figures at the left, labels indented by depth at the right.

    The cursor stays on its node when rows come and go. Whoever changes the source (filter, order,
    hot path) calls `reload` afterwards, or `select` to put the cursor on another node.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tree")]

    LAYERS: ClassVar[dict[str, str]] = {
        "kernel": "rows--accent",
        "copy": "rows--accent",
        "orphan": "rows--warning",
    }
    """Component class of the labels of a layer; others have the text's own colour."""

    class Highlighted(RowsView.RowMessage):
        """Another node has the cursor. `node` is -1 when there is no row."""

        def __init__(self, view: "TreeTable", row: int, node: int) -> None:
            super().__init__(view, row)
            self.node = node

    class Opened(RowsView.RowMessage):
        """A node was opened by Enter or a double click."""

        def __init__(self, view: "TreeTable", row: int, node: int) -> None:
            super().__init__(view, row)
            self.node = node

    class Reordered(RowsView.RowMessage):
        """The user changed the order."""

        def __init__(self, view: "TreeTable", row: int, key: str, descending: bool) -> None:
            super().__init__(view, row)
            self.key = key
            self.descending = descending

    class Recounted(RowsView.RowMessage):
        """There are more or fewer rows than before, whatever the reason."""

    def __init__(
        self,
        source: TreeSource,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._source = source
        self._count = source.row_count()
        self._lines: Sequence[TreeLine] = ()
        self._first_line = 0
        self._node = -1
        self._label_x = 0
        self._needle = ""

    # --------------------------------------------------------------- contents --

    @property
    def source(self) -> TreeSource:
        return self._source

    @property
    def row_count(self) -> int:
        return self._count

    @property
    def columns(self) -> Sequence[ColumnSpec]:
        return (*self._source.columns, self._source.label_column)

    @property
    def order(self) -> tuple[str, bool]:
        return self._source.order

    @property
    def cursor_node(self) -> int:
        """Node with the cursor, -1 when the tree shows none."""
        return self._node

    @property
    def cursor_line(self) -> TreeLine | None:
        """The row with the cursor."""
        return self.line(self.cursor)

    def on_mount(self) -> None:
        self._follow_cursor()

    def set_source(self, source: TreeSource, node: int = -1) -> None:
        """Show another tree, with the cursor on `node` or its nearest visible ancestor."""
        self._source = source
        self._node = -1
        self._label_x = 0
        self.forget_layout()
        self._changed(node, keep_offset=False)

    def reload(self) -> None:
        """Draw the source anew after it changed; the cursor stays on its node.

        When the node is no longer visible its nearest visible ancestor gets the cursor."""
        self.forget_layout()
        self._changed(self._node, keep_offset=True)

    def select(self, node: int) -> None:
        """Put the cursor on a node that the source shows (or on its nearest visible ancestor)."""
        self._changed(node, keep_offset=False)

    def highlight(self, needle: str) -> None:
        """Underline the places where labels contain the text, whatever its case."""
        if needle.casefold() != self._needle:
            self._needle = needle.casefold()
            self.refresh()

    def _changed(self, node: int, *, keep_offset: bool) -> None:
        offset = self.cursor - self.top
        count, self._count = self._count, self._source.row_count()
        if count != self._count:
            self.post_message(self.Recounted(self, self.cursor))
        self._lines = ()
        row = -1
        while node >= 0 and (row := self._source.row_of(node)) < 0:
            node = self._source.parent(node)
        if row < 0:
            row = min(self.cursor, self._count - 1) if keep_offset else 0
        self.set_cursor(row, offset=offset if keep_offset else None)

    def _follow_cursor(self) -> None:
        line = self.cursor_line
        node = -1 if line is None else line.node
        if node != self._node:
            self._node = node
            self.post_message(self.Highlighted(self, self.cursor, node))

    def cursor_moved(self) -> None:
        self._follow_cursor()

    def sort_by(self, key: str, descending: bool) -> None:
        self._source.sort_by(key, descending)
        self.reload()
        self.post_message(self.Reordered(self, self.cursor, key, descending))

    def line(self, row: int) -> TreeLine | None:
        """A row, fetched with those around it; None beyond the end."""
        if not 0 <= row < self._count:
            return None
        if not 0 <= row - self._first_line < len(self._lines):
            self._first_line = max(0, min(row, self.top) - MARGIN_ROWS)
            last = max(row, self.top + self.page_rows) + MARGIN_ROWS
            if last - self._first_line > 2 * (self.page_rows + MARGIN_ROWS):
                self._first_line, last = max(0, row - MARGIN_ROWS), row + MARGIN_ROWS
            self._lines = self._source.rows(self._first_line, last - self._first_line)
        at = row - self._first_line
        return self._lines[at] if at < len(self._lines) else None

    # ---------------------------------------------------------------- actions --

    def action_open(self) -> None:
        if self._node >= 0:
            self.post_message(self.Opened(self, self.cursor, self._node))

    def action_unfold(self) -> None:
        line = self.cursor_line
        if line is None:
            return
        if line.state == "closed":
            self._source.expand(line.node)
            self.reload()
        elif line.state == "open":
            self.action_cursor_down()
        else:
            self.action_label_right()

    def action_fold(self) -> None:
        line = self.cursor_line
        if line is None:
            return
        if self._label_x:
            self.action_label_left()
        elif line.state == "open":
            self._source.collapse(line.node)
            self.reload()
        elif (parent := self._source.parent(line.node)) >= 0:
            row = self._source.row_of(parent)
            if row >= 0:
                self.move_cursor(row)

    def action_toggle_fold(self) -> None:
        line = self.cursor_line
        if line is None or line.state == "leaf":
            return
        if line.state == "closed":
            self._source.expand(line.node)
        else:
            self._source.collapse(line.node)
        self.reload()

    def action_expand_subtree(self) -> None:
        if self._node >= 0:
            self._source.expand_subtree(self._node)
            self.reload()

    def action_expand_all(self) -> None:
        self._source.expand_all()
        self.reload()

    def action_collapse_all(self) -> None:
        self._source.collapse_all()
        self.reload()

    def action_label_right(self) -> None:
        """Move the labels until the longest one in sight shows its end."""
        layout = self.layout_now
        width = layout.placed[-1].width
        longest = 0
        for row in range(self.top, min(self.top + self.page_rows, self._count)):
            line = self.line(row)
            if line is not None:
                longest = max(longest, cells(self._lead(line, width)) + cells(line.label))
        if self._label_x + width < longest:
            self._label_x += LABEL_STEP
            self.refresh()

    def action_label_left(self) -> None:
        if self._label_x:
            self._label_x = max(0, self._label_x - LABEL_STEP)
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click on the sign before a label folds or unfolds it."""
        at = event.get_content_offset(self)
        if at is None or at.y == 0:
            return
        line = self.line(self.top + at.y - 1)
        label = self.layout_now.placed[-1]
        if line is None or self._label_x:
            return
        sign = 1 + label.x + cells(self._indent(line, label.width))
        if at.x == sign:
            self.move_cursor(self.top + at.y - 1)
            self.action_toggle_fold()
            event.prevent_default()
            event.stop()

    # --------------------------------------------------------------- painting --

    def make_layout(self, width: int) -> Layout:
        label = self._source.label_column
        flexible = ColumnSpec(
            label.key,
            label.header,
            max(label.width, width * 2 // 5),  # names before figures, also in a wide terminal
            align="left",
            flexible=True,
            sortable=label.sortable,
        )
        return place_by_rank((*self._source.columns, flexible), width, self.order[0])

    def row_pieces(self, row: int, layout: Layout) -> tuple[list[Piece], bool]:
        line = self.line(row)
        if line is None:
            return [Piece(" " * layout.width)], False
        style = "rows--dim" if line.dim else ""
        label = layout.placed[-1]
        pieces = self.cell_pieces(layout, line.cells, line.share, style, label.x)
        pieces += self._label_pieces(line, label.width, style)
        return pieces, line.marked

    def _indent(self, line: TreeLine, width: int) -> str:
        """Blanks by depth: two cells a level, then one; where even these would leave no room for
        the label, the number of the level."""
        most = max(6, width // 3)
        wide = most // 4 if width >= 48 else 0
        indent = line.depth + min(line.depth, wide)
        if indent <= most:
            return " " * indent
        return f"{self.glyphs.ellipsis}{line.depth} ".rjust(most)

    def _lead(self, line: TreeLine, width: int) -> str:
        glyphs = self.glyphs
        sign = {"open": glyphs.opened, "closed": glyphs.closed, "leaf": glyphs.leaf}[line.state]
        tag = f"{clean(line.tag)} " if line.tag else ""
        return f"{self._indent(line, width)}{sign} {tag}"

    def _label_pieces(self, line: TreeLine, width: int, style: str) -> list[Piece]:
        ellipsis = self.glyphs.ellipsis
        label, note = clean(line.label), clean(line.note)
        lead = self._lead(line, width)
        label_style = style or self.LAYERS.get(line.layer, "")
        if self._label_x:
            lead, label = skip(lead, self._label_x), skip(label, self._label_x - cells(lead))
        room = width - cells(lead) - (cells(note) + 1 if note else 0)
        # The note's end gives way before what names the row.
        room = max(room, 4, min(LEAST_LABEL, (width - cells(lead)) // 2))
        label = label if self._label_x else shorten(label, room, ellipsis)
        pieces = [Piece(lead, style)]
        if not self._needle or self._needle not in (folded := label.casefold()):
            pieces.append(Piece(label, label_style))
        elif len(folded) == len(label):
            pieces += self._matches(label, folded, label_style)
        else:
            pieces.append(Piece(label, "rows--match"))
        if note:
            pieces.append(Piece(f" {note}", style))
        return _in_width(pieces, width, ellipsis)

    def _matches(self, label: str, folded: str, style: str) -> list[Piece]:
        pieces: list[Piece] = []
        start = 0
        while (at := folded.find(self._needle, start)) >= 0:
            end = at + len(self._needle)
            pieces += [Piece(label[start:at], style), Piece(label[at:end], "rows--match")]
            start = end
        return [*pieces, Piece(label[start:], style)]


def _in_width(pieces: list[Piece], width: int, ellipsis: str) -> list[Piece]:
    """The pieces cut or padded to exactly `width` cells."""
    kept: list[Piece] = []
    used = 0
    for piece in pieces:
        taken = cells(piece.text)
        if used + taken > width:
            kept.append(Piece(fit(piece.text, width - used, "left", ellipsis), piece.style))
            return kept
        kept.append(piece)
        used += taken
    if used < width:
        kept.append(Piece(" " * (width - used)))
    return kept
