"""View 3: what runs on the GPUs, by name, and who launches it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from ...ingest.model import GpuKind
from ...queries.capture import Device, devices
from ...queries.kernels import GPU_WORK, OpStat, op_stats, ops_below
from ...queries.scope import scoped_op_stats
from ...reports import format as fmt
from ...reports.overview import no_gpu_advice
from ..export import Table
from ..keys import bindings
from ..looking import Target
from ..session import Session
from ..widgets.big_table import BigTable
from ..widgets.detail_pane import DetailPane
from ..widgets.filter_input import FilterInput
from ..widgets.row_list import RowList
from ..widgets.status_line import StatusLine
from .detail_view import DetailView
from .details import of_op
from .filtering import FilterView
from .kernel import KernelScreen
from .kernels_detail import OpDetail, op_detail
from .kernels_rows import OpTable
from .launches import LaunchesScreen
from .view import nothing_matches

KERNELS_ONLY = (GpuKind.KERNEL, GpuKind.GRAPH)


class KernelsScreen(FilterView, DetailView):
    """Totals by name, with the detail of the row under the cursor."""

    VIEW = "kernels"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("kernels")]

    def __init__(self) -> None:
        super().__init__()
        self._table: OpTable | None = None
        self._devices: list[Device] = []
        self._device: int | None = None
        self._copies = False
        self._wanted: Target | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield StatusLine()
        yield Container(BigTable(id="table"), DetailPane(id="detail"), id="main")
        yield FilterInput("part of a name")

    # --------------------------------------------------------------- table --

    def opened(self, session: Session) -> None:
        self.show_body()
        self._load()

    def events_loaded(self, session: Session) -> None:
        self.ask_detail()

    def scope_set(self) -> None:
        self._load()

    def _load(self) -> None:
        session, device = self.session, self._device
        if session is None:
            return
        kinds = GPU_WORK if self._copies else KERNELS_ONLY

        rank, scope = self.app.rank, self.app.scope
        nodes = None if rank is None else rank.nodes

        def load() -> tuple[list[OpStat], list[Device]]:
            known = devices(session.trace)
            if rank is not None:
                known = [d for d in known if d.device in rank.devices]
            if scope is not None:
                ops = scoped_op_stats(session.trace, scope, kinds=kinds, device=device, nodes=nodes)
            elif nodes is not None:
                ops = ops_below(session.trace, nodes, kinds=kinds, device=device)
            else:
                ops = op_stats(session.trace, kinds=kinds, device=device)
            return ops, known

        self.query_one(StatusLine).left = "reading the kernels …"
        self.ask("table", load, self._loaded, rows=True)

    def _loaded(self, answer: tuple[list[OpStat], list[Device]]) -> None:
        ops, self._devices = answer
        first = self._table is None
        at = self._current
        self._table = OpTable(ops)
        self.refresh_bindings()
        wanted, self._wanted = self._wanted, None
        key, descending = self.table.order if not first else ("total", True)
        self._arrange(key, descending, keep=at)
        if first:
            self.set_focus(self.table)
            self.rows_ready()
        if wanted is not None:
            self.lead_to(wanted)
        self.ask_detail()

    @property
    def table(self) -> BigTable:
        return self.query_one("#table", BigTable)

    @property
    def _current(self) -> OpStat | None:
        row = self.table.cursor_row
        return None if self._table is None or row is None else self._table.ops[row.key]

    def _arrange(self, key: str, descending: bool, keep: OpStat | None) -> None:
        """Show the rows in an order; the cursor stays on the operation it is on."""
        ops = self._table
        if ops is None:
            return
        ops.arrange(key, descending, self.filter_text)
        at = None if keep is None else ops.place(keep.kind, keep.name)
        columns = ops.columns
        self.table.show(columns, ops.rows(), sort_key=key, descending=descending, cursor=at or 0)
        self._say()

    @on(BigTable.SortWanted)
    def _sort_wanted(self, message: BigTable.SortWanted) -> None:
        self._arrange(message.key, message.descending, self._current)

    def _say(self) -> None:
        ops = self._table
        if ops is None:
            return
        parts = ["kernels, copies and memsets" if self._copies else "kernels"]
        if len(self._devices) > 1:
            names = {device.device: device.label for device in self._devices}
            parts.append("all GPUs" if self._device is None else names[self._device])
        if self.filter_text:
            parts.append(f"{fmt.count(len(ops.shown))} match “{self.filter_text}”")
        self.table.empty_text = self._why_empty(ops)
        line = self.query_one(StatusLine)
        line.left = " · ".join(parts)
        launches = sum(op.count for op in ops.shown)
        line.right = f"{fmt.count(len(ops.shown))} names, {fmt.count(launches)} launches"

    def _why_empty(self, ops: OpTable) -> str:
        """In place of rows."""
        if ops.ops:
            return nothing_matches(self.filter_text)
        overview = self.app.load_state.overview
        advice = None if overview is None else no_gpu_advice(overview.capture)
        if advice is not None:
            return f"{advice}\n\n2 Call paths has the host time."
        return "No kernels were recorded here." + ("" if self._copies else " c shows copies.")

    def lead_to(self, target: Target) -> None:
        if self._table is None:
            self._wanted = target
            return
        if target.op is None:
            return
        kind, name = target.op
        if kind not in KERNELS_ONLY and not self._copies:
            self._wanted = target
            self.action_copies()
            return
        if self.filter_text and self._table.place(kind, name) is None:
            self.show_all_rows()
        row = self._table.place(kind, name)
        if row is not None:
            self.table.set_cursor(row)
            self.ask_detail()
        self.table.focus()

    # -------------------------------------------------------------- detail --

    @on(BigTable.Highlighted)
    def _highlighted(self) -> None:
        self.ask_detail_soon()

    def ask_detail(self) -> None:
        session, op, device = self.session, self._current, self._device
        nodes = None if self.app.rank is None else self.app.rank.nodes
        pane = self.query_one(DetailPane)
        if session is None or self._table is None or not pane.display:
            return
        if op is None:
            pane.say("")  # the table says why
            return
        self.ask("detail", lambda: op_detail(session.trace, op, device, nodes), self._show_detail)

    def _show_detail(self, detail: OpDetail) -> None:
        shown = of_op(detail.op, detail.callers, detail.histogram, detail.shapes)
        if self.app.scope is not None:
            note = "Callers, durations and launch shapes below are those of the whole trace."
            shown = replace(shown, heading=f"{shown.heading}\n{note}")
        self.show_detail(shown)

    # -------------------------------------------------------------- filter --

    def filter_changed(self) -> None:
        key, descending = self.table.order
        self._arrange(key, descending, self._current)
        self.ask_detail()

    def cancel(self) -> bool:
        return self.end_filter() or self.close_detail()

    # ------------------------------------------------------------- actions --

    @on(BigTable.Opened)
    def _opened(self) -> None:
        op = self._current
        if op is not None:
            self.app.push_screen(LaunchesScreen(op, self._launches_device()))

    def action_inside(self) -> None:
        op = self._current
        if op is not None:
            self.app.push_screen(KernelScreen(op, self._launches_device()))

    def action_launches(self) -> None:
        self.app.push_screen(LaunchesScreen(None, self._launches_device()))

    @on(RowList.Opened)
    def _lead_on(self, message: RowList.Opened) -> None:
        if isinstance(message.row.target, Target):
            self.app.lead("paths", message.row.target)

    def rank_set(self) -> None:
        rank = self.app.rank
        if rank is not None and self._device not in rank.devices:
            self._device = None
        self._load()

    def _launches_device(self) -> int | None:
        """The device whose launches are listed: of a rank with one device, that one."""
        rank = self.app.rank
        if self._device is None and rank is not None and len(rank.devices) == 1:
            return rank.devices[0]
        return self._device

    def action_copies(self) -> None:
        self._copies = not self._copies
        self._load()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_device":
            return len(self._devices) > 1
        if action == "open_source":  # of one kernel
            return False
        return super().check_action(action, parameters)

    def action_next_device(self) -> None:
        choices: list[int | None] = [None, *(device.device for device in self._devices)]
        self._device = choices[(choices.index(self._device) + 1) % len(choices)]
        self._load()

    def action_copy(self) -> None:
        op = self._current
        if op is not None:
            self.copy(op.name)

    @property
    def exportable(self) -> bool:
        return self._table is not None

    def export_table(self) -> Table:
        assert self._table is not None
        return self._table.table()
