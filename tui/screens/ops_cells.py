"""Figures of the rows of the Ops view, as text, as values to sort by, and as a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...analyzers.op_hierarchy import Category, Instance, Operator, OpHierarchy, UniqueCall
from ...reports import format as fmt
from ...reports.ops_text import BOUNDS, arguments_of
from ..export import Cell, Table
from ..widgets.sources import ColumnSpec


@dataclass(frozen=True, slots=True)
class Rest:
    """The calls beyond those that are listed."""

    count: int
    gpu_ns: int


Item = Category | Operator | UniqueCall | Instance | Rest


def label_of(item: Item) -> str:
    """Of a row."""
    if isinstance(item, Category | Operator):
        return item.name
    if isinstance(item, UniqueCall):
        return arguments_of(item) or "no arguments recorded"
    if isinstance(item, Rest):
        return f"{fmt.count(item.count)} shorter calls"
    if item.start_ns is None:
        return "its launch is not in the trace"
    return f"at {fmt.duration(item.start_ns)}, host {fmt.duration(item.host_ns)}"


def value_of(item: Item, key: str) -> float | None:
    """What a row is sorted by; None: not known."""
    if isinstance(item, Instance | Rest) or key == "total":
        return item.gpu_ns
    if key == "count":
        return item.count
    if key == "mean":
        return item.gpu_ns / item.count if item.count else None
    if key == "percent":
        return item.percent
    if isinstance(item, UniqueCall):
        return item.tflops if key == "tflops" else item.tbytes
    return None


class Cells:
    """Columns, each in one unit, of the rows of one hierarchy."""

    def __init__(self, tree: OpHierarchy) -> None:
        self._whole = tree.gpu_ns
        longest = max((c.gpu_ns for c in tree.categories), default=0)
        single = max((call.max_ns for call in tree.calls), default=0)
        self._total, self._single = fmt.time_column(longest), fmt.time_column(single)

        self._rooflines = any(call.percent is not None for call in tree.calls)

    @property
    def columns(self) -> Sequence[ColumnSpec]:
        # Where nothing has a roofline, how often and how long come before it.
        told = self._rooflines
        return (
            ColumnSpec("share", "share", 7, rank=1, sortable=False),
            ColumnSpec("total", f"time {self._total.unit}", 10),
            ColumnSpec("count", "count", 8, rank=4 if told else 2),
            ColumnSpec("mean", f"mean {self._single.unit}", 10, rank=7 if told else 3),
            ColumnSpec("percent", "of roofline", 13, rank=2 if told else 8, bar=4),
            ColumnSpec("tflops", "TFLOP/s", 9, rank=3 if told else 9),
            ColumnSpec("tbytes", "TB/s", 7, rank=5 if told else 9),
            ColumnSpec("bound", "bound", 8, align="left", rank=6 if told else 9, sortable=False),
        )

    def of(self, item: Item) -> list[str]:
        """One text for each column."""
        share = item.gpu_ns / self._whole if self._whole else None
        cells = [fmt.share(share), self._total.text(item.gpu_ns)]
        if isinstance(item, Instance):
            return [*cells, "", self._single.text(item.gpu_ns), "", "", "", ""]
        cells.append(fmt.count(item.count))
        if isinstance(item, Rest):
            return [*cells, "", "", "", "", ""]
        cells.append(self._single.text(item.gpu_ns / item.count if item.count else None, fmt.NA))
        cells.append(fmt.NA if item.percent is None else f"{item.percent:.1f} %")
        if not isinstance(item, UniqueCall):
            return [*cells, "", "", ""]
        line = item.roofline
        bound = fmt.NA if line is None else BOUNDS[line.bound]
        return [*cells, fmt.number(item.tflops), fmt.number(item.tbytes, 2), bound]


def call_table(calls: Iterable[UniqueCall]) -> Table:
    """Sets of arguments in raw values, most GPU time first."""
    columns = (
        "category",
        "operator",
        "arguments",
        "count",
        "gpu_ns",
        "mean_ns",
        "min_ns",
        "max_ns",
        "flops",
        "bytes",
        "flops_per_byte",
        "compute_spec",
        "tflops",
        "tbytes_per_s",
        "roofline_us",
        "roofline_percent",
        "bound",
        "note",
    )
    ordered = sorted(calls, key=lambda call: call.group)
    return Table(columns, [_values(call) for call in ordered])


def _values(call: UniqueCall) -> tuple[Cell, ...]:
    of, line = call.figures, call.roofline
    return (
        call.category,
        call.name,
        arguments_of(call),
        call.count,
        call.gpu_ns,
        call.mean_ns,
        call.min_ns,
        call.max_ns,
        None if of is None else of.flops,
        None if of is None else of.bytes,
        call.intensity,
        None if of is None else of.spec,
        call.tflops,
        call.tbytes,
        None if line is None else line.time_us,
        call.percent,
        None if line is None else BOUNDS[line.bound],
        call.note,
    )
