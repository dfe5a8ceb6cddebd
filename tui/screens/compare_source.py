"""The rows of the Compare view: a `CompareView` dressed as a `TreeSource`."""

from collections.abc import Iterator, Sequence

from ...analyzers.compare_order import Order
from ...analyzers.compare_rows import CompareRow
from ...analyzers.compare_view import CompareView
from ...queries.kernels import KIND_OF_LAYER
from ...queries.metric import Metric
from ...reports.compare_cells import ChangeCells, sign_of
from ...reports.flame import TITLES
from ...reports.kernel_label import kernel_label
from ..export import Cell, Table
from ..widgets.side_tree import BASE, BASE_LABEL, CHANGE, SIGN, TARGET, SideLine
from ..widgets.sources import ColumnSpec
from .paths_source import EXPORT_PAGE

LABEL_CELLS = 30
NOTE_CELLS = 28
FIRST_CHANGES = 8
"""So many of the largest changes are unfolded to at first."""
TIMES = (Metric.GPU, Metric.HOST)
_ORDERS = {CHANGE: Order.DELTA, BASE: Order.BASE, TARGET: Order.TARGET, "name": Order.TREE}
_KEYS = {**{order: key for key, order in _ORDERS.items()}, Order.PERCENT: CHANGE}


class CompareSource:
    """Columns and texts of two traces side by side. Times of a column are in one unit."""

    def __init__(
        self,
        view: CompareView,
        names: tuple[str, str],
        *,
        relative: bool = False,
        ascii_only: bool,
    ) -> None:
        """`names`: of base and target, as recorded."""
        self.view = view
        self._names = names
        self.relative = relative
        self._ascii = ascii_only
        self._make_columns()

    def _make_columns(self) -> None:
        view = self.view
        self._texts = ChangeCells(view.sides, view.metric)
        unit = self._texts.unit
        change = ColumnSpec(CHANGE, f"change {unit}".rstrip(), 11)
        percent = ColumnSpec("percent", "%", 9, sortable=False)
        sides = (
            ColumnSpec(BASE, f"base {unit}".rstrip(), 10, rank=1),
            ColumnSpec(TARGET, f"target {unit}".rstrip(), 10),
        )
        sign = ColumnSpec(SIGN, "", 1, align="left", sortable=False)
        if self.relative:
            ratio = ColumnSpec("ratio", "ratio", 7, rank=2, sortable=False)
            first = (ColumnSpec(CHANGE, "change %", 11), sign, ratio)
        else:
            spread = ColumnSpec("interval", "±95 %", 9, rank=3, sortable=False)
            shown = (spread,) if view.sides.per_step else ()
            first = (change, sign, percent, *shown)
        self._columns = (*first, *sides)

    def changed(self) -> None:
        """Another metric is shown, or the sides have changed places."""
        self._make_columns()

    def set_relative(self, relative: bool) -> None:
        """Changes in percent of the base. Rows in the order of changes take the order of these."""
        self.relative = relative
        if self.view.order in (Order.DELTA, Order.PERCENT):
            self.sort_by(CHANGE, self.view.descending)
        self._make_columns()

    # ---------------------------------------------------------- TreeSource --

    @property
    def columns(self) -> Sequence[ColumnSpec]:
        return self._columns

    @property
    def label_column(self) -> ColumnSpec:
        return ColumnSpec("name", "path" if self.is_tree else "name", LABEL_CELLS, align="left")

    @property
    def base_label_column(self) -> ColumnSpec:
        """Of the names at the left, where two trees stand side by side."""
        return ColumnSpec(BASE_LABEL, f"base: {self._name(0)}", LABEL_CELLS, align="left")

    @property
    def target_label_column(self) -> ColumnSpec:
        return ColumnSpec("name", f"target: {self._name(1)}", LABEL_CELLS, align="left")

    def _name(self, side: int) -> str:
        return self._names[1 - side if self.view.swapped else side]

    @property
    def is_tree(self) -> bool:
        return bool((self.view.sides.parent >= 0).any())

    @property
    def order(self) -> tuple[str, bool]:
        key = _KEYS[self.view.order]
        return key, self.view.descending != (key == "name")

    def sort_by(self, key: str, descending: bool) -> None:
        # The order of calls has its first one first, which the view calls descending.
        order = Order.PERCENT if key == CHANGE and self.relative else _ORDERS[key]
        self.view.sort(order, descending != (key == "name"))

    def row_count(self) -> int:
        return self.view.row_count()

    def rows(self, first: int, count: int) -> Sequence[SideLine]:
        return [self._line(row) for row in self.view.rows(first, count)]

    def row_of(self, node: int) -> int:
        return self.view.row_of(node)

    def parent(self, node: int) -> int:
        return self.view.parent(node)

    def expand(self, node: int) -> None:
        self.view.expand(node)

    def collapse(self, node: int) -> None:
        self.view.collapse(node)

    def expand_subtree(self, node: int) -> None:
        self.view.expand_subtree(node)

    def expand_all(self) -> None:
        self.view.expand_all()

    def collapse_all(self) -> None:
        self.view.collapse_all()

    # --------------------------------------------------------------- texts --

    def unfold_changes(self) -> None:
        """Open the way to the largest changes."""
        for node in self.view.changes()[:FIRST_CHANGES]:
            self.view.reveal(node)

    def _line(self, row: CompareRow) -> SideLine:
        texts = self._texts
        sign, kind = sign_of(row.delta, row.within_noise, ascii_only=self._ascii)
        change = texts.change(row)
        if self.relative:
            cells = [texts.percent(row), sign, texts.ratio(row)]
        else:
            cells = [change, sign, texts.percent(row)]
            if self.view.sides.per_step:
                cells.append(texts.interval(row))
        both = row.base_name is not None
        # New and gone are told by the percentage.
        note = "" if row.note == texts.percent(row) else row.note
        if row.base_name is not None:
            note = note.replace(row.base_name, _label(row, row.base_name))
        if both and len(note) > NOTE_CELLS:
            note = f"{note[: NOTE_CELLS - 1]}…"
        return SideLine(
            node=row.node,
            depth=row.depth,
            state=row.state,
            label=_label(row, row.name),
            cells=[*cells, texts.base(row), texts.target(row)],
            layer=kind,
            note=note,
            dim=row.within_noise is True or row.delta == 0,
            marked=row.match,
            base_label=None if row.base is None else _label(row, row.base_name or row.name),
            in_target=row.target is not None,
            short_note="moved" if row.note.startswith("moved") else "",
        )

    def table(self) -> Table:
        """Raw values of the rows shown, for a file. For workers: in pieces that let keys pass."""
        unit = "_ns" if self.view.metric in TIMES else ""
        per = "step" if self.view.sides.per_step else "run"
        name = f"{self.view.metric.value}{unit}_per_{per}"
        columns = (
            *("depth", "layer", "name", "base_name", "file", "line", "match"),
            *(f"{end}_{name}" for end in ("base", "target", "change", "interval_95")),
            *("percent", "within_noise", "status"),
        )
        return Table(columns, self._raw_rows())

    def _raw_rows(self) -> Iterator[list[Cell]]:
        first = 0
        while rows := self.view.rows(first, EXPORT_PAGE):
            for row in rows:
                yield [
                    *(row.depth, row.layer.name.lower(), row.name, row.base_name),
                    *(row.file, row.line, row.how.value),
                    *(row.base, row.target, row.delta, row.interval, row.percent),
                    None if row.within_noise is None else int(row.within_noise),
                    row.status.value,
                ]
            first += len(rows)


def _label(row: CompareRow, name: str) -> str:
    return kernel_label(name) if row.layer in KIND_OF_LAYER else name


def metric_title(metric: Metric) -> str:
    """`GPU time`, `host time`, …"""
    return TITLES[metric]
