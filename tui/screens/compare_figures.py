"""Steps and totals of two traces: the rows of Compare that are no call paths."""

from collections.abc import Sequence

from ...reports.compare_cells import sign_of
from ...reports.compare_figures import FigureTree
from ..export import Table
from ..widgets.side_tree import BASE, BASE_LABEL, CHANGE, SIGN, TARGET, SideLine
from ..widgets.sources import ColumnSpec

LABEL_CELLS = 30


class FigureSource:
    """A `SideSource` of few rows, all of them open from the beginning."""

    def __init__(self, tree: FigureTree, names: tuple[str, str], *, ascii_only: bool) -> None:
        """`names`: of base and target, as shown."""
        self._rows = tree.rows
        self._names = names
        self._ascii = ascii_only
        self._folded: set[int] = set()
        self._per = tree.per

    @property
    def columns(self) -> Sequence[ColumnSpec]:
        return (
            ColumnSpec(CHANGE, "change", 11, sortable=False),
            ColumnSpec(SIGN, "", 1, align="left", sortable=False),
            ColumnSpec("percent", "%", 9, sortable=False),
            ColumnSpec("interval", "chance", 10, rank=3, sortable=False),
            ColumnSpec(BASE, "base", 10, rank=1, sortable=False),
            ColumnSpec(TARGET, "target", 10, sortable=False),
        )

    @property
    def label_column(self) -> ColumnSpec:
        name = f"per {self._per}" if self._per == "step" else "of the whole run"
        return ColumnSpec("name", name, LABEL_CELLS, align="left", sortable=False)

    @property
    def base_label_column(self) -> ColumnSpec:
        return self._side(BASE_LABEL, f"base: {self._names[0]}")

    @property
    def target_label_column(self) -> ColumnSpec:
        return self._side("name", f"target: {self._names[1]}")

    @staticmethod
    def _side(key: str, header: str) -> ColumnSpec:
        return ColumnSpec(key, header, LABEL_CELLS, align="left", sortable=False)

    @property
    def order(self) -> tuple[str, bool]:
        return "", False

    def sort_by(self, key: str, descending: bool) -> None:
        """Figures have one order: times of steps first, then their parts."""

    def _shown(self) -> list[int]:
        return [at for at, row in enumerate(self._rows) if row.parent not in self._folded]

    def row_count(self) -> int:
        return len(self._shown())

    def rows(self, first: int, count: int) -> Sequence[SideLine]:
        return [self._line(at) for at in self._shown()[first : first + count]]

    def row_of(self, node: int) -> int:
        shown = self._shown()
        return shown.index(node) if node in shown else -1

    def parent(self, node: int) -> int:
        return self._rows[node].parent

    def expand(self, node: int) -> None:
        self._folded.discard(node)

    def collapse(self, node: int) -> None:
        if self._has_below(node):
            self._folded.add(node)

    def expand_subtree(self, node: int) -> None:
        self.expand(node)

    def expand_all(self) -> None:
        self._folded.clear()

    def collapse_all(self) -> None:
        self._folded = {row.parent for row in self._rows if row.parent >= 0}

    def _has_below(self, node: int) -> bool:
        return any(row.parent == node for row in self._rows)

    def name(self, node: int) -> str:
        return self._rows[node].name

    def _line(self, node: int) -> SideLine:
        row = self._rows[node]
        change, percent, noise, base, target = row.texts()
        sign, kind = sign_of(row.delta, row.within_noise, ascii_only=self._ascii)
        has_below = self._has_below(node)
        note = f"n/a: {row.missing}" if row.missing else row.meaning
        return SideLine(
            node=node,
            depth=0 if row.parent < 0 else 1,
            state="leaf" if not has_below else "closed" if node in self._folded else "open",
            label=row.name,
            cells=(change, sign, percent, noise, base, target),
            layer=kind,
            note=note,
            dim=row.missing is not None or not row.delta,
            base_label=row.name,
            short_note=note,
        )

    def table(self) -> Table:
        """Raw values, for a file."""
        columns = ("figure", "of", "unit", "base", "target", "change", "noise", "missing")
        rows = [
            (
                row.name,
                None if row.parent < 0 else self._rows[row.parent].name,
                row.unit.value,
                row.base,
                row.target,
                row.delta,
                row.noise,
                row.missing,
            )
            for row in self._rows
        ]
        return Table(columns, rows)
