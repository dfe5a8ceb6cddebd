"""View 1: what was recorded, how the GPUs spent their time, and where to go next."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from ...ingest.model import Severity
from ...queries.capture import Capture, DeviceTime, Note
from ...queries.overview import Overview, overview
from ...reports import format as fmt
from ...reports.overview import facts_line, no_gpu_advice, shown_notes
from ..app import Target
from ..keys import bindings
from ..loading import TOP
from ..widgets.row_list import Row, RowList, Tone
from ..widgets.split_bar import Split, SplitBar
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
from .view import ViewScreen

if TYPE_CHECKING:
    from ..export import Table
    from ..session import Session

FEW_DEVICES = 4
"""As many always fit; more can be scrolled."""
ROOMY = 40
"""Lines of the terminal that leave room for the operators beside kernels and call paths."""
PANELS = ("notes", "kernels", "operators", "paths")

_TONES: dict[Severity, Tone] = {
    Severity.INFO: "normal",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
}
_SIGNS = {Severity.INFO: " i ", Severity.WARNING: " ! ", Severity.ERROR: "!! "}


class OverviewScreen(ViewScreen):
    """The first screen. Every row leads on."""

    VIEW = "overview"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("overview")]

    def __init__(self) -> None:
        super().__init__()
        self._overview: Overview | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield Static(id="facts", markup=False)
        yield Static(id="advice", markup=False)
        with VerticalScroll(id="split", can_focus=False):
            yield SplitBar()
        with Container(id="panels"):
            for name in PANELS:
                yield RowList(id=name)

    def opened(self, session: "Session") -> None:
        """Nothing is left to ask: the overview is known by now."""

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
        first = next(
            (p for p in ("kernels", "operators", "paths", "notes") if self._panel(p).display), None
        )
        if first is not None and not isinstance(self.focused, RowList):
            self._panel(first).focus()
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
            # Where lines are few, the kernels and the call paths to them come first.
            rows = operator_rows(overview.operators) if self.size.height >= ROOMY else []
            self._fill("operators", title, rows, OPERATOR_HEADING)
            title = f"{of}Top call paths by the GPU work they launch, share of all GPU work"
            self._fill("paths", title, path_rows(overview.paths), PATH_HEADING)
        else:
            title = f"{of}Top operators by their own host time"
            self._fill("operators", title, operator_rows(overview.operators), OPERATOR_HEADING)
            title = f"{of}Top call paths by their own host time"
            self._fill("paths", title, host_path_rows(overview.host_paths), HOST_PATH_HEADING)

    def on_resize(self) -> None:
        if self._overview is not None:
            self._show_work(self._overview)

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
        elif isinstance(target, Target):
            self.app.lead("kernels" if target.op is not None else "paths", target)

    @on(RowList.Edge)
    def _edge(self, message: RowList.Edge) -> None:
        """The cursor goes on in the next list, as if they were one."""
        panels = [panel for panel in self.query(RowList) if panel.display]
        at = panels.index(message.list) + (1 if message.down else -1)
        if 0 <= at < len(panels):
            panels[at].focus()
            panels[at].move_to(0 if message.down else len(panels[at].rows) - 1)

    def action_copy(self) -> None:
        focused = self.focused
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
