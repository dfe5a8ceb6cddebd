"""View 1: does the host hold the GPUs up, how did they spend their time, and where to go next."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from ...ingest.model import Severity
from ...queries.capture import Capture, DeviceTime, Note
from ...queries.overview import Overview, overview
from ...reports import format as fmt
from ...reports.overview import facts_line, no_gpu_advice, shown_notes
from ...reports.verdict_card import CardFinding, Lead, VerdictCard
from ..app import Target
from ..keys import bindings
from ..loading import FIRST_WINDOW, TOP
from ..widgets.fit import wrap
from ..widgets.row_list import Row, RowList, Tone
from ..widgets.split_bar import Split, SplitBar
from ..widgets.step_strip import Bars, StepStrip
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
)
from .view import ViewScreen, failed

if TYPE_CHECKING:
    from ..export import Table
    from ..session import Session

FEW_DEVICES = 4
"""As many always fit; more can be scrolled."""
PANELS = ("findings", "kernels", "operators", "paths", "notes")
WINDOWS = ("auto", "steady", "trace")
"""What `w` goes through."""
COMPUTING = "Is the GPU waiting for the host? Judging … (esc stops)"
STOPPED = "Stopped. w judges again."
READING = "Is the GPU waiting for the host? Judged as soon as the events are read."

_TONES: dict[Severity, Tone] = {
    Severity.INFO: "normal",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
}
_WEIGHTS = {1: "  i ", 2: "  ! ", 3: " !! "}
_SIGNS = {Severity.INFO: " i ", Severity.WARNING: " ! ", Severity.ERROR: "!! "}


class OverviewScreen(ViewScreen):
    """The first screen. Every row leads on."""

    VIEW = "overview"
    SCOPED = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("overview")]

    def __init__(self) -> None:
        super().__init__()
        self._overview: Overview | None = None
        self._judging = False
        self._judged: str | None = None
        """The window of the card that is shown."""
        self._findings: tuple[CardFinding, ...] = ()

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
        self.query_one("#verdict").border_title = "Does the host hold the GPUs up?"
        self.app.window_changed.subscribe(self, self._judge_window)

    def opened(self, session: "Session") -> None:
        """Nothing is left to ask: the overview is known by now."""

    def card_known(self, card: VerdictCard) -> None:
        """The verdict of the last time."""
        if self._judged is None:
            self._show_card(FIRST_WINDOW, card)

    def events_loaded(self, session: "Session") -> None:
        if self._judged is None and not self._judging:
            self._judge()

    # -------------------------------------------------------------- verdict --

    def _judge_window(self, window: str) -> None:
        self._judge()

    def _judge(self) -> None:
        """Ask for the verdict over the application's window; the view goes on meanwhile."""
        session, loading, window = self.session, self.app.loading, self.app.window
        if session is None or not session.trace.events_ready:
            return
        self._judging = True
        self.query_one(VerdictView).say(COMPUTING)

        def judge() -> VerdictCard | str:
            from ...analyzers.errors import RequestError

            try:
                card = session.card(window)
            except RequestError as error:
                return str(error)
            except Exception as error:  # the other views do not depend on it
                return failed(error)
            if loading is not None and window == FIRST_WINDOW:
                loading.remember_card(card)
            return card

        self.ask("verdict", judge, lambda answer: self._show_answer_of(window, answer))

    def _show_answer_of(self, window: str, answer: VerdictCard | str) -> None:
        self._judging = False
        if isinstance(answer, str):
            self._judged = window
            self.query_one(VerdictView).say(f"n/a over the window {window}: {answer}")
        else:
            self._show_card(window, answer)

    def _show_card(self, window: str, card: VerdictCard) -> None:
        self._judging, self._judged = False, window
        self.query_one(VerdictView).show(card)
        self._findings = card.findings
        self._fill_findings()
        strip = self.query_one("#strip", StepStrip)
        box = self.query_one("#strip-box")
        box.display = card.steps is not None
        if card.steps is not None:
            box.border_title = Content(fmt.clean(card.steps.title))
            strip.show([Bars("", card.steps.walls_ns)])
            self.query_one("#strip-caption", Static).update(fmt.clean(card.steps.caption))

    def _fill_findings(self) -> None:
        """Sentences folded to the width, each line of one leading to the same place."""
        rows: list[Row] = []
        width = max(20, self.size.width - 8)
        for finding in self._findings:
            tone: Tone = "warning" if finding.weight > 1 else "normal"
            first, *rest = wrap(finding.sentence, width)
            rows.append(Row(first, _WEIGHTS[finding.weight], target=finding.lead, tone=tone))
            rows += [Row(text, "    ", target=finding.lead, tone=tone) for text in rest]
            rows += [
                Row(text, "    ", target=finding.lead, tone="dim")
                for text in wrap(f"Try: {finding.remedy}", width)
            ]
        self._fill("findings", "Findings", rows)

    def on_resize(self, event: events.Resize) -> None:
        if self._findings:
            self._fill_findings()

    def cancel(self) -> bool:
        if not self._judging:
            return False
        self._judging = False
        self.forget("verdict")
        self.query_one(VerdictView).say(STOPPED)
        return True

    def action_next_window(self) -> None:
        """Judge the next window, or the same one again when that was stopped."""
        if self._judged != self.app.window and not self._judging:
            self._judge()
            return
        self.app.judge(WINDOWS[(WINDOWS.index(self.app.window) + 1) % len(WINDOWS)])

    @on(VerdictView.Opened)
    def _open_card(self) -> None:
        card = self.query_one(VerdictView).card
        if card is not None:
            self._go(card.lead)

    def _go(self, lead: Lead) -> None:
        self.app.lead(lead.view, Target(node=lead.node))

    def overview_known(self, overview: Overview) -> None:
        self._overview = overview
        self.show_body()
        capture = overview.capture
        # The title bar names the file.
        self.query_one("#facts", Static).update(fmt.clean(facts_line(capture).partition(" · ")[2]))
        advice = no_gpu_advice(capture)
        self.set_class(advice is not None, "-no-gpu")
        self.query_one("#advice", Static).update(advice or "")
        self._fill("notes", "Notes", [*note_rows(shown_notes(capture)), *unused_rows(capture)])
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

    def _show_work(self, overview: Overview) -> None:
        """What took the time, of all ranks or the one that is looked at."""
        rank = self.app.rank
        of = "" if rank is None else f"{rank.label}: "
        self._show_split(overview.devices)
        title = f"{of}Top kernels, share of all GPU work"
        self._fill("kernels", title, op_rows(overview.kernels), OP_HEADING)
        if overview.capture.gpu_window_ns is not None:
            title = f"{of}Top operators by the GPU work they launch themselves"
            self._fill("operators", title, operator_rows(overview.operators), OPERATOR_HEADING)
            title = f"{of}Top call paths by the GPU work they launch, share of all GPU work"
            self._fill("paths", title, path_rows(overview.paths), PATH_HEADING)
        else:
            title = f"{of}Top operators by their own host time"
            self._fill("operators", title, operator_rows(overview.operators), OPERATOR_HEADING)
            title = f"{of}Top call paths by their own host time"
            self._fill("paths", title, host_path_rows(overview.host_paths), HOST_PATH_HEADING)

    def rank_set(self) -> None:
        session, rank = self.session, self.app.rank
        if session is None:
            return

        def show(found: Overview) -> None:
            self._overview = found
            self._show_work(found)

        self.ask("rank", lambda: overview(session.trace, TOP, rank), show)

    def _show_split(self, devices: Sequence[DeviceTime]) -> None:
        box = self.query_one("#split", VerticalScroll)
        box.display = bool(devices)
        box.can_focus = len(devices) > FEW_DEVICES
        if devices:
            window = f"GPU time in a window of {fmt.duration(devices[0].window_ns)}"
            title = " · ".join(part for part in (window, _models(devices)) if part)
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
        from ..export import Table

        assert self._overview is not None
        columns = (
            "device",
            "name",
            "window_ns",
            "compute_ns",
            "comm_exposed_ns",
            "copy_exposed_ns",
            "idle_ns",
            "busy_ns",
            "kernel_count",
            "kernel_sum_ns",
        )
        rows = [
            (
                time.label,
                time.name,
                time.window_ns,
                time.compute_ns,
                time.comm_exposed_ns,
                time.copy_exposed_ns,
                time.idle_ns,
                time.busy_ns,
                time.kernel_count,
                time.kernel_sum_ns,
            )
            for time in self._overview.devices
        ]
        return Table(columns, rows)

    @property
    def exportable(self) -> bool:
        return self._overview is not None


def split(device: DeviceTime) -> Split:
    """A device's bar. The label says how long kernels and graph replays ran, of any kind: that is
    compute and communication; it counts overlap once, like the parts."""
    parts = (device.compute_ns, device.comm_exposed_ns, device.copy_exposed_ns, device.idle_ns)
    window = device.window_ns
    busy = fmt.share(None if device.busy_ns is None or not window else device.busy_ns / window)
    texts = [fmt.share(part / window if window else None) for part in parts]
    return Split(
        f"{device.label}  kernels {busy}",
        parts,
        (texts[0], texts[1], texts[2], texts[3]),
        "n/a: the window is empty",
    )


def unused_rows(capture: Capture) -> list[Row]:
    """That every row was accounted for, and which were not used."""
    number = sum(capture.unused.values())
    if not number:
        return []
    whole = sum(capture.rows.values())
    text = f"{fmt.count(number)} of {fmt.count(whole)} rows of the file are not used"
    lines = [f"{fmt.count(rows):>12}  {name}" for name, rows in sorted(capture.unused.items())]
    listed = Note(
        Severity.INFO, "Rows not used", "\n".join([f"{text}, by table and reason:", *lines])
    )
    return [Row(f"{text}; open for the list", _SIGNS[Severity.INFO], target=listed, tone="dim")]


def _models(devices: Sequence[DeviceTime]) -> str:
    """`2x NVIDIA H200`, with a word where the identity was guessed."""
    names = Counter(
        f"{device.name} (assumed)" if device.assumed else device.name
        for device in devices
        if not device.name.startswith(device.label)  # no model: the name is a stand-in
    )
    return ", ".join(f"{number}x {name}" if number > 1 else name for name, number in names.items())


def note_rows(notes: Sequence[Note]) -> list[Row]:
    return [
        Row(note.text, _SIGNS[note.severity], target=note, tone=_TONES[note.severity])
        for note in notes
    ]
