"""The part of Compare that waits for both traces, and says what is missing."""

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.widgets import Static

from ...ingest.errors import TraceError
from ...reports.compare_labels import labels
from ..loading import LoadState
from ..pair_session import PairSession
from ..session import Session
from ..widgets.error_panel import ErrorPanel
from ..widgets.key_footer import KeyFooter
from ..widgets.progress_panel import ProgressPanel
from ..widgets.title_bar import TitleBar
from .detail_view import DetailView
from .prompt import PromptScreen

NO_BASE = (
    "There is nothing to compare with yet. B chooses the base: a trace, or @NAME for a baseline "
    "(`dctx baseline list` has their names). On the command line: dctx-tui BASE TARGET."
)
STOPPED = "Reading the base was stopped. B chooses it again, or another one."


class CompareBase(DetailView):
    """Tells `both_open` when both traces can be asked, and stands in until then."""

    SCOPED: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.pair: PairSession | None = None
        self._names = ("base", "target")

    def both_open(self, pair: PairSession) -> None:
        """Both traces have their events."""
        raise NotImplementedError

    def show_comparison(self, shown: bool) -> None:
        """Whether the body has a comparison to show."""
        raise NotImplementedError

    # ------------------------------------------------------------- loading --

    def on_mount(self) -> None:
        panel = ProgressPanel(id="base-progress")
        panel.display = False
        self.mount(panel, after="#progress")
        self.app.base_changed.subscribe(self, self._base_told)

    def opened(self, session: Session) -> None:
        self.show_body()
        self._tell()

    def events_loaded(self, session: Session) -> None:
        self._tell()

    def _base_told(self, state: LoadState) -> None:
        self._tell()

    def _tell(self) -> None:
        """Go on as far as both traces are."""
        if self.session is None:
            return
        state, base = self.app.base_state, self.app.base
        self._show_base_error(state.error)
        if self.pair is not None and self.pair.base is not state.session:
            self.pair = None
        if base is None or state.cancelled:
            self._say(NO_BASE if base is None else STOPPED)
        elif state.error is not None:
            self._say("")
        elif state.session is None or not state.complete:
            self._say_progress(state)
        elif not self.app.load_state.complete:
            self._say(f"Reading the events of {self._title()} …")
        elif self.pair is None:
            loading = self.app.loading
            assert loading is not None
            paths = [one.trace for one in (base, loading)]
            found = labels([path if isinstance(path, Path) else path[0] for path in paths])
            self._names = (found[0], found[1])
            self.pair = PairSession(state.session, self.session)
            self._say("")
            self.both_open(self.pair)
            return
        if self.pair is None:
            self.rows_ready()

    def _title(self) -> str:
        return self.app.loading.title if self.app.loading is not None else ""

    def _say(self, text: str) -> None:
        """In place of the comparison; nothing shows it again."""
        self.query_one("#base-progress").display = False
        self.query_one("#compare-message", Static).update(text)
        self.query_one("#compare-message").display = bool(text)
        self.show_comparison(self.pair is not None)

    def _say_progress(self, state: LoadState) -> None:
        base = self.app.base
        assert base is not None
        self._say("")
        panel = self.query_one("#base-progress", ProgressPanel)
        if not panel.display:
            panel.restart()
            panel.display = True
        panel.update(f"{base.title} (base): {state.stage}", state.done)
        if self.focused is None and self.app.screen is self:
            panel.focus()

    @on(ProgressPanel.CancelWanted, "#base-progress")
    def _stop_base(self, message: ProgressPanel.CancelWanted) -> None:
        message.prevent_default()  # it is not the target that is stopped
        if self.app.base is not None:
            self.app.base.cancel()

    def _show_base_error(self, error: TraceError | None) -> None:
        panels = self.query("#base-error")
        if error is None:
            panels.remove()
            self.query("#base-keys").remove()
            self.query_one("#keys").display = True
        elif not panels:
            panel = ErrorPanel(id="base-error")
            panel.show(error)
            footer = KeyFooter("message", quits=self.back_quits, id="base-keys")
            self.mount(panel, footer, after="#base-progress")
            self.query_one("#keys").display = False
            panel.focus()

    # ---------------------------------------------------------------- ranks --

    def _tell_rank(self) -> None:
        """Ranks are compared all together, whichever is looked at."""
        ranks = self.app.rank
        self.query_one(TitleBar).rank = "" if ranks is None else f"not only {ranks.label}"

    def rank_set(self) -> None:
        self._tell_rank()

    # ----------------------------------------------------------- other base --

    def action_base(self) -> None:
        """Ask for another base."""
        if self.session is None:
            return
        present = self.app.base
        value = "" if present is None or not isinstance(present.trace, Path) else present.trace
        self.app.push_screen(
            PromptScreen(
                "Compare with",
                str(value),
                "A trace, or @NAME for a baseline. It becomes the base; the open trace is the "
                "target.",
                _base_problem,
            ),
            self._base_chosen,
        )

    def _base_chosen(self, text: str | None) -> None:
        if text is not None:
            self.pair = None
            self.app.compare_with(Path(text).expanduser())


def _base_problem(text: str) -> str:
    if not text:
        return "Type the path of a trace, or @NAME."
    if not text.startswith("@") and not Path(text).expanduser().exists():
        return f"There is no {text}."
    return ""
