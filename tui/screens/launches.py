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
from ...queries.capture import Device, devices
from ...queries.instances import InstanceSort, OpInstances, OpRow
from ...queries.kernels import GPU_WORK, OpStat
from ...queries.trace import NotReadyError
from ...reports import format as fmt
from ...reports.overview import no_gpu_advice
from ..export import Cell, Table
from ..keys import bindings
from ..looking import Target
from ..session import Session
from ..widgets.big_table import BigTable
from ..widgets.filter_input import FilterInput
from ..widgets.sources import ColumnSpec, TableRow
from ..widgets.status_line import StatusLine
from .details import shared_memory
from .launches_rows import DEVICE, DURATION, NAME, RAW_COLUMNS, REST, START, raw_row
from .view import FILTER_DELAY_S, ViewScreen, nothing_matches

EXPORT_PAGE = 10_000
NO_GPU_WORK = "No GPU work was recorded."


@dataclass(frozen=True, slots=True)
class Order:
    """What is shown, in which order."""

    sort: InstanceSort = InstanceSort.START
    descending: bool = False
    text: str = ""


class LaunchesScreen(ViewScreen):
    """A virtual table: the order is made once per change, then pages are read by position."""

    VIEW = "kernels"
    SCOPED = False
    EXPORT_NAME = "launches"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("kernels")]

    def __init__(self, op: OpStat | None, device: int | None) -> None:
        super().__init__()
        self._op = op
        self._device = device
        self._order = Order()
        self._instances: OpInstances | None = None
        self._count: int | None = None
        self._labels: dict[int, str] = {}
        self._paths: dict[int, int | None] = {}
        self._filter_timer: Timer | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield StatusLine()
        yield BigTable(id="table")
        yield FilterInput("part of a name")

    def opened(self, session: Session) -> None:
        self.show_body()
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

    def _columns(self) -> tuple[ColumnSpec, ...]:
        device = (DEVICE,) if len(self._labels) > 1 else ()
        return (START, DURATION, *device, NAME, *REST)

    # --------------------------------------------------------------- pages --

    def _prepare(self, order: Order, cursor: int | None) -> None:
        instances, op, session = self._instances, self._op, self.session
        if instances is None or session is None:
            return

        def prepare() -> tuple[int, list[Device]] | None:
            try:
                count = instances.prepare(
                    order.sort,
                    order.descending,
                    order.text,
                    kinds=GPU_WORK if op is None else (op.kind,),
                    name_id=None if op is None else op.name_id,
                    device=self._device,
                )
            except NotReadyError:
                return None
            return count, devices(session.trace)

        def show(answer: tuple[int, list[Device]] | None) -> None:
            if answer is None:
                return
            count, found = answer
            self._labels = {device.device: device.label for device in found}
            self._count, self._order = count, order
            self._paths.clear()
            self.table.reset(
                self._columns(),
                count,
                sort_key=order.sort.value,
                descending=order.descending,
                cursor=cursor,
            )
            if not count:
                self.rows_ready()
            line = self.query_one(StatusLine)
            advice = self._advice()
            self.table.empty_text = nothing_matches(order.text) or advice or NO_GPU_WORK
            match = f" · with “{order.text}” in the name" if order.text else ""
            line.left = self._title() + match
            # What was recorded as sums had launches: how many rows they are is not known.
            line.right = fmt.NA if advice and not count else f"{fmt.count(count)} rows"

        self.query_one(StatusLine).right = "sorting …"
        self.ask("order", prepare, show, rows=True)

    def _advice(self) -> str | None:
        """The recording may lack GPU work, or only the single launches of it; None: neither."""
        overview = self.app.load_state.overview
        advice = None if overview is None else no_gpu_advice(overview.capture)
        if advice is not None and self._op is not None:
            advice += "\n\nWhat is known of the kernel: q back, then i."
        return advice

    @on(BigTable.PageWanted)
    def _page_wanted(self, message: BigTable.PageWanted) -> None:
        instances = self._instances
        if instances is None:
            return
        first, count, generation = message.first, message.count, message.generation

        def show(rows: list[OpRow]) -> None:
            self._paths.update((row.id, row.node) for row in rows)
            self.table.deliver(generation, first, [self._table_row(row) for row in rows])
            self.rows_ready()

        self.ask(f"page {first}", lambda: instances.page(first, count), show)

    def _table_row(self, row: OpRow) -> TableRow:
        """The cells of a launch, in the order of the columns."""
        kernel = row.kind is GpuKind.KERNEL
        missing = fmt.NA if kernel else ""
        device = [self._labels.get(row.device, "")] if len(self._labels) > 1 else []
        # Among launches of one name the full one tells the variants apart.
        name = row.name if self._op is None else row.full_name or row.name
        cells = [
            f"{row.start_ns / 1e6:.4f}",
            f"{row.dur_ns / 1e3:.3f}",
            *device,
            name,
            row.stream,
            fmt.dim3(row.grid) if kernel else "",
            fmt.dim3(row.block) if kernel else "",
            missing if row.registers is None else str(row.registers),
            shared_memory(row) if kernel else "",
            "" if row.bytes is None else fmt.size(row.bytes),
            "" if row.launched else "not recorded",
        ]
        return TableRow(row.id, cells)

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
        self.app.switch_screen(LaunchesScreen(None, self._device))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What belongs to the table by name does nothing here."""
        if action in ("copies", "next_device", "detail", "inside", "open_source"):
            return False
        return action != "launches" or self._op is not None

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
