"""Where one is in the timeline: rows, window, cursor. Drawn by a worker whenever it changes."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events, on
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from ...analyzers.tracks.links import About, about
from ...analyzers.tracks.picture import Picked, Picture, draw
from ...analyzers.tracks.timeline import Found, Row, Timeline
from ...analyzers.tracks.window import Window
from ...ingest.capabilities import Capability
from ...reports import format as fmt
from ...reports.timeline_text import about_texts, picked_text, ticks, window_text
from ..session import Session
from ..widgets.fit import shorten, wrap
from ..widgets.status_line import StatusLine
from ..widgets.track_arrow import Arrow
from ..widgets.track_chart import Marks, TrackChart
from .view import ViewScreen

DETAIL_DELAY_S = 0.06
"""What the store tells of an event is asked when the cursor has rested."""
RESIZE_DELAY_S = 0.1
NO_EVENTS = "the trace holds none that take time."


class TimelinePlace(ViewScreen):
    """The part of the view that knows the place and shows it."""

    VIEW = "timeline"
    SCOPED: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.timeline: Timeline | None = None
        self.rows: list[Row] = []
        self.unfolded: frozenset[int] = frozenset()
        self.at = 0
        """The row under the cursor."""
        self.top = 0
        self.window = Window.whole(0, 0)
        self.cursor_ns = 0
        self.marked: tuple[int, int] | None = None
        """The column, as it was then, where a range begins: first instant, and the one after it."""
        self.picked: Picked | None = None
        self.about: About | None = None
        self._detail_timer: Timer | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield StatusLine()
        yield TrackChart(id="tracks")
        yield Static(id="picked", markup=False)

    @property
    def chart(self) -> TrackChart:
        return self.query_one(TrackChart)

    # -------------------------------------------------------------- reading --

    def opened(self, session: Session) -> None:
        self.show_body()
        self.query_one(StatusLine).left = "reading the events …"

    def events_loaded(self, session: Session) -> None:
        if self.timeline is None:
            self.ask("timeline", session.timeline, self._opened, rows=True)

    def _opened(self, timeline: Timeline) -> None:
        self.timeline = timeline
        if timeline.span is None:
            self.query_one(StatusLine).left = "no timeline"
            self.chart.focus()
            self._say(*wrap(self._why_none(), self.size.width - 2))
            self.refresh_bindings()
            self.rows_ready()
            return
        self.window = Window.whole(*timeline.span)
        self.cursor_ns = self.window.time(0, 2)
        self.set_rows()
        self.at = next((k for k, row in enumerate(self.rows) if row.track >= 0), 0)
        self.chart.focus()
        self.redraw()
        self._read_on()
        session = self.session
        if session is not None:
            self.ask("steps", session.timeline_steps, lambda _: self._changed())

    def _why_none(self) -> str:
        overview = self.app.load_state.overview
        reasons = {} if overview is None else dict(overview.capture.lacking)
        return f"No single events: {reasons.get(Capability.EVENTS, NO_EVENTS)}"

    def _read_on(self) -> None:
        """Read the next track; each is shown as soon as it is there."""
        timeline = self.timeline
        if timeline is None:
            return
        unread = timeline.unread(None if self.app.rank is None else self.app.rank.process)
        if unread:
            self.ask("tracks", lambda: timeline.load(unread[0]), lambda _: self._one_read())
        self.query_one(StatusLine).right = self._rows_text(len(unread))

    def _one_read(self) -> None:
        self._changed()
        self._read_on()

    def _changed(self) -> None:
        """There are other rows than before."""
        self.set_rows()
        self.redraw()

    def _rows_text(self, unread: int = 0) -> str:
        if unread:
            return f"reading {unread} tracks …"
        height = self.chart.room[0]
        last = min(self.top + height, len(self.rows))
        return "" if len(self.rows) <= height else f"rows {self.top + 1}-{last} of {len(self.rows)}"

    def rank_set(self) -> None:
        if self.timeline is not None:
            self._changed()
            self._read_on()

    def set_rows(self) -> None:
        """Find the rows again; the cursor stays on its row where that is still there."""
        if self.timeline is None:
            return
        old = self.row
        rank = self.app.rank
        process = None if rank is None else rank.process
        self.rows = self.timeline.rows(process, self.unfolded, self.chart.room[0])
        if old is not None:
            same = [
                k
                for k, row in enumerate(self.rows)
                if row.track == old.track and max(row.line, 0) <= max(old.line, 0)
                and (row.track >= 0 or row.label == old.label)
            ]  # fmt: skip
            self.at = same[-1] if same else self.at
        self.at = max(0, min(self.at, len(self.rows) - 1))

    # -------------------------------------------------------------- drawing --

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.at] if 0 <= self.at < len(self.rows) else None

    @property
    def columns(self) -> int:
        return self.chart.room[1]

    @property
    def range_ns(self) -> tuple[int, int] | None:
        """What is being marked, whole columns at both ends: first instant, and the one after the
        last."""
        if self.marked is None:
            return None
        columns, window = self.columns, self.window
        here = window.span(window.column(self.cursor_ns, columns), columns)
        first, end = min(self.marked[0], here[0]), max(self.marked[1], here[1])
        return max(first, window.first_ns), min(end, window.last_ns)

    def redraw(self) -> None:
        """Show the place as it is now."""
        timeline, row = self.timeline, self.row
        if timeline is None or row is None:
            return
        height, columns = self.chart.room
        if not self.top <= self.at < self.top + height:
            self.top = self.at - height // 2
        self.top = max(0, min(self.top, len(self.rows) - height))
        shown = self.rows[self.top : self.top + height]
        window, cursor = self.window, self.cursor_ns

        def work() -> Picture:
            return draw(timeline, shown, window, columns, (row, cursor))

        self.ask("picture", work, self._drawn, rows=True)

    def _drawn(self, picture: Picture) -> None:
        timeline = self.timeline
        assert timeline is not None
        if picture.picked != self.picked:
            self.picked, self.about = picture.picked, None
        self._show(picture)
        line = self.query_one(StatusLine)
        line.left = window_text(picture.window, picture.columns)
        if not line.right.startswith("reading"):
            line.right = self._rows_text()
        self._tell(timeline)
        if self.about is None:
            self._ask_soon()
        if not self._ready:
            self.rows_ready()

    def _show(self, picture: Picture) -> None:
        marks = self._marks(picture.window, picture.columns)
        self.chart.show(picture, marks, tuple(ticks(picture.window, picture.columns)))

    def _marks(self, window: Window, columns: int) -> Marks:
        def columns_of(start_ns: int, end_ns: int) -> tuple[int, int]:
            last = max(start_ns, end_ns - 1)
            return window.column(start_ns, columns), window.column(last, columns) + 1

        picked, scope, chosen = self.picked, self.app.scope, self.range_ns
        marked: tuple[int, int] | None = None
        if chosen is not None:
            marked = columns_of(*chosen)
        elif scope is not None:
            marked = columns_of(scope.first_ns, scope.last_ns)
        return Marks(
            row=self.at - self.top,
            cursor=window.column(self.cursor_ns, columns),
            picked=None if picked is None else columns_of(picked.start_ns, picked.end_ns),
            range=marked,
            arrow=self._arrow(window, columns),
        )

    def _arrow(self, window: Window, columns: int) -> Arrow | None:
        """Between what is under the cursor and the other end of its launch."""
        link = None if self.about is None else self.about.link
        row = None if link is None else self.row_of(link.found)
        if self.picked is None or link is None or row is None:
            return None
        here = self.at - self.top, window.column(self.picked.start_ns, columns)
        there = row - self.top, window.column(link.start_ns, columns)
        return Arrow(*there, *here) if self.picked.table == "gpu" else Arrow(*here, *there)

    def row_of(self, found: Found) -> int | None:
        """The row of an event; None: it is not shown."""
        for k, row in enumerate(self.rows):
            if (row.track, row.line) == (found.track, found.line):
                return k
        return None

    def _tell(self, timeline: Timeline) -> None:
        """What is under the cursor, as far as it is known."""
        picked, about, width = self.picked, self.about, self.size.width - 2
        more: Sequence[str] = ()
        if picked is not None and about is not None:
            more = about_texts(timeline, picked, about, width)
        self._say(picked_text(timeline, picked), *more)

    def _say(self, *lines: str) -> None:
        room = self.size.width - 2
        text = "\n".join(shorten(fmt.clean(line), room) for line in lines)
        self.query_one("#picked", Static).update(text)

    # --------------------------------------------------------------- detail --

    def _ask_soon(self) -> None:
        if self._detail_timer is not None:
            self._detail_timer.stop()
        self._detail_timer = self.set_timer(DETAIL_DELAY_S, self._ask_about)

    def _ask_about(self) -> None:
        timeline, picked, session = self.timeline, self.picked, self.session
        if timeline is None or session is None or picked is None or picked.event is None:
            return

        def show(answer: About) -> None:
            if picked != self.picked:
                return
            self.about = answer
            self._tell(timeline)
            if self.chart.picture is not None:
                self._show(self.chart.picture)

        self.ask("about", lambda: about(timeline, session.trace, picked), show)

    def scope_set(self) -> None:
        if self.chart.picture is not None:
            self._show(self.chart.picture)

    def on_resize(self, event: events.Resize) -> None:
        if self.timeline is not None:
            self.set_timer(RESIZE_DELAY_S, self._changed)

    @on(TrackChart.Pointed)
    def _pointed(self, message: TrackChart.Pointed) -> None:
        if 0 <= self.top + message.row < len(self.rows):
            self.at = self.top + message.row
            self.cursor_ns = self.window.time(message.column, self.columns)
            self.redraw()
