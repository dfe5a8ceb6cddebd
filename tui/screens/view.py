"""What all views of a trace share: waiting for it, and what they are limited to."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Static

from ...ingest.errors import TraceError
from ...reports.format import progress
from ..key_model import Footer
from ..loading import LoadState
from ..looking import Target
from ..widgets.error_panel import ErrorPanel
from ..widgets.key_footer import KeyFooter
from ..widgets.progress_panel import ProgressPanel
from ..widgets.title_bar import TitleBar
from .taking import TakingScreen

if TYPE_CHECKING:
    from ...queries.overview import Overview
    from ...queries.ranks import Rank
    from ...queries.scope import TimeScope
    from ...reports.verdict_card import CardFinding, VerdictCard
    from ..session import Session

PATIENCE_S = 0.3
"""Reading a trace that is in the cache takes less: then nothing but the view gets the focus."""
FILTER_DELAY_S = 0.12
"""A filter that costs is applied when typing pauses."""

TOO_SMALL = "Terminal too small: dctx needs 40 columns, 10 lines."


def nothing_matches(text: str) -> str:
    """In place of rows, when a filter leaves none."""
    return f"Nothing matches “{text}”. esc shows everything again." if text else ""


class ViewScreen(TakingScreen):
    """A view of the trace: title, body, footer. The body appears with the first tables."""

    SCOPED: ClassVar[bool] = True
    """Whether the view shows the chosen steps only, when some are chosen; if not, it says so."""
    BY_STEPS: ClassVar[bool] = False
    """It can be limited to steps, but not to any range of time."""

    def __init__(self) -> None:
        super().__init__()
        self._target: Target | None = None
        self._overview_told = False
        self._card_told = False
        self._ranks: list[Rank] | None = None
        self._ranks_passed = 0

    # ---------------------------------------------------- for the subclasses --

    def compose_body(self) -> Iterable[Widget]:
        """The widgets of the body."""
        raise NotImplementedError

    def opened(self, session: "Session") -> None:
        """The summary tables can be asked."""
        raise NotImplementedError

    def reopened(self, session: "Session") -> None:
        """The trace has grown: show what it holds now, and keep the place. A view that does not
        follow a recording (`tui/follow.py`) is about to be made anew, and shows nothing more."""

    def overview_known(self, overview: "Overview") -> None:
        """What the first screen shows is known, perhaps before anything can be asked."""

    def card_known(self, card: "VerdictCard") -> None:
        """The verdict is known from the last time the trace was open."""

    def findings_known(self, findings: "tuple[CardFinding, ...]") -> None:
        """What the analyzers found is known from the last time the trace was open."""

    def events_loaded(self, session: "Session") -> None:
        """The events can be asked too."""

    def rank_set(self) -> None:
        """Another rank is looked at (`app.rank`); the trace is open."""

    def scope_set(self) -> None:
        """The application's scope is another one: ask again."""

    def lead_to(self, target: Target) -> None:
        """Another view leads here; the trace is open."""

    @property
    def footer(self) -> Footer:
        """Whose keys work now: the view's, or those of a panel in its place."""
        return self.VIEW

    def cancel(self) -> bool:
        """Undo what narrows the view (escape); False when nothing does."""
        return False

    # ------------------------------------------------------------- structure --

    def compose(self) -> ComposeResult:
        yield TitleBar(self.VIEW)
        yield ProgressPanel(id="progress")
        with Container(id="body"):
            yield from self.compose_body()
        yield KeyFooter(self.VIEW, quits=self.back_quits, id="keys")
        yield Static(TOO_SMALL, id="too-small")

    def on_mount(self) -> None:
        self.query_one("#body").display = False
        self.app.load_changed.subscribe(self, self._load_changed)
        self.app.rank_changed.subscribe(self, self._rank_changed)
        self.app.scope_changed.subscribe(self, self._scope_changed)
        self._load_changed(self.app.load_state)
        if self.session is None:
            self.set_timer(PATIENCE_S, self._focus_progress)

    def show(self, target: Target) -> None:
        """Show `target` now, or as soon as the trace is open."""
        if self.session is None:
            self._target = target
        else:
            self.lead_to(target)

    # ---------------------------------------------------------------- state --

    def _load_changed(self, state: LoadState) -> None:
        title = self.query_one(TitleBar)
        loading = self.app.loading
        title.trace = loading.title if loading is not None else ""
        session = self.app.session
        if state.error is not None:
            title.status = ""
            self._show_error(state.error)
            return
        if state.overview is not None and not self._overview_told:
            self._overview_told = True
            self.overview_known(state.overview)
        if state.card is not None and not self._card_told:
            self._card_told = True
            self.card_known(state.card)
            if state.findings is not None:
                self.findings_known(state.findings)
        if session is None:
            panel = self.query_one(ProgressPanel)
            if panel.display:
                panel.update(state.stage, state.done)
            return
        self._say_status()
        if self.session is not session:
            again, self.session = self.session is not None, session
            if again:
                self.reopened(session)
            else:
                self.opened(session)
            target, self._target = self._target, None
            if target is not None:
                self.lead_to(target)
        if state.complete:
            self.events_loaded(session)
            self.ask("ranks", session.ranks, self._ranks_known)

    # ---------------------------------------------------------------- ranks --

    def _ranks_known(self, ranks: "list[Rank]") -> None:
        self._ranks = ranks
        self.refresh_bindings()
        self._tell_rank()
        passed, self._ranks_passed = self._ranks_passed, 0
        for _ in range(passed if self.has_ranks else 0):
            self.action_next_rank()

    def _rank_changed(self, rank: "Rank | None") -> None:
        self._tell_rank()
        if self.session is not None:
            self.rank_set()

    def _tell_rank(self) -> None:
        """Which ranks the view is about; nothing where there is only one."""
        rank = self.app.rank
        every = f"all {len(self._ranks or ())} ranks" if self._ranks and self.has_ranks else ""
        self.query_one(TitleBar).rank = every if rank is None else f"only {rank.label}"

    @property
    def has_ranks(self) -> bool:
        """Whether there is more than one rank to choose from, as far as it is known."""
        if self._ranks is not None:
            return len(self._ranks) > 1
        overview = self.app.load_state.overview
        return overview is not None and overview.capture.processes > 1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that have no choice to offer in this trace are left out."""
        return action != "next_rank" or self.has_ranks

    def action_next_rank(self) -> None:
        """Look at the next rank alone, after the last at all again."""
        if self._ranks is None:  # found when the events are read
            self._ranks_passed += 1
            self.notify("The ranks are told apart as soon as the events are read.")
            return
        choices: list[Rank | None] = [None, *self._ranks]
        now = self.app.rank
        at = choices.index(now) if now in choices else -1
        self.app.look_at(choices[(at + 1) % len(choices)])

    def _scope_changed(self, scope: "TimeScope | None") -> None:
        self._say_status()
        self.refresh_bindings()
        if self.session is not None:
            self.scope_set()

    def _say_status(self) -> None:
        """What is still going on, and what the views are limited to."""
        state, scope = self.app.load_state, self.app.scope
        parts: list[str] = []
        if scope is not None:
            limited = self.SCOPED and (self.app.selection is not None or not self.BY_STEPS)
            parts.append(f"only {scope.label}" if limited else f"not only {scope.label}")
        if self.app.following:
            parts.append(self.app.following)
        if not state.complete and self.app.session is not None:
            parts.append(f"reading events {progress(state.done).strip()}")
        self.query_one(TitleBar).status = " · ".join(parts)

    def show_body(self) -> None:
        """The view has what it needs to be drawn. Widgets are shown one by one: a class of the
        screen would style all of them anew, and the first screen has to be fast."""
        self.query_one(ProgressPanel).display = False
        self.query_one("#body").display = True

    def _show_error(self, error: TraceError) -> None:
        panels = self.query(ErrorPanel)
        if panels:
            panels.first().show(error)
            return
        self.query_one(ProgressPanel).display = False
        self.query_one("#body").display = False
        self.query_one("#keys").display = False
        panel = ErrorPanel(id="error")
        self.mount(panel, KeyFooter("message", quits=self.back_quits), after="#progress")
        panel.show(error)
        panel.focus()

    def _focus_progress(self) -> None:
        """For the key that stops a reading that takes its time."""
        panel = self.query_one(ProgressPanel)
        if panel.display and self.focused is None:
            panel.focus()

    @on(ProgressPanel.CancelWanted)
    def _stop_reading(self) -> None:
        if self.app.loading is not None:
            self.app.loading.cancel()
