"""Below view 3: one kernel from inside."""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from ...analyzers.kernel_panel import KernelPanel, kernel_panel
from ...analyzers.ncu_figures import of_panel
from ...ingest.model import GpuKind
from ...queries.kernels import OpSelection, OpStat
from ...queries.trace import NotReadyError
from ...reports.ncu_text import not_measured
from ...reports.roofline_text import roofline_sentence
from ..editor import open_in_editor
from ..export import Table
from ..keys import bindings
from ..looking import Target
from ..session import Session
from ..widgets.detail_pane import DetailPane
from ..widgets.fit import clean
from ..widgets.row_list import RowList
from .details import Detail
from .kernel_rows import SourcePlace, panel_detail, shape_table
from .view import ViewScreen

_NOT_HERE = frozenset({"copies", "next_device", "detail", "filter", "inside", "launches"})


class KernelScreen(ViewScreen):
    """The panel of one kernel: shapes, what limits them, durations, slow launches, callers, and
    the command that collects the rest."""

    VIEW = "kernels"
    SCOPED = False
    EXPORT_NAME = "kernel"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("kernels")]

    def __init__(self, op: OpStat, device: int | None) -> None:
        super().__init__()
        self._op = op
        self._device = device
        self._panel: KernelPanel | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield DetailPane(id="inside")

    def opened(self, session: Session) -> None:
        self.show_body()
        self._ask()

    def events_loaded(self, session: Session) -> None:
        if self._panel is None:
            self._ask()

    def rank_set(self) -> None:
        self._ask()

    def _ask(self) -> None:
        session, op, device = self.session, self._op, self._device
        if session is None:
            return
        nodes = None if self.app.rank is None else self.app.rank.nodes
        profiled, sources = self.app.measured, self.app.sources

        def question() -> tuple[KernelPanel, Detail] | None:
            try:
                panel = kernel_panel(session.trace, op, device=device, nodes=nodes)
            except NotReadyError:
                return None
            measured = [kernel for kernel, _ in of_panel(panel, profiled)]
            shown = panel_detail(panel, measured, sources)
            if profiled and not measured:
                shown = replace(shown, heading=f"{shown.heading}\n{not_measured(profiled)}")
            return panel, shown

        self.query_one(DetailPane).say(f"{op.name}\nreading the events …")
        self.ask("panel", question, self._show, rows=True)

    def _show(self, found: tuple[KernelPanel, Detail] | None) -> None:
        if found is None:
            return
        first = self._panel is None
        self._panel, shown = found
        self.query_one(DetailPane).show(shown.heading, shown.histogram, shown.lists, shown.shapes)
        self._ask_roofline(shown.heading)
        if first:
            self.set_focus(next(rows for rows in self.query(RowList) if rows.display))
            self.refresh_bindings()
        self.rows_ready()

    def _ask_roofline(self, heading: str) -> None:
        """Below the heading, once it is known: it needs all operators of the trace."""
        session, op, rank, given = self.session, self._op, self.app.rank, self.app.own_files
        if session is None or op.kind is not GpuKind.KERNEL:
            return
        nodes = None if rank is None else rank.nodes
        of = OpSelection(op.kind, name_id=op.name_id, nodes=nodes, device=self._device)

        def question() -> str:
            from ...reports.own_files import usable_files

            return roofline_sentence(session.roofline(usable_files(given)[0], of))

        def show(text: str) -> None:
            self.query_one(DetailPane).head(f"{heading}\n{text}")

        self.ask("roofline", question, show)

    @on(RowList.Opened)
    def _lead_on(self, message: RowList.Opened) -> None:
        target = message.row.target
        if isinstance(target, Target):
            self.app.lead("paths", target)
        elif isinstance(target, SourcePlace):
            self._open(target)

    def _open(self, place: SourcePlace) -> None:
        problem = open_in_editor(self.app, place.file, place.line, self.app.sources)
        if problem:
            self.notify(clean(problem), markup=False)

    def action_open_source(self) -> None:
        """Of the row with the cursor, else of the first that has a source line: it waits most."""
        lists = [rows for rows in self.query(RowList) if rows.display]
        here = [rows.cursor_row for rows in lists if rows.has_focus]
        rows = [*here, *(row for one in lists for row in one.rows)]
        places = [row.target for row in rows if row and isinstance(row.target, SourcePlace)]
        if places:
            self._open(places[0])
        else:
            self.notify("no source line is known: the kernel has no samples that tell one")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What belongs to the table by name does nothing here."""
        if action in _NOT_HERE:
            return False
        return super().check_action(action, parameters)

    def action_copy(self) -> None:
        """The command that collects more; of what is no kernel, its name."""
        panel = self._panel
        if panel is not None:
            self.copy(panel.collect or panel.op.name)

    @property
    def exportable(self) -> bool:
        return self._panel is not None

    def export_table(self) -> Table:
        assert self._panel is not None
        return shape_table(self._panel)
