"""The rows of the Kernels view: columns, order and filter of totals by name."""

from collections.abc import Callable, Sequence

from ...ingest.model import GpuKind
from ...queries.kernels import OpStat
from ...reports.format import NA, Column, share, size_column, time_column
from ..export import Table
from ..widgets.sources import ColumnSpec, TableRow

Value = Callable[[OpStat], float | str]

_VALUES: dict[str, Value] = {
    "total": lambda op: op.sum_ns,
    "count": lambda op: op.count,
    "mean": lambda op: op.mean_ns,
    "min": lambda op: op.min_ns or 0,
    "max": lambda op: op.max_ns or 0,
    "stddev": lambda op: op.stddev_ns or 0.0,
    "bytes": lambda op: op.bytes or 0,
    "name": lambda op: op.name.casefold(),
}
_KINDS = {
    GpuKind.KERNEL: "",
    GpuKind.MEMCPY: "copy",
    GpuKind.MEMSET: "memset",
    GpuKind.GRAPH: "graph",
    GpuKind.SYNC: "wait",
}


class OpTable:
    """Totals by name, in an order, of which those with `text` in their name are shown."""

    def __init__(self, ops: Sequence[OpStat]) -> None:
        self.ops = list(ops)
        self.shown: list[OpStat] = list(ops)
        self._bytes = any(op.bytes is not None for op in ops)
        largest = max((op.sum_ns for op in ops), default=0)
        single = max((op.mean_ns if op.max_ns is None else op.max_ns for op in ops), default=0)
        self._total = time_column(largest)
        self._single = time_column(single)
        self._size = size_column(max((op.bytes or 0 for op in ops), default=0))

    @property
    def columns(self) -> tuple[ColumnSpec, ...]:
        def heading(name: str, column: Column) -> str:
            return f"{name} {column.unit}"

        single = self._single
        size = (ColumnSpec("bytes", heading("size", self._size), 10),) if self._bytes else ()
        return (
            ColumnSpec("share", "share", 11, bar=4, sortable=False),
            ColumnSpec("total", heading("total", self._total), 10),
            ColumnSpec("count", "count", 8),
            ColumnSpec("mean", heading("mean", single), 10),
            ColumnSpec("name", "name", 30, align="left", flexible=True),
            ColumnSpec("min", heading("min", single), 10),
            ColumnSpec("max", heading("max", single), 10),
            ColumnSpec("stddev", heading("std", single), 10),
            *size,
        )

    def arrange(self, key: str, descending: bool, text: str) -> None:
        """Order and filter; equal values keep the order of their time."""
        needle = text.casefold()
        found = [op for op in self.ops if needle in op.name.casefold()] if needle else self.ops
        self.shown = sorted(found, key=_VALUES[key], reverse=descending)

    def rows(self) -> list[TableRow]:
        """All rows shown; a row's key is its place in `ops`."""
        places = {id(op): place for place, op in enumerate(self.ops)}
        return [TableRow(places[id(op)], self._cells(op), op.share) for op in self.shown]

    def _cells(self, op: OpStat) -> list[str]:
        single = self._single
        kind = _KINDS[op.kind]
        cells = [
            share(op.share),
            self._total.text(op.sum_ns),
            f"{op.count}",
            single.text(op.mean_ns),
            f"{op.name} ({kind})" if kind else op.name,
            single.text(op.min_ns, NA),
            single.text(op.max_ns, NA),
            single.text(op.stddev_ns, NA),
        ]
        return [*cells, self._size.text(op.bytes)] if self._bytes else cells

    def place(self, kind: GpuKind, name: str) -> int | None:
        """Row that shows the operation, None when none does."""
        return next(
            (i for i, op in enumerate(self.shown) if op.kind is kind and op.name == name), None
        )

    def table(self) -> Table:
        """Raw values of the rows shown, for a file."""
        return Table(
            (
                "kind",
                "name",
                "communication",
                "count",
                "sum_ns",
                "mean_ns",
                "min_ns",
                "max_ns",
                "stddev_ns",
                "share",
                "bytes",
            ),
            [
                (
                    op.kind.name.lower(),
                    op.name,
                    int(op.comm),
                    op.count,
                    op.sum_ns,
                    op.mean_ns,
                    op.min_ns,
                    op.max_ns,
                    op.stddev_ns,
                    op.share,
                    op.bytes,
                )
                for op in self.shown
            ],
        )
