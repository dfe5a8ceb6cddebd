"""View 7: what the ranks tell each other, how long that takes, and who waits for whom."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Static

from ...analyzers.collective_calls import CollectiveCall, collective_calls
from ...analyzers.collective_report import CollectiveReport
from ...analyzers.collective_stragglers import Straggler, stragglers
from ...analyzers.collective_waits import WaitMap, wait_map
from ...queries.places import WorkPlace, work_place
from ...reports import format as fmt
from ...reports.collective_text import summary_lines
from ..export import Table
from ..keys import bindings
from ..looking import Target
from ..session import Session
from ..widgets.big_table import BigTable
from ..widgets.filter_input import FilterInput
from ..widgets.row_list import RowList
from ..widgets.status_line import StatusLine
from .asking import failed
from .comms_rows import (
    ASCII_SHADES,
    SHADES,
    CallTable,
    label_of,
    legend,
    wait_heading,
    wait_rows,
)
from .filtering import FilterView
from .view import nothing_matches

LEAST_PIECES = 10
FIGURE_CELLS = 36
"""Of a row of waits, before its shades, with the borders."""
RESIZE_DELAY_S = 0.1


@dataclass(frozen=True, slots=True)
class Answer:
    """What the view shows."""

    report: CollectiveReport
    calls: list[CollectiveCall]
    late: list[Straggler]
    waits: WaitMap | None
    lines: list[str]


class CommsScreen(FilterView):
    """A table of collectives, and under it who waits."""

    VIEW = "comms"
    SCOPED = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("comms")]

    def __init__(self) -> None:
        super().__init__()
        self._answer: Answer | None = None
        self._table: CallTable | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield StatusLine()
        yield Static(id="comms-notes", markup=False)
        yield BigTable(id="table")
        yield RowList(id="waits")
        yield FilterInput("part of a collective, type or group")

    # ----------------------------------------------------------------- data --

    def opened(self, session: Session) -> None:
        self.show_body()
        self.query_one(StatusLine).left = "reading the events …"
        self.query_one("#waits").display = False

    def events_loaded(self, session: Session) -> None:
        self._load()

    def rank_set(self) -> None:
        self._load()

    def _load(self) -> None:
        session = self.session
        if session is None or not session.trace.events_ready:
            return
        rank, files = self.app.rank, self.app.own_files
        pieces = max(LEAST_PIECES, self.size.width - FIGURE_CELLS)

        def load() -> Answer | str:
            try:
                return find()
            except Exception as error:  # the other views do not depend on it
                return failed(error)

        def find() -> Answer:
            report = session.collectives(files)
            members = report.timed.found.members
            own = None
            if rank is not None:
                own = frozenset(m for m, of in enumerate(members) if of.process == rank.process)
            late = stragglers(report.timed)
            return Answer(
                report,
                collective_calls(report, own),
                late,
                wait_map(report.timed, pieces),
                summary_lines(report, late),
            )

        self.ask("comms", load, self._loaded, rows=True)

    def _loaded(self, answer: Answer | str) -> None:
        if isinstance(answer, str):
            self.query_one("#comms-notes", Static).update(fmt.clean(answer))
            self.rows_ready()
            return
        first = self._answer is None
        at = self._current
        self._answer = answer
        self._table = CallTable(answer.calls)
        self.query_one("#comms-notes", Static).update(fmt.clean_lines("\n".join(answer.lines)))
        key, descending = ("total", True) if first else self.table.order
        self._arrange(key, descending, at)
        self._show_waits(answer)
        if first:
            self.set_focus(self.table)
            self.rows_ready()

    def _show_waits(self, answer: Answer) -> None:
        panel = self.query_one("#waits", RowList)
        waits = answer.waits
        panel.display = waits is not None
        if waits is None:
            return
        shades = ASCII_SHADES if self.app.ascii_only else SHADES
        how = " by durations" if waits.by_duration else ""
        # The rank with the light row is the one that the others wait for.
        panel.border_title = f"Waits{how}: {legend(waits, shades)} (light row: late)"
        width = self.size.width - FIGURE_CELLS
        found = answer.report.timed.found
        rows = wait_rows(waits, answer.late, found, shades, width)
        panel.set_rows(rows, wait_heading(waits.collectives))

    @property
    def table(self) -> BigTable:
        return self.query_one("#table", BigTable)

    @property
    def _current(self) -> CollectiveCall | None:
        row = self.table.cursor_row
        return None if self._table is None or row is None else self._table.calls[row.key]

    def _arrange(self, key: str, descending: bool, keep: CollectiveCall | None) -> None:
        calls = self._table
        if calls is None:
            return
        calls.arrange(key, descending, self.filter_text)
        self.table.empty_text = self._why_empty(calls)
        at = calls.shown.index(keep) if keep is not None and keep in calls.shown else 0
        self.table.show(calls.columns, calls.rows(), sort_key=key, descending=descending, cursor=at)
        self._say(calls)

    def _say(self, calls: CallTable) -> None:
        line = self.query_one(StatusLine)
        total = sum(call.total_ns for call in calls.calls)
        exposed = sum(call.exposed_ns for call in calls.calls)
        parts = ["collectives by arguments, waits included"]
        if self.filter_text:
            parts.append(f"{fmt.count(len(calls.shown))} match “{self.filter_text}”")
        line.left = " · ".join(parts)
        line.right = (
            f"{fmt.duration(total)} · {fmt.share(1 - exposed / total)} hidden by compute"
            if total
            else ""
        )

    def _why_empty(self, calls: CallTable) -> str:
        if calls.calls:
            return nothing_matches(self.filter_text)
        whose = "" if self.app.rank is None else f" of {self.app.rank.label}"
        return (
            f"No communication kernels{whose} in this trace: nothing is known about collectives. "
            "Kernels of NCCL, RCCL, NVSHMEM and all-reduces of inference engines would be here."
        )

    @on(BigTable.SortWanted)
    def _sort_wanted(self, message: BigTable.SortWanted) -> None:
        self._arrange(message.key, message.descending, self._current)

    def on_resize(self, event: events.Resize) -> None:
        """A piece of the waits is one column wide."""
        if self._answer is not None:
            self.set_timer(RESIZE_DELAY_S, self._load)

    # ---------------------------------------------------------------- filter --

    def filter_changed(self) -> None:
        self._arrange(*self.table.order, self._current)

    def cancel(self) -> bool:
        return self.end_filter()

    # --------------------------------------------------------------- actions --

    @on(BigTable.Opened)
    @on(RowList.Opened)
    def _opened(self) -> None:
        self._lead_to_work("paths")

    def action_kernels(self) -> None:
        self._lead_to_work("kernels")

    def _event(self) -> int | None:
        """The kernel that the row with the cursor leads to: an index into the collectives."""
        focused = self.focused
        if isinstance(focused, RowList):
            target = None if focused.cursor_row is None else focused.cursor_row.target
            return target if isinstance(target, int) else None
        call = self._current
        return None if call is None else call.longest

    def _lead_to_work(self, view: str) -> None:
        session, answer, event = self.session, self._answer, self._event()
        if session is None or answer is None or event is None:
            return
        work = int(answer.report.timed.found.work.id[event])

        def show(place: WorkPlace | None) -> None:
            if place is None:
                return
            if view == "kernels":
                self.app.lead("kernels", Target(op=(place.kind, place.name)))
            elif place.node is not None:
                self.app.lead("paths", Target(node=place.node))

        self.ask("lead", lambda: work_place(session.trace, work), show)

    @on(RowList.Edge)
    def _edge(self, message: RowList.Edge) -> None:
        """Above the first rank are the collectives."""
        if not message.down:
            self.table.focus()

    def action_copy(self) -> None:
        focused = self.focused
        if isinstance(focused, RowList) and focused.cursor_row is not None:
            self.copy(f"rank {focused.cursor_row.figures.strip()}")
        elif self._current is not None:
            self.copy(label_of(self._current))

    @property
    def exportable(self) -> bool:
        return self._table is not None

    def export_table(self) -> Table:
        assert self._table is not None
        return self._table.table()
