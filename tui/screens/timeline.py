"""View 5: what threads, streams and copies did when; from one event to the next."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType

from ...analyzers.tracks import seek
from ...analyzers.tracks.links import About, about
from ...analyzers.tracks.picture import line_of, pause_lines
from ...queries.scope import TimeScope
from ...reports.timeline_text import range_text
from ..export import Cell, Table
from ..keys import bindings
from ..looking import ChosenSteps, Target
from ..timeline_keys import TIMELINE_KEYS
from .timeline_place import TimelinePlace

OWN = frozenset(key.action for key in TIMELINE_KEYS)
PAN = 8
"""A key moves the window by this part of it."""
NONE_FURTHER = "There is none further in this row."


class TimelineScreen(TimelinePlace):
    """The keys of the view."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("timeline")]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without events there is nothing to move in, and no time to choose."""
        nothing = self.timeline is not None and self.timeline.span is None
        return not (nothing and action in OWN) and super().check_action(action, parameters)

    # ----------------------------------------------------------- rows, time --

    def _to_row(self, row: int) -> None:
        row = max(0, min(row, len(self.rows) - 1))
        if row != self.at:
            self.at = row
            self.redraw()

    def action_row_up(self) -> None:
        self._to_row(self.at - 1)

    def action_row_down(self) -> None:
        self._to_row(self.at + 1)

    def action_page_up(self) -> None:
        self._to_row(self.at - self.chart.room[0])

    def action_page_down(self) -> None:
        self._to_row(self.at + self.chart.room[0])

    def _pan(self, by_ns: int) -> None:
        """The cursor stays where it is on the screen, until there is no more to see: then it goes
        on by itself."""
        before = self.window
        self.window = before.panned(by_ns)
        moved = self.window.start_ns - before.start_ns
        wanted = self.cursor_ns + (moved or by_ns)
        self.cursor_ns = max(self.window.first_ns, min(wanted, self.window.last_ns - 1))
        self.redraw()

    def action_pan_left(self) -> None:
        self._pan(-max(1, self.window.width_ns // PAN))

    def action_pan_right(self) -> None:
        self._pan(max(1, self.window.width_ns // PAN))

    def _step(self, by: int) -> None:
        """The cursor by columns; the window follows by half of its width."""
        columns = self.columns
        column = self.window.column(self.cursor_ns, columns) + by
        at_ns = self.window.time(column, columns)
        self._to_time(max(self.window.first_ns, min(at_ns, self.window.last_ns - 1)))

    def action_cursor_left(self) -> None:
        self._step(-1)

    def action_cursor_right(self) -> None:
        self._step(1)

    def _to_time(self, at_ns: int) -> None:
        self.cursor_ns = at_ns
        self.window = self.window.showing(at_ns)
        self.redraw()

    def action_to_start(self) -> None:
        self._to_time(self.window.first_ns)

    def action_to_end(self) -> None:
        self._to_time(self.window.last_ns - 1)

    def _zoom(self, numerator: int, denominator: int) -> None:
        self.window = self.window.zoomed(numerator, denominator, self.cursor_ns)
        self.redraw()

    def action_zoom_in(self) -> None:
        self._zoom(1, 2)

    def action_zoom_out(self) -> None:
        self._zoom(2, 1)

    def action_whole(self) -> None:
        self.window = self.window.at(
            self.window.first_ns, self.window.last_ns - self.window.first_ns
        )
        self.redraw()

    def action_zoom_to(self) -> None:
        chosen = self.range_ns
        if chosen is not None:
            self._choose(*chosen)
        elif self.picked is not None:
            self.window = self.window.around(self.picked.start_ns, self.picked.end_ns)
            self.redraw()

    # -------------------------------------------------------------- seeking --

    def _seek(self, find: Callable[[], int | None]) -> None:
        """Go to the instant that is found, on a thread: names are looked for far and wide."""

        def go(at_ns: int | None) -> None:
            if at_ns is None:
                self.notify(NONE_FURTHER)
            else:
                self._to_time(at_ns)

        self.ask("seek", find, go, rows=True)

    def _seek_event(self, direction: seek.Direction) -> None:
        timeline, row, cursor = self.timeline, self.row, self.cursor_ns
        line = None if timeline is None or row is None else line_of(timeline, row)
        if line is None:
            return

        def find() -> int | None:
            place = seek.next_event(line, cursor, direction)
            return None if place is None else line.span(place)[0]

        self._seek(find)

    def action_next_event(self) -> None:
        self._seek_event(1)

    def action_previous_event(self) -> None:
        self._seek_event(-1)

    def _seek_pause(self, direction: seek.Direction) -> None:
        timeline, row, cursor = self.timeline, self.row, self.cursor_ns
        if timeline is None or row is None:
            return
        least = max(1, self.window.width_ns // self.columns)

        def find() -> int | None:
            lines = pause_lines(timeline, row)
            pause = seek.next_pause(lines, cursor, direction, least) if lines else None
            return None if pause is None else pause[0]

        self._seek(find)

    def action_next_pause(self) -> None:
        self._seek_pause(1)

    def action_previous_pause(self) -> None:
        self._seek_pause(-1)

    def _seek_named(self, direction: seek.Direction) -> None:
        timeline, row, picked = self.timeline, self.row, self.picked
        line = None if timeline is None or row is None else line_of(timeline, row)
        if line is None or picked is None or picked.event is None:
            self.notify("There is no event under the cursor; ] goes to the next.")
            return

        def find() -> int | None:
            place = seek.next_named(line, picked.place, direction)
            return None if place is None else line.span(place)[0]

        self._seek(find)

    def action_next_named(self) -> None:
        self._seek_named(1)

    def action_previous_named(self) -> None:
        self._seek_named(-1)

    def action_link(self) -> None:
        self._with_about(self._follow)

    def _follow(self, answer: About) -> None:
        link = answer.link
        if link is None:
            self.notify(f"There is no other end of a launch: {answer.unlinked}.", markup=False)
            return
        row = self.row_of(link.found)
        if row is None:
            self.unfolded |= {link.found.track}
            self.set_rows()
            row = self.row_of(link.found)
        if row is None:
            self.notify("The other end is of another rank; r shows all of them.")
            return
        self.at = row
        self._to_time(link.start_ns)

    def _with_about(self, use: Callable[[About], None]) -> None:
        """What the store tells of the event under the cursor; it is asked if need be."""
        timeline, picked, session = self.timeline, self.picked, self.session
        if timeline is None or session is None or picked is None or picked.event is None:
            self.notify("There is no event under the cursor; ] goes to the next.")
        elif self.about is not None:
            use(self.about)
        else:
            self.ask("follow", lambda: about(timeline, session.trace, picked), use, rows=True)

    # ---------------------------------------------------- showing, choosing --

    def action_lines(self) -> None:
        row = self.row
        if row is not None and row.track >= 0:
            self.unfolded ^= {row.track}
            self.set_rows()
            self.redraw()

    def action_mark(self) -> None:
        columns, window = self.columns, self.window
        here = window.span(window.column(self.cursor_ns, columns), columns)
        self.marked = None if self.marked is not None else here
        self.redraw()

    def _choose(self, first_ns: int, end_ns: int) -> None:
        """Limit all views to the time between."""
        self.marked = None
        rank = self.app.rank
        process = None if rank is None else rank.process
        scope = TimeScope(range_text(first_ns, end_ns), ((process, first_ns, end_ns),))
        self.app.choose(ChosenSteps(None, scope))
        self.redraw()

    def cancel(self) -> bool:
        """Give up the range that is being marked, then the one that was chosen."""
        if self.marked is not None:
            self.marked = None
            self.redraw()
            return True
        if self.app.chosen is not None:
            self.app.choose(None)
            return True
        return False

    # ------------------------------------------------------------ elsewhere --

    def action_call_path(self) -> None:
        self._with_about(self._lead_to_path)

    def _lead_to_path(self, answer: About) -> None:
        if answer.node is None:
            self.notify("The trace does not tell where it was called from.")
        else:
            self.app.lead("paths", Target(node=answer.node))

    def action_kernel(self) -> None:
        self._with_about(self._lead_to_kernel)

    def _lead_to_kernel(self, answer: About) -> None:
        link = answer.link
        if answer.kernel is not None:
            self.app.lead("kernels", Target(op=answer.kernel))
        elif link is None:
            self.notify("It is no GPU work, and launched none itself.")
        else:
            self.notify("It is no GPU work; a goes to what it launched.")

    def action_copy(self) -> None:
        if self.picked is not None:
            path = () if self.about is None else self.about.path
            self.copy(" > ".join(path) or self.picked.name)

    @property
    def exportable(self) -> bool:
        return self.chart.picture is not None

    def export_table(self) -> Table:
        """The window by row and column: busy time."""
        picture, timeline = self.chart.picture, self.timeline
        assert picture is not None
        assert timeline is not None
        edges = picture.window.edges(picture.columns).tolist()
        rows: list[list[Cell]] = []
        for row in picture.rows:
            if row.sort is None:
                continue
            track = timeline.tracks[row.row.track]
            for column, share in enumerate(row.shares):
                first, last = edges[column], edges[column + 1]
                busy = round(share * (last - first))
                rows.append([track.label, row.row.line, first, last, busy])
        return Table(("track", "level", "start_ns", "end_ns", "busy_ns"), rows)
