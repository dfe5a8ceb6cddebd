"""The rows of the Call paths view: a `PathView` dressed as a `TreeSource`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...ingest.model import Layer
from ...queries.metric import Metric
from ...queries.paths import CostTree
from ...queries.pathview import PathRow, PathView
from ...reports.flame import source_place
from ...reports.format import TIMES, Column, column_for, share
from ..export import Cell, Table
from ..widgets.sources import ColumnSpec, TreeLine

LABEL_CELLS = 44
"""The least the paths get before figures are left out: the names are what it is about."""
FIRST_ROWS = 12
"""A tree is unfolded level by level as long as this many rows are enough."""
INSIGNIFICANT = 0.001
"""Rows below this share are dim."""

EXPORT_PAGE = 500

_COLOURS = {
    Layer.KERNEL: "kernel",
    Layer.GRAPH: "kernel",
    Layer.MEMCPY: "copy",
    Layer.MEMSET: "copy",
    Layer.NOT_RECORDED: "orphan",
}


@dataclass(frozen=True, slots=True)
class _Figure:
    """A metric's column: heading, width, when it gives way (highest first), and its value."""

    metric: Metric
    header: str
    width: int
    rank: int
    value: Callable[[PathRow], int | float | None]


_FIGURES = (
    _Figure(Metric.GPU, "GPU", 9, 0, lambda row: row.gpu_ns),
    _Figure(Metric.GPU_SELF, "self", 9, 6, lambda row: row.gpu_self_ns),
    _Figure(Metric.HOST, "host", 9, 1, lambda row: row.host_ns),
    _Figure(Metric.HOST_SELF, "host self", 12, 7, lambda row: row.host_self_ns),
    _Figure(Metric.CALLS, "calls", 8, 2, lambda row: row.calls),
    _Figure(Metric.MEAN, "GPU/call", 11, 4, lambda row: row.mean_ns),
    _Figure(Metric.KERNELS, "kernels", 8, 3, lambda row: row.kernels),
    _Figure(Metric.LAUNCHES, "launches", 8, 5, lambda row: row.launches),
    _Figure(Metric.SAMPLES, "samples", 8, 8, lambda row: row.samples),
    _Figure(Metric.GPU_SAMPLES, "GPU smpl", 8, 10, lambda row: row.gpu_samples),
    _Figure(Metric.BYTES, "bytes", 9, 9, lambda row: row.bytes),
)


class PathSource:
    """Columns and texts of a view of the tree. All times of a column are in one unit."""

    def __init__(self, view: PathView) -> None:
        self.view = view
        self.notes: Mapping[int, str] = {}
        """What is said of nodes of the call-path tree."""
        # Bottom-up, metrics that the chosen one never comes with would be columns of zeros.
        self._figures = [
            figure
            for figure in _FIGURES
            if figure.metric in view.available
            and not (view.turned and _largest(view, figure.metric) == 0)
        ]
        self._texts: list[Column] = [
            column_for(figure.metric, _largest(view, figure.metric)) for figure in self._figures
        ]
        self._columns = (
            ColumnSpec("share", "share", 11, bar=4, sortable=False),
            *(
                ColumnSpec(
                    figure.metric.value,
                    f"{figure.header} {text.unit}".rstrip(),
                    figure.width,
                    rank=figure.rank,
                )
                for figure, text in zip(self._figures, self._texts, strict=True)
            ),
        )

    # ---------------------------------------------------------- TreeSource --

    @property
    def columns(self) -> Sequence[ColumnSpec]:
        return self._columns

    @property
    def label_column(self) -> ColumnSpec:
        return ColumnSpec("name", "path", LABEL_CELLS, align="left", sortable=False)

    @property
    def order(self) -> tuple[str, bool]:
        return self.view.metric.value, self.view.descending

    def sort_by(self, key: str, descending: bool) -> None:
        self.view.sort(Metric(key), descending)

    def row_count(self) -> int:
        return self.view.row_count()

    def rows(self, first: int, count: int) -> Sequence[TreeLine]:
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

    def heaviest_match(self) -> int:
        """The shown node with the largest share whose name matches the filter, -1 when none
        does; of equal ones the outermost."""
        view = self.view
        values = view.table.values.get(view.share_metric)
        if not view.filter_text or values is None:
            return -1
        import numpy as np

        by_frame = np.asarray(view.table.frames.matching(view.filter_text), dtype=bool)
        found = by_frame[view.table.frame] & (values >= view.limit * (view.total or 0))
        nodes = found.nonzero()[0]
        return int(nodes[values[nodes].argmax()]) if len(nodes) else -1

    # --------------------------------------------------------------- texts --

    def row_at(self, row: int) -> PathRow | None:
        rows = self.view.rows(row, 1)
        return rows[0] if rows else None

    def _line(self, row: PathRow) -> TreeLine:
        cells = [share(row.share)]
        cells += [
            cell(text, figure.value(row))
            for figure, text in zip(self._figures, self._texts, strict=True)
        ]
        return TreeLine(
            node=row.node,
            depth=row.depth,
            state=row.state,
            label=row.name,
            cells=cells,
            share=row.share,
            layer=_COLOURS.get(row.layer, ""),
            note=source_place(row.file, row.line)
            or ("" if row.members > 1 else self.notes.get(row.source, "")),
            dim=row.share is not None and row.share < INSIGNIFICANT,
            marked=row.match,
        )

    def table(self) -> Table:
        """Raw values of the visible rows, for a file. For workers: in pieces that let keys pass."""
        names = [_raw_name(figure.metric) for figure in self._figures]
        columns = ("depth", "layer", "name", "file", "line", "share", *names)
        return Table(columns, self._raw_rows())

    def _raw_rows(self) -> Iterator[list[Cell]]:
        first = 0
        while rows := self.view.rows(first, EXPORT_PAGE):
            for row in rows:
                yield [
                    row.depth,
                    row.layer.name.lower(),
                    row.name,
                    row.file,
                    row.line,
                    row.share,
                    *(figure.value(row) for figure in self._figures),
                ]
            first += len(rows)


def cell(column: Column, value: float | None) -> str:
    """A bare 0 instead of 0.000: what costs nothing should not draw the eye."""
    return "0" if value == 0 else column.text(value)


def _raw_name(metric: Metric) -> str:
    return f"{metric.value}_ns" if metric in TIMES else metric.value


def _largest(view: PathView, metric: Metric) -> float:
    values = view.table.values[metric]
    return float(values.max()) if len(values) else 0.0


def first_unfolded(tree: CostTree) -> PathSource:
    """The tree as it is shown first: level by level unfolded while `FIRST_ROWS` are enough.

    The heaviest process is unfolded down to its threads, however many rows there are."""
    source = PathSource(tree.top_down())
    view = source.view
    depth = 1
    while level := [
        row.node for row in view.rows(0, FIRST_ROWS) if row.depth == depth and row.state == "closed"
    ]:
        for node in level if view.row_count() <= FIRST_ROWS else level[:1]:
            view.expand(node)
        if view.row_count() > FIRST_ROWS:
            for node in level[1 if depth == 1 else 0 :]:
                view.collapse(node)
            break
        depth += 1
    return source
