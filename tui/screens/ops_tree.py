"""The rows of the Ops view: categories, operators, sets of arguments, single calls."""

from collections.abc import Callable, Sequence

from ...analyzers.op_hierarchy import Category, Instance, Operator, OpHierarchy, UniqueCall
from ...reports.ops_text import arguments_of
from ..export import Table
from ..widgets.sources import ColumnSpec, State, TreeLine
from .ops_cells import Cells, Item, Rest, call_table, label_of, value_of

MOST_INSTANCES = 500
"""Single calls that are listed one by one; the others are summed up in a last row."""


class OpSource:
    """A `TreeSource` over a hierarchy. Single calls come when their row is unfolded: `wanted` is
    told its node then, and answers with `add_instances`."""

    def __init__(self, tree: OpHierarchy, wanted: Callable[[int], None]) -> None:
        self.tree = tree
        self._wanted = wanted
        self._items: list[Item] = []
        self._parent: list[int] = []
        self._depth: list[int] = []
        self._children: list[list[int]] = []
        self._roots = [self._add(category, -1) for category in tree.categories]
        self._static = len(self._items)
        self._open: set[int] = set()
        self._order = ("total", True)
        self._kept: set[int] | None = None
        self._visible: list[int] = []
        self._row_of: dict[int, int] = {}
        self._cells = Cells(tree)
        self._arrange()

    def _add(self, item: Item, parent: int) -> int:
        node = len(self._items)
        self._items.append(item)
        self._parent.append(parent)
        self._depth.append(0 if parent < 0 else self._depth[parent] + 1)
        self._children.append([])
        below: Sequence[Item] = ()
        if isinstance(item, Category):
            below = item.operators
        elif isinstance(item, Operator):
            below = item.calls
        self._children[node] = [self._add(each, node) for each in below]
        return node

    # ------------------------------------------------------------ for the tree --

    @property
    def columns(self) -> Sequence[ColumnSpec]:
        return self._cells.columns

    @property
    def label_column(self) -> ColumnSpec:
        return ColumnSpec("name", "category, operator, arguments", 26, align="left", flexible=True)

    @property
    def order(self) -> tuple[str, bool]:
        return self._order

    def sort_by(self, key: str, descending: bool) -> None:
        self._order = (key, descending)
        self._arrange()

    def row_count(self) -> int:
        return len(self._visible)

    def rows(self, first: int, count: int) -> Sequence[TreeLine]:
        return [self._line(node) for node in self._visible[first : first + count]]

    def row_of(self, node: int) -> int:
        return self._row_of.get(node, -1)

    def parent(self, node: int) -> int:
        return self._parent[node]

    def expand(self, node: int) -> None:
        self._open.add(node)
        if isinstance(self._items[node], UniqueCall) and not self._children[node]:
            self._wanted(node)
        self._arrange()

    def collapse(self, node: int) -> None:
        self._open.discard(node)
        self._arrange()

    def expand_subtree(self, node: int) -> None:
        """Down to the arguments; single calls are opened one row at a time."""
        first = node
        last = next(
            (n for n in range(first + 1, self._static) if self._depth[n] <= self._depth[first]),
            self._static,
        )
        self._open.update(n for n in range(first, last) if self._depth[n] < 2)
        if isinstance(self._items[node], UniqueCall):
            self.expand(node)
        self._arrange()

    def expand_all(self) -> None:
        self._open.update(n for n in range(self._static) if self._depth[n] < 2)
        self._arrange()

    def collapse_all(self) -> None:
        self._open.clear()
        self._arrange()

    # ----------------------------------------------------------- for the view --

    def item(self, node: int) -> Item | None:
        """What a row stands for."""
        return self._items[node] if 0 <= node < len(self._items) else None

    def call(self, node: int) -> UniqueCall | None:
        """The set of arguments a row belongs to: its own, the one above, or the only one below."""
        while node >= 0:
            item = self._items[node]
            if isinstance(item, UniqueCall):
                return item
            if isinstance(item, Operator):
                return item.calls[0] if len(item.calls) == 1 else None
            node = self._parent[node]
        return None

    def groups(self, node: int) -> frozenset[int]:
        """Numbers of the sets of arguments at, above or below a row."""
        item = self.item(node)
        if isinstance(item, Category):
            return frozenset(call.group for op in item.operators for call in op.calls)
        if isinstance(item, Operator):
            return frozenset(call.group for call in item.calls)
        call = self.call(node)
        return frozenset() if call is None else frozenset({call.group})

    def find(self, item: Item | None) -> int:
        """The node of an equal row of another hierarchy of the same device, -1 without one."""
        if not isinstance(item, Category | Operator | UniqueCall):
            return -1
        key = self._key(item)
        found = (n for n in range(self._static) if self._key(self._items[n]) == key)
        return next(found, -1)

    @staticmethod
    def _key(item: Item) -> tuple[object, ...]:
        if isinstance(item, UniqueCall):
            return (item.category, item.name, arguments_of(item))
        if isinstance(item, Operator):
            return (item.category, item.name)
        return (item.name,) if isinstance(item, Category) else ()

    def reveal(self, node: int) -> None:
        """Unfold what is above a node."""
        while (node := self._parent[node]) >= 0:
            self._open.add(node)
        self._arrange()

    def add_instances(self, node: int, found: Sequence[Instance]) -> None:
        """The single calls of a row: the longest ones, and the others in one row."""
        if self._children[node]:
            return
        longest = sorted(found, key=lambda one: -one.gpu_ns)
        rows: list[Item] = [*longest[:MOST_INSTANCES]]
        rest = longest[MOST_INSTANCES:]
        if rest:
            rows.append(Rest(len(rest), sum(one.gpu_ns for one in rest)))
        self._children[node] = [self._add(one, node) for one in rows]
        self._arrange()

    def filter(self, text: str) -> int:
        """Show what has the text in its name or arguments, with what is above and below it.
        Empty: everything. Returns how many operators and sets of arguments match."""
        needle = text.casefold()
        if not needle:
            self._kept = None
            self._arrange()
            return 0
        kept: set[int] = set()
        matches = 0
        for node in range(self._static):
            above = self._parent[node]
            if needle in label_of(self._items[node]).casefold():
                matches += 1
                kept.update(self._below(node))
                while above >= 0:
                    kept.add(above)
                    self._open.add(above)
                    above = self._parent[above]
        self._kept = kept
        self._arrange()
        return matches

    def _below(self, node: int) -> list[int]:
        found = [node]
        for each in found:
            found += self._children[each]
        return found

    def table(self) -> Table:
        """Every set of arguments shown, in raw values."""
        kept = self._kept
        items = enumerate(self._items)
        shown = [item for node, item in items if kept is None or node in kept]
        return call_table(item for item in shown if isinstance(item, UniqueCall))

    # -------------------------------------------------------------------- rows --

    def _arrange(self) -> None:
        self._visible = []
        pending = self._sorted(self._roots)[::-1]
        while pending:
            node = pending.pop()
            self._visible.append(node)
            if node in self._open:
                pending += self._sorted(self._children[node])[::-1]
        self._row_of = {node: row for row, node in enumerate(self._visible)}

    def _sorted(self, nodes: Sequence[int]) -> list[int]:
        key, descending = self._order
        kept = self._kept
        shown = [n for n in nodes if kept is None or n in kept or n >= self._static]
        if key == "name":
            return sorted(
                shown, key=lambda n: label_of(self._items[n]).casefold(), reverse=descending
            )
        # What is not known comes last in either direction; the row of the rest always does.
        sign = -1.0 if descending else 1.0

        def place(node: int) -> tuple[bool, bool, float]:
            value = value_of(self._items[node], key)
            rest = isinstance(self._items[node], Rest)
            return rest, value is None, 0.0 if value is None else sign * value

        return sorted(shown, key=place)

    def _line(self, node: int) -> TreeLine:
        item = self._items[node]
        state: State = "leaf"
        if not isinstance(item, Instance | Rest):
            state = "open" if node in self._open else "closed"
        percent = None if isinstance(item, Instance | Rest) else item.percent
        return TreeLine(
            node=node,
            depth=self._depth[node],
            state=state,
            label=label_of(self._items[node]),
            cells=self._cells.of(item),
            share=None if percent is None else min(percent / 100, 1.0),
        )
