"""View 1: does the host hold the GPUs up, how did they spend their time, and where to go next."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from ...queries.capture import DeviceTime, Note
from ...queries.overview import Overview, overview
from ...reports import format as fmt
from ...reports.overview import facts_line, no_gpu_advice, shown_notes, windows_text
from ...reports.verdict_card import Lead
from ..keys import bindings
from ..loading import TOP
from ..looking import Target
from ..widgets.row_list import Row, RowList
from ..widgets.split_bar import SplitBar
from ..widgets.step_strip import StepStrip
from ..widgets.verdict_view import VerdictView
from .leads import (
    HOST_PATH_HEADING,
    OP_HEADING,
    OPERATOR_HEADING,
    PATH_HEADING,
    host_path_rows,
    op_rows,
    operator_rows,
    path_rows,
    target_of,
)
from .overview_rows import device_table, models, note_rows, split, unused_rows
from .overview_verdict import READING, STILL_JUDGING, TITLE, VerdictPart

if TYPE_CHECKING:
    from ...queries.kernels import OpStat
    from ..export import Table
    from ..session import Session

FEW_DEVICES = 4
"""As many always fit; more can be scrolled."""
PANELS = ("findings", "kernels", "operators", "paths", "notes")


class OverviewScreen(VerdictPart):
    """The first screen. Every row leads on."""

    VIEW = "overview"
    BY_STEPS = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("overview")]

    def __init__(self) -> None:
        super().__init__()
        self._overview: Overview | None = None

    def compose_body(self) -> Iterable[Widget]:
        with VerticalScroll(id="page", can_focus=False):
            yield Static(id="facts", markup=False)
            yield Static(id="advice", markup=False)
            with Container(id="top"):
                with Container(id="verdict"):
                    yield VerdictView(id="card")
                with Vertical(id="times"):
                    with VerticalScroll(id="split", can_focus=False):
                        yield SplitBar()
                    with Container(id="strip-box"):
                        yield StepStrip(id="strip", lines=2, interactive=False)
                        yield Static(id="strip-caption", markup=False)
            yield RowList(id="findings")
            with Container(id="panels"):
                yield RowList(id="kernels")
                yield RowList(id="operators")
                yield RowList(id="paths")
            yield RowList(id="notes")

    def on_mount(self) -> None:
        self.query_one("#verdict").border_title = TITLE
        self.app.window_changed.subscribe(self, self._window_changed)

    def opened(self, session: "Session") -> None:
        """Nothing is left to ask: the overview is known by now."""

    def reopened(self, session: "Session") -> None:
        overview = self.app.load_state.overview
        if overview is not None:
            self._overview = overview
            self._show_facts(overview)
            self._show_work(overview)

    def _window_changed(self, window: str) -> None:
        self.judge()

    def overview_known(self, overview: Overview) -> None:
        self._overview = overview
        self.show_body()
        advice = self._show_facts(overview)
        self._show_work(overview)
        for name in ("#findings", "#strip-box"):
            self.query_one(name).display = False
        self.query_one(VerdictView).say(READING)
        first = next((p for p in map(self._panel, PANELS) if p.display), None)
        if advice is None:
            self.query_one(VerdictView).focus(scroll_visible=False)
        elif first is not None:
            first.focus(scroll_visible=False)
        self.call_after_refresh(self.rows_ready)
        if self.app.loading is not None:
            self.call_after_refresh(self.app.loading.first_screen.set)

    def _show_facts(self, overview: Overview) -> str | None:
        """What was recorded. Returns what to do when no GPU work was."""
        capture = overview.capture
        # The title bar names the file.
        self.query_one("#facts", Static).update(fmt.clean(facts_line(capture).partition(" · ")[2]))
        advice = no_gpu_advice(capture)
        self.set_class(advice is not None, "-no-gpu")
        self.query_one("#advice", Static).update(advice or "")
        self._fill("notes", "Notes", [*note_rows(shown_notes(capture)), *unused_rows(capture)])
        return advice

    def _show_work(self, overview: Overview, kernels: "list[OpStat] | None" = None) -> None:
        """What took the time, of all ranks or the one that is looked at. `kernels`: of the chosen
        steps; the other panels are of the whole run then, and say so."""
        rank, scope = self.app.rank, self.app.scope
        of = "" if rank is None else f"{rank.label}: "
        run = "" if scope is None else ", of the whole run"
        self._show_split(overview.devices, run)
        top = "all GPU work" if scope is None else f"the GPU work of {scope.label}"
        rows = op_rows(overview.kernels if kernels is None else kernels)
        self._fill("kernels", f"{of}Top kernels, share of {top}", rows, OP_HEADING)
        if overview.capture.gpu_window_ns is not None:
            title = f"{of}Top operators by the GPU work they launch themselves{run}"
            self._fill("operators", title, operator_rows(overview.operators), OPERATOR_HEADING)
            title = f"{of}Top call paths by the GPU work they launch, share of all GPU work{run}"
            self._fill("paths", title, path_rows(overview.paths), PATH_HEADING)
        else:
            title = f"{of}Top operators by their own host time{run}"
            self._fill("operators", title, operator_rows(overview.operators), OPERATOR_HEADING)
            title = f"{of}Top call paths by their own host time{run}"
            self._fill("paths", title, host_path_rows(overview.host_paths), HOST_PATH_HEADING)

    def rank_set(self) -> None:
        self.judge()
        self._ask_work()

    def scope_set(self) -> None:
        self.judge()
        self._ask_work()

    def _ask_work(self) -> None:
        """Ask what took the time, of the rank and in the steps that are looked at."""
        session, rank, scope = self.session, self.app.rank, self.app.scope
        if session is None:
            return

        def work() -> "tuple[Overview, list[OpStat] | None]":
            found = overview(session.trace, TOP, rank)
            if scope is None:
                return found, None
            from ...queries.scope import scoped_op_stats

            nodes = None if rank is None else rank.nodes
            return found, scoped_op_stats(session.trace, scope, nodes=nodes)[:TOP]

        def show(answer: "tuple[Overview, list[OpStat] | None]") -> None:
            self._overview, kernels = answer
            self._show_work(self._overview, kernels)

        self.ask("work", work, show, rows=True)

    def _show_split(self, devices: Sequence[DeviceTime], run: str = "") -> None:
        box = self.query_one("#split", VerticalScroll)
        box.display = bool(devices)
        box.can_focus = len(devices) > FEW_DEVICES
        if devices:
            window = f"GPU time, {windows_text(devices)}{run}"
            title = " · ".join(part for part in (window, models(devices)) if part)
            box.border_title = Content(fmt.clean(title))  # a name is no markup
            self.query_one(SplitBar).show([split(device) for device in devices])

    def _panel(self, name: str) -> RowList:
        return self.query_one(f"#{name}", RowList)

    def _fill(self, name: str, title: str, rows: Sequence[Row], heading: str = "") -> None:
        panel = self._panel(name)
        panel.border_title = title
        panel.display = bool(rows)
        panel.set_rows(rows, heading)

    # -------------------------------------------------------------- actions --

    @on(RowList.Opened)
    def _lead_on(self, message: RowList.Opened) -> None:
        target = message.row.target
        if isinstance(target, Note):
            from .message import MessageScreen

            self.app.push_screen(MessageScreen(target.source or "Note", target.text))
        elif isinstance(target, Lead):
            self._go(target)
        elif isinstance(target, Target):
            self.app.lead("kernels" if target.op is not None else "paths", target)

    @on(RowList.Edge)
    def _edge(self, message: RowList.Edge) -> None:
        """The cursor goes on in the next list, as if they were one; above them all is the card."""
        panels = [panel for panel in map(self._panel, PANELS) if panel.display]
        at = panels.index(message.list) + (1 if message.down else -1)
        if at < 0 and not self.has_class("-no-gpu"):
            self.query_one(VerdictView).focus()
            self.query_one("#page").scroll_home(animate=False)
        elif 0 <= at < len(panels):
            panels[at].focus(scroll_visible=False)
            panels[at].move_to(0 if message.down else len(panels[at].rows) - 1)

    @on(VerdictView.Edge)
    def _leave_card(self, message: VerdictView.Edge) -> None:
        first = next((p for p in map(self._panel, PANELS) if p.display), None)
        if message.down and first is not None:
            first.focus(scroll_visible=False)
            first.move_to(0)

    @on(VerdictView.Opened)
    def _open_card(self) -> None:
        card = self.query_one(VerdictView).card
        if card is not None:
            self._go(card.lead)
        elif self._judging:
            self.notify(STILL_JUDGING)

    def _go(self, lead: Lead) -> None:
        self.app.lead(lead.view, target_of(lead))

    def action_copy(self) -> None:
        focused = self.focused
        card = self.query_one(VerdictView).card
        if isinstance(focused, VerdictView) and card is not None:
            self.copy(f"{card.answer}: {card.headline}. Next: {card.next_step}")
            return
        row = focused.cursor_row if isinstance(focused, RowList) else None
        if row is not None:
            self.copy(row.target.text if isinstance(row.target, Note) else row.label)

    def export_text(self) -> str:
        from ...reports.overview import overview_text

        assert self._overview is not None
        return overview_text(self._overview, width=120)

    def export_table(self) -> "Table":
        """The split of each device's time."""
        assert self._overview is not None
        return device_table(self._overview.devices)

    @property
    def exportable(self) -> bool:
        return self._overview is not None
