"""View 6: the steps of the run, what each costs, and where the idle time goes."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from ...analyzers.errors import RequestError
from ...analyzers.step_selection import Selection
from ...reports.format import clean, clean_lines, duration
from ...reports.panel import Panel, PanelLine
from ...reports.step_panels import StepPanels, scope_of, step_text
from ...reports.verdict_card import Lead
from ..export import Cell, Table
from ..keys import bindings
from ..looking import ChosenSteps
from ..session import Session
from ..widgets.fit import bar
from ..widgets.glyphs import glyphs_of
from ..widgets.row_list import Row, RowList
from ..widgets.step_strip import Bars, StepStrip
from .asking import failed
from .leads import target_of
from .view import ViewScreen

LEFT = ("phases", "idle", "gaps", "largest")
RIGHT = ("costs", "operations", "calls", "work")
BAR_CELLS = 10
READING = "The steps are found as soon as the events are read."
FINDING = "Finding the steps and what they cost …"


class StepsScreen(ViewScreen):
    """A strip of steps, one or a range of which can be chosen, and tables about them."""

    VIEW = "steps"
    BY_STEPS = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("steps")]

    def __init__(self) -> None:
        super().__init__()
        self._panels: StepPanels | None = None

    def compose_body(self) -> Iterable[Widget]:
        with VerticalScroll(id="page", can_focus=False):
            yield Static(id="about", markup=False)
            with Container(id="strip-box"):
                yield StepStrip(id="strip")
                yield Static(id="strip-caption", markup=False)
            with Container(id="columns"):
                for side, names in (("left", LEFT), ("right", RIGHT)):
                    yield Vertical(*(RowList(id=name) for name in names), id=side)

    def on_mount(self) -> None:
        self.app.window_changed.subscribe(self, self._window_changed)

    # --------------------------------------------------------------- asking --

    def opened(self, session: Session) -> None:
        self.query_one("#strip-box").display = False
        for panel in self.query(RowList):
            panel.display = False
        self._say(READING)
        self.show_body()

    def events_loaded(self, session: Session) -> None:
        if self._panels is None:
            self._ask()

    def _window_changed(self, window: str) -> None:
        self._ask()

    def scope_set(self) -> None:
        self._ask()

    def rank_set(self) -> None:
        self._ask()

    def _ask(self) -> None:
        session, window = self.session, self.app.window
        if session is None or not session.trace.events_ready:
            return
        if self._panels is None:
            self._say(FINDING)
        selection, rank = self.app.selection, self.app.rank

        def find() -> StepPanels | str:
            try:
                return session.step_panels(window, rank, selection)
            except RequestError as error:
                return str(error)
            except Exception as error:  # the other views do not depend on it
                return failed(error)

        self.ask("steps", find, self._show, rows=True)

    def _say(self, text: str) -> None:
        self.query_one("#about", Static).update(clean_lines(text))

    # -------------------------------------------------------------- showing --

    def _show(self, answer: StepPanels | str) -> None:
        if isinstance(answer, str):
            self._say(f"n/a over the window {self.app.window}: {answer}\nw goes on to the next.")
            self.rows_ready()
            return
        first = self._panels is None
        self._panels = answer
        self._say(answer.about)
        self._show_strip(answer)
        shown = {panel.id: panel for panel in answer.panels}
        for name in (*LEFT, *RIGHT):
            self._fill(name, shown.get(name))
        if first:
            self._focus_first()
            self.rows_ready()
        self.refresh_bindings()

    def _show_strip(self, answer: StepPanels) -> None:
        series = answer.series
        strip = self.query_one(StepStrip)
        box = self.query_one("#strip-box")
        box.display = bool(len(series))
        if not len(series):
            return
        strip.show(
            [
                Bars("step", series.duration_ns.tolist()),
                Bars("gap", series.gap_ns.tolist()),
            ]
        )
        chosen = answer.report.selection
        places = None
        if chosen is not None:
            inside = (series.iteration >= chosen.first) & (series.iteration <= chosen.last)
            found: list[int] = inside.nonzero()[0].tolist()
            places = (found[0], found[-1]) if found else None
        strip.set_chosen(places)
        who = self._who(answer)
        box.border_title = Content(clean(f"Steps{who}: time in the step, and the gap to the next"))
        self._say_step()

    @staticmethod
    def _who(answer: StepPanels) -> str:
        if len(answer.everyone.ranks) < 2:
            return ""
        if len(answer.ranks) == 1:
            return f" of {answer.ranks[0]}"
        return f", mean of {len(answer.ranks)} ranks"

    def _say_step(self) -> None:
        answer, strip = self._panels, self.query_one(StepStrip)
        if answer is None or not strip.count:
            return
        first, last = strip.range
        scale = f"full height {duration(strip.top)}"
        if strip.each > 1:
            scale += f", a bar is the longest of {strip.each}"
        self.query_one("#strip-box").border_subtitle = scale
        text = step_text(answer.series, first, last)
        self.query_one("#strip-caption", Static).update(clean(text))

    def _fill(self, name: str, panel: Panel | None) -> None:
        rows = self.query_one(f"#{name}", RowList)
        rows.display = panel is not None
        if panel is not None:
            rows.border_title = Content(clean(panel.title))
            rows.set_rows([self._row(line) for line in panel.lines], panel.heading)

    def _row(self, line: PanelLine) -> Row:
        figures = line.figures
        if line.share is not None:
            figures += (
                bar(line.share, BAR_CELLS, glyphs_of(self.query_one(StepStrip).app).blocks) + " "
            )
        return Row(line.label, figures, target=line.lead, tone="dim" if line.dim else "normal")

    def _focus_first(self) -> None:
        if self._stops():
            self._stops()[0].focus(scroll_visible=False)

    def _stops(self) -> list[StepStrip | RowList]:
        """What the cursor goes through, in order."""
        strip = self.query_one(StepStrip)
        lists = [self.query_one(f"#{name}", RowList) for name in (*LEFT, *RIGHT)]
        shown: list[StepStrip | RowList] = [rows for rows in lists if rows.display]
        return [strip, *shown] if self.query_one("#strip-box").display else shown

    # ------------------------------------------------------------- messages --

    @on(StepStrip.Moved)
    def _moved(self) -> None:
        self._say_step()

    @on(StepStrip.Chosen)
    def _chosen(self, message: StepStrip.Chosen) -> None:
        if self._panels is None:
            return
        iterations = self._panels.series.iteration
        first, last = int(iterations[message.first]), int(iterations[message.last])
        selection = Selection(first, last)
        self.app.choose(ChosenSteps(selection, scope_of(self._panels.everyone, selection)))

    @on(StepStrip.Edge)
    def _leave_strip(self, message: StepStrip.Edge) -> None:
        if message.down:
            self._go_on(self.query_one(StepStrip), down=True)
        else:
            self.query_one("#page").scroll_home(animate=False)

    @on(RowList.Edge)
    def _leave_list(self, message: RowList.Edge) -> None:
        self._go_on(message.list, down=message.down)

    def _go_on(self, here: StepStrip | RowList, *, down: bool) -> None:
        """The cursor goes on in the next panel, as if all were one."""
        stops = self._stops()
        at = stops.index(here) + (1 if down else -1)
        if not 0 <= at < len(stops):
            return
        stop = stops[at]
        stop.focus(scroll_visible=False)
        if isinstance(stop, RowList):
            stop.move_to(0 if down else len(stop.rows) - 1)
        else:
            self.query_one("#page").scroll_home(animate=False)

    @on(RowList.Opened)
    def _lead_on(self, message: RowList.Opened) -> None:
        if isinstance(message.row.target, Lead):
            lead = message.row.target
            self.app.lead(lead.view, target_of(lead))

    # -------------------------------------------------------------- actions --

    def action_next_window(self) -> None:
        if self.session is not None:
            self.app.next_window(self.session.windows(self.app.rank))

    def cancel(self) -> bool:
        """Give the choice of steps up."""
        if self.app.chosen is None:
            return False
        self.app.choose(None)
        return True

    def action_copy(self) -> None:
        focused = self.focused
        if isinstance(focused, RowList) and focused.cursor_row is not None:
            self.copy(focused.cursor_row.label)
        elif self._panels is not None and len(self._panels.series):
            strip = self.query_one(StepStrip)
            self.copy(step_text(self._panels.series, *strip.range))

    @property
    def exportable(self) -> bool:
        return self._panels is not None

    def export_table(self) -> Table:
        """The steps of the strip."""
        assert self._panels is not None
        columns = ("iteration", "number", "start_ns", "duration_ns", "gap_ns")
        return Table(columns, self._step_rows(self._panels))

    @staticmethod
    def _step_rows(panels: StepPanels) -> Iterator[list[Cell]]:
        series = panels.series
        for place in range(len(series)):
            yield [
                int(series.iteration[place]),
                int(series.number[place]) if series.number[place] >= 0 else None,
                int(series.start_ns[place]),
                int(series.duration_ns[place]),
                int(series.gap_ns[place]) if series.has_next[place] else None,
            ]

    def export_text(self) -> str:
        """All panels."""
        assert self._panels is not None
        lines = [self._panels.about]
        for panel in self._panels.panels:
            lines += ["", panel.title, f" {panel.heading}"]
            lines += [f" {line.figures}{line.label}" for line in panel.lines]
        return clean_lines("\n".join(lines)) + "\n"
