"""A tree and a table of any size, and an application that shows one of them.

Run as `python -m tests.tui.rows_app tree|table ROWS [THEME]` for the tests in a pty.
"""

import sys
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from textual import on
from textual.app import App, ComposeResult
from textual.message import Message

from dctx.native import TreeModel
from dctx.tui.widgets.big_table import BigTable
from dctx.tui.widgets.sources import ColumnSpec, TableRow, TreeLine
from dctx.tui.widgets.tree_table import TreeTable

TREE_COLUMNS = (
    ColumnSpec("share", "incl %", 12, bar=5),
    ColumnSpec("gpu", "GPU µs", 10),
    ColumnSpec("self", "self µs", 10, rank=2),
    ColumnSpec("calls", "calls", 8, rank=1),
    ColumnSpec("kernels", "kernels", 8, rank=3),
)
TABLE_COLUMNS = (
    ColumnSpec("name", "kernel", 30, align="left", flexible=True),
    ColumnSpec("start", "start ms", 12),
    ColumnSpec("dur", "duration µs", 12),
    ColumnSpec("share", "share", 12, bar=5),
    ColumnSpec("grid", "grid", 14, align="left", sortable=False),
    ColumnSpec("device", "device", 7),
)


class ListTree:
    """A tree in plain lists: node i has the children `fan * i + 1 ... fan * i + fan`."""

    def __init__(self, size: int, fan: int = 4) -> None:
        self.size = size
        self.fan = fan
        self.opened: set[int] = set()
        self.key, self.descending = "gpu", True
        self.fetched: list[tuple[int, int]] = []
        self.hidden: set[int] = set()
        self._visible: list[int] = []
        self._list()

    columns: Sequence[ColumnSpec] = TREE_COLUMNS
    label_column = ColumnSpec("label", "path", 30, sortable=False)

    @property
    def order(self) -> tuple[str, bool]:
        return self.key, self.descending

    def sort_by(self, key: str, descending: bool) -> None:
        self.key, self.descending = key, descending
        self._list()

    def children(self, node: int) -> list[int]:
        first = self.fan * node + 1
        inside = range(first, min(first + self.fan, self.size))
        return [child for child in inside if child not in self.hidden]

    def hide(self, nodes: set[int]) -> None:
        """Filter: leave out these nodes and all below them."""
        self.hidden = nodes
        self._list()

    def _list(self) -> None:
        stack, self._visible = [0], []
        while stack:
            node = stack.pop()
            self._visible.append(node)
            if node in self.opened:
                children = self.children(node)
                # The smaller number is the larger value; the stack turns the order round.
                stack += children[::-1] if self.descending else children
        self._rows = {node: row for row, node in enumerate(self._visible)}

    def row_count(self) -> int:
        return len(self._visible)

    def rows(self, first: int, count: int) -> Sequence[TreeLine]:
        self.fetched.append((first, count))
        return [self._line(node) for node in self._visible[first : first + count]]

    def _line(self, node: int) -> TreeLine:
        depth, above = 0, node
        while above:
            depth, above = depth + 1, (above - 1) // self.fan
        share = self.fan**-depth
        state: Literal["open", "closed", "leaf"] = (
            "leaf" if not self.children(node) else "open" if self.is_open(node) else "closed"
        )
        cells = (f"{share * 100:.1f}", f"{share * 1e6:.1f}", "0.0", f"{node % 97}", f"{node}")
        layer = "kernel" if state == "leaf" else ""
        label = f"void cutlass::gemm_{node}<float, {depth}>(Params)"
        return TreeLine(node, depth, state, label, cells, share, layer)

    def is_open(self, node: int) -> bool:
        return node in self.opened

    def row_of(self, node: int) -> int:
        return self._rows.get(node, -1)

    def parent(self, node: int) -> int:
        return (node - 1) // self.fan if node else -1

    def expand(self, node: int) -> None:
        self.opened.add(node)
        self._list()

    def collapse(self, node: int) -> None:
        self.opened.discard(node)
        self._list()

    def expand_subtree(self, node: int) -> None:
        stack = [node]
        while stack:
            top = stack.pop()
            self.opened.add(top)
            stack += self.children(top)
        self._list()

    def expand_all(self) -> None:
        self.opened = set(range(self.size))
        self._list()

    def collapse_all(self) -> None:
        self.opened.clear()
        self._list()


class ModelTree(ListTree):
    """The same tree, its rows kept by the native model."""

    def __init__(self, size: int, fan: int = 4) -> None:
        nodes = np.arange(size, dtype=np.int64)
        self.model = TreeModel(((nodes - 1) // fan).astype(np.int32))
        self.weights: dict[str, NDArray[np.int64]] = {"gpu": -nodes, "calls": nodes % 97}
        super().__init__(size, fan)

    def _list(self) -> None:
        self.model.set_order(self.weights.get(self.key, -self.weights["gpu"]), self.descending)

    def row_count(self) -> int:
        return self.model.row_count()

    def rows(self, first: int, count: int) -> Sequence[TreeLine]:
        self.fetched.append((first, count))
        nodes: list[int] = self.model.rows(first, count).tolist()
        return [self._line(node) for node in nodes]

    def is_open(self, node: int) -> bool:
        return self.model.is_expanded(node)

    def row_of(self, node: int) -> int:
        return self.model.row_of(node)

    def expand(self, node: int) -> None:
        self.model.expand(node)

    def collapse(self, node: int) -> None:
        self.model.collapse(node)

    def expand_subtree(self, node: int) -> None:
        self.model.expand_subtree(node)

    def expand_all(self) -> None:
        self.model.expand_all()

    def collapse_all(self) -> None:
        self.model.collapse_all()


class ChainTree(ListTree):
    """Every node has one child: as deep as it is long."""

    def __init__(self, size: int) -> None:
        super().__init__(size, fan=1)


def table_row(row: int) -> TableRow:
    """The row of that number of a table of invented launches."""
    name = f"ampere_bf16_s16816gemm_{row % 41}x128_ldg8_relu_f2f_stages_64x3_tn"
    share = (row * 7919 % 1000) / 1000
    cells = (
        name,
        f"{row / 1000:.3f}",
        f"{row * 31 % 9973:.1f}",
        f"{share:.1%}",
        f"({row % 132},1,1)",
        str(row % 2),
    )
    return TableRow(row, cells, share)


class TreeApp(App[None]):
    """A tree that fills the screen; records the messages it posts."""

    CSS = "TreeTable { height: 1fr; }"

    def __init__(self, tree: ListTree, *, ascii_only: bool = False) -> None:
        super().__init__()
        self.shown = tree
        self.ascii_only = ascii_only
        self.told: list[Message] = []

    def compose(self) -> ComposeResult:
        yield TreeTable(self.shown)

    @property
    def view(self) -> TreeTable:
        return self.query_one(TreeTable)

    @on(TreeTable.Highlighted)
    @on(TreeTable.Opened)
    @on(TreeTable.Reordered)
    def record(self, message: Message) -> None:
        self.told.append(message)


class TableApp(App[None]):
    """A table of invented launches. `answering` False leaves the pages asked for unanswered."""

    def __init__(self, rows: int, *, answering: bool = True, ascii_only: bool = False) -> None:
        super().__init__()
        self.rows = rows
        self.answering = answering
        self.ascii_only = ascii_only
        self.told: list[Message] = []
        self.wanted: list[BigTable.PageWanted] = []

    def compose(self) -> ComposeResult:
        yield BigTable()

    def on_mount(self) -> None:
        self.view.reset(TABLE_COLUMNS, self.rows, sort_key="start", descending=False)

    @property
    def view(self) -> BigTable:
        return self.query_one(BigTable)

    @on(BigTable.PageWanted)
    def page_wanted(self, message: BigTable.PageWanted) -> None:
        self.wanted.append(message)
        if self.answering:
            self.answer(message)

    def answer(self, message: BigTable.PageWanted) -> None:
        """Deliver a page that was asked for."""
        rows = [table_row(row) for row in range(message.first, message.first + message.count)]
        self.view.deliver(message.generation, message.first, rows)

    @on(BigTable.Highlighted)
    @on(BigTable.Opened)
    @on(BigTable.SortWanted)
    def record(self, message: Message) -> None:
        self.told.append(message)


def main() -> None:
    kind, rows = sys.argv[1], int(sys.argv[2])
    app: App[None]
    if kind == "tree":
        tree = ModelTree(rows)
        tree.expand_all()
        app = TreeApp(tree)
    else:
        app = TableApp(rows)
    if len(sys.argv) > 3:
        app.theme = sys.argv[3]
    app.run(mouse=False)


if __name__ == "__main__":
    main()
