"""Below view 3: single launches, of one name or of all, millions of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from ...ingest.model import GpuKind
from ...queries.instances import InstanceSort, OpInstances, OpRow
from ...queries.kernels import GPU_WORK, OpStat
from ...queries.trace import NotReadyError
from ...reports import format as fmt
from ..app import Target
from ..export import Cell, Table
from ..keys import bindings
from ..session import Session
from ..widgets.big_table import BigTable
from ..widgets.filter_input import FilterInput
from ..widgets.sources import ColumnSpec, TableRow
from ..widgets.status_line import StatusLine
from .view import FILTER_DELAY_S, ViewScreen

EXPORT_PAGE = 10_000

COLUMNS = (
    ColumnSpec("start", "start ms", 14),
    ColumnSpec("duration", "time µs", 11),
    ColumnSpec("name", "name", 24, align="left", flexible=True),
    ColumnSpec("stream", "stream", 14, align="left"),
    ColumnSpec("grid", "grid", 16, align="left", sortable=False),
    ColumnSpec("block", "block", 14, align="left", sortable=False),
    ColumnSpec("registers", "regs", 5, sortable=False),
    ColumnSpec("shared", "shared", 9, sortable=False),
    ColumnSpec("bytes", "size", 9),
    ColumnSpec("launched", "launch", 12, align="left", sortable=False),
)

RAW_COLUMNS = (
    "kind",
    "device",
    "stream",
    "start_ns",
    "dur_ns",
    "name",
    "full_name",
    "correlation",
    "launch_recorded",
    "grid",
    "block",
    "registers_per_thread",
    "static_shared_bytes",
    "dynamic_shared_bytes",
    "bytes",
)


@dataclass(frozen=True, slots=True)
class Order:
    """What is shown, in which order."""

    sort: InstanceSort = InstanceSort.START
    descending: bool = False
    text: str = ""


class LaunchesScreen(ViewScreen):
    """A virtual table: the order is made once per change, then pages are read by position."""

    VIEW = "kernels"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("kernels")]

    def __init__(self, op: OpStat | None, device: int | None) -> None:
        super().__init__()
        self._op = op
        self._device = device
        self._order = Order()
        self._instances: OpInstances | None = None
        self._count: int | None = None
        self._paths: dict[int, int | None] = {}
        self._filter_timer: Timer | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield StatusLine()
        yield BigTable(id="table")
        yield FilterInput("part of a name")

    def opened(self, session: Session) -> None:
        self._instances = OpInstances(session.trace)
        self.table.focus()
        if not session.trace.events_ready:
            self.query_one(StatusLine).left = f"{self._title()} · reading the events …"

    def events_loaded(self, session: Session) -> None:
        if self._count is None:
            self._prepare(self._order, cursor=0)

    @property
    def table(self) -> BigTable:
        return self.query_one("#table", BigTable)

    def _title(self) -> str:
        if self._op is None:
            return "all launches"
        return f"launches of {self._op.name}"

    # --------------------------------------------------------------- pages --

    def _prepare(self, order: Order, cursor: int | None) -> None:
        instances, op = self._instances, self._op
        if instances is None:
            return

        def prepare() -> int | None:
            try:
                return instances.prepare(
                    order.sort,
                    order.descending,
                    order.text,
                    kinds=GPU_WORK if op is None else (op.kind,),
                    name_id=None if op is None else op.name_id,
                    device=self._device,
                )
            except NotReadyError:
                return None

        def show(count: int | None) -> None:
            if count is None:
                return
            self._count, self._order = count, order
            self._paths.clear()
            self.table.reset(
                COLUMNS,
                count,
                sort_key=order.sort.value,
                descending=order.descending,
                cursor=cursor,
            )
            line = self.query_one(StatusLine)
            match = f" · with “{order.text}” in the name" if order.text else ""
            line.left = self._title() + match
            line.right = f"{fmt.count(count)} rows"

        self.query_one(StatusLine).right = "sorting …"
        self.ask("order", prepare, show)

    @on(BigTable.PageWanted)
    def _page_wanted(self, message: BigTable.PageWanted) -> None:
        instances = self._instances
        if instances is None:
            return
        first, count, generation = message.first, message.count, message.generation

        def show(rows: list[OpRow]) -> None:
            self._paths.update((row.id, row.node) for row in rows)
            self.table.deliver(generation, first, [table_row(row) for row in rows])

        self.ask(f"page {first}", lambda: instances.page(first, count), show)

    @on(BigTable.SortWanted)
    def _sort_wanted(self, message: BigTable.SortWanted) -> None:
        order = Order(InstanceSort(message.key), message.descending, self._order.text)
        self._prepare(order, cursor=0)

    # -------------------------------------------------------------- filter --

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self.query_one(FilterInput).focus()

    @on(Input.Changed)
    def _filter_typed(self) -> None:
        if self._filter_timer is not None:
            self._filter_timer.stop()
        self._filter_timer = self.set_timer(FILTER_DELAY_S, self._apply_filter)

    def _apply_filter(self) -> None:
        text = self.query_one(FilterInput).value.strip()
        if text != self._order.text:
            self._prepare(Order(self._order.sort, self._order.descending, text), cursor=0)

    @on(FilterInput.Accepted)
    @on(FilterInput.Cleared)
    def _leave_filter(self) -> None:
        self._apply_filter()
        self.set_class(bool(self.query_one(FilterInput).value.strip()), "-filtering")
        self.table.focus()

    def cancel(self) -> bool:
        field = self.query_one(FilterInput)
        if field.value.strip() or self.has_class("-filtering"):
            field.value = ""
            self._leave_filter()
            return True
        return False

    # ------------------------------------------------------------- actions --

    @on(BigTable.Opened)
    def _opened(self, message: BigTable.Opened) -> None:
        """A launch leads to the path it was launched from."""
        node = self._paths.get(message.row_key)
        if node is None:
            self.notify("The trace does not tell where it was launched from.")
        else:
            self.app.lead("paths", Target(node=node))

    def action_launches(self) -> None:
        if self._op is None:
            self.notify("All launches are shown.")
        else:
            self.app.switch_screen(LaunchesScreen(None, self._device))

    def action_copies(self) -> None:
        self.notify("Copies and memsets are chosen in the table by name: q, then c.")

    def action_next_device(self) -> None:
        self.notify("The GPU is chosen in the table by name: q, then d.")

    def action_detail(self) -> None:
        self.notify("The detail belongs to the table by name: q, then v.")

    def action_copy(self) -> None:
        row = self.table.cursor_row
        if row is not None:
            self.copy("\t".join(cell for cell in row.cells if cell))

    @property
    def exportable(self) -> bool:
        return self._count is not None

    def export_table(self) -> Table:
        """Every row of the order. Queries: for workers."""
        return Table(RAW_COLUMNS, self._raw_rows())

    def _raw_rows(self) -> Iterable[list[Cell]]:
        instances = self._instances
        assert instances is not None
        first = 0
        while rows := instances.page(first, EXPORT_PAGE):
            yield from (raw_row(row) for row in rows)
            first += len(rows)


def table_row(row: OpRow) -> TableRow:
    """The cells of a launch, in the order of `COLUMNS`."""
    shared = None
    if row.static_shared_bytes is not None or row.dynamic_shared_bytes is not None:
        shared = (row.static_shared_bytes or 0) + (row.dynamic_shared_bytes or 0)
    known = row.kind is GpuKind.KERNEL
    missing = fmt.NA if known else ""
    return TableRow(
        row.id,
        (
            f"{row.start_ns / 1e6:.4f}",
            f"{row.dur_ns / 1e3:.3f}",
            row.name,
            row.stream,
            fmt.dim3(row.grid) if row.grid or known else "",
            fmt.dim3(row.block) if row.block or known else "",
            missing if row.registers is None else str(row.registers),
            missing if shared is None else fmt.size(shared),
            "" if row.bytes is None else fmt.size(row.bytes),
            "" if row.launched else "not recorded",
        ),
    )


def raw_row(row: OpRow) -> list[Cell]:
    """The values of a launch, in the order of `RAW_COLUMNS`."""
    return [
        row.kind.name.lower(),
        row.device,
        row.stream,
        row.start_ns,
        row.dur_ns,
        row.name,
        row.full_name,
        row.correlation,
        int(row.launched),
        None if row.grid is None else "x".join(map(str, row.grid)),
        None if row.block is None else "x".join(map(str, row.block)),
        row.registers,
        row.static_shared_bytes,
        row.dynamic_shared_bytes,
        row.bytes,
    ]
