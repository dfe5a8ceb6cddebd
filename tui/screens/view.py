"""What all views of a trace share: waiting for it, asking it, and keys that mean the same."""

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from ...ingest.errors import TraceError
from ..app import DctxApp, Target
from ..keys import View
from ..loading import LoadState
from ..widgets.error_panel import ErrorPanel
from ..widgets.fit import clean
from ..widgets.key_footer import KeyFooter
from ..widgets.progress_panel import ProgressPanel
from ..widgets.title_bar import TitleBar

if TYPE_CHECKING:
    from ...queries.overview import Overview
    from ...queries.ranks import Rank
    from ...queries.scope import TimeScope
    from ...reports.verdict_card import VerdictCard
    from ..export import Table
    from ..session import Session

T = TypeVar("T")

PATIENCE_S = 0.3
"""Reading a trace that is in the cache takes less: then nothing but the view gets the focus."""
FILTER_DELAY_S = 0.12
"""A filter that costs is applied when typing pauses."""


REPLAY_S = 0.02
"""Between keys that waited for the rows: one may move the focus, and the next is meant for it."""
TEXT_ACTIONS = frozenset({"filter", "limit", "export"})
"""Open a field: what is typed next is its text."""

TOO_SMALL = "dctx needs at least 40 columns and 10 lines."


def nothing_matches(text: str) -> str:
    """In place of rows, when a filter leaves none."""
    return f"Nothing matches “{text}”. esc shows everything again." if text else ""


class Answer(Message):
    """A worker has found something; `show` puts it on the screen."""

    def __init__(self, group: str, number: int, show: Callable[[], None]) -> None:
        super().__init__()
        self.group = group
        self.number = number
        self.show = show


class HeldKey(events.Key):
    """A key pressed before the rows were there, given again."""


def failed(error: Exception) -> str:
    """An analysis that broke, as a sentence: the trace can still be looked at."""
    return f"the analysis failed ({type(error).__name__}: {error}). That is a fault of dctx."


class AskingScreen(Screen[None], inherit_bindings=False):
    """A screen that asks the trace in workers. Only the `show` callbacks touch widgets."""

    app = getters.app(DctxApp)
    AUTO_FOCUS = ""

    def __init__(self) -> None:
        # With the classes of the present size: each later change styles every widget anew.
        super().__init__(classes=self.app.size_classes())
        self._asked: dict[str, int] = {}

    def ask(self, group: str, question: Callable[[], T], show: Callable[[T], None]) -> None:
        """Run `question` on a thread; then `show` its answer, unless `group` has asked anew."""
        number = self._asked[group] = self._asked.get(group, 0) + 1

        def work() -> None:
            try:
                answer = question()
            except TraceError as error:
                self.post_message(Answer(group, number, partial(self.app.fail, error)))
                return
            except Exception:
                if worker.is_cancelled:  # the trace was closed under an outdated question
                    return
                raise
            self.post_message(Answer(group, number, partial(show, answer)))

        # Known to `work`: the event loop starts the thread after this.
        worker = self.run_worker(work, group=group, exclusive=True, thread=True)

    def forget(self, group: str) -> None:
        """Whatever `group` asked, its answer is not wanted any more."""
        self._asked[group] = self._asked.get(group, 0) + 1
        # Textual leaves the type of the workers' results open.
        self.workers.cancel_group(self, group)  # pyright: ignore[reportUnknownMemberType]

    def back_quits(self) -> bool:
        """Whether there is no step back from here: for the footer."""
        return not self.app.back_leads

    @on(Answer)
    def _show_answer(self, message: Answer) -> None:
        if self._asked[message.group] == message.number:
            message.show()


class ViewScreen(AskingScreen):
    """A view of the trace: title, body, footer. The body appears with the first tables."""

    VIEW: ClassVar[View]
    EXPORT_NAME: ClassVar[str] = ""
    """What exports of the view are called; the view's own name if empty."""
    SCOPED: ClassVar[bool] = True
    """Whether the view shows the chosen steps only, when some are chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None
        self._target: Target | None = None
        self._overview_told = False
        self._card_told = False
        self._ready = False
        self._held: deque[events.Key] = deque()
        self._held_text = False
        self._ranks: list[Rank] = []

    # ---------------------------------------------------- for the subclasses --

    def compose_body(self) -> Iterable[Widget]:
        """The widgets of the body."""
        raise NotImplementedError

    def opened(self, session: "Session") -> None:
        """The summary tables can be asked."""
        raise NotImplementedError

    def overview_known(self, overview: "Overview") -> None:
        """What the first screen shows is known, perhaps before anything can be asked."""

    def card_known(self, card: "VerdictCard") -> None:
        """The verdict is known from the last time the trace was open."""

    def events_loaded(self, session: "Session") -> None:
        """The events can be asked too."""

    def rank_set(self) -> None:
        """Another rank is looked at (`app.rank`); the trace is open."""

    def scope_set(self) -> None:
        """The application's scope is another one: ask again."""

    def lead_to(self, target: Target) -> None:
        """Another view leads here; the trace is open."""

    def cancel(self) -> bool:
        """Undo what narrows the view (escape); False when nothing does."""
        return False

    @property
    def exportable(self) -> bool:
        """Whether there is anything to export yet."""
        return False

    def export_table(self) -> "Table":
        """The rows as raw values. Called in a worker."""
        raise NotImplementedError

    def export_text(self) -> str:
        """The rows as people read them. Called in a worker."""
        return self.export_table().text()

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

    # -------------------------------------------------- keys before the rows --

    def rows_ready(self) -> None:
        """The rows are there and have the focus: from now on keys act at once, first those that
        were pressed too early."""
        if not self._ready:
            self._ready = True
            self._replay()

    def hold(self, event: events.Key) -> bool:
        """Keep a key until the rows are there. False when it acts now: keys of the application
        and of a panel that has the focus, and every key once the rows are there."""
        if isinstance(event, HeldKey) or (self._ready and not self._held):
            return False
        active = self.active_bindings.get(event.key)
        if event.key == "escape":
            dropped = self._held_text
            self._held.clear()
            self._held_text = False
            return dropped
        mine = active is None or not isinstance(active.node, DctxApp | ProgressPanel)
        if self.app.load_state.error is not None or event.key.startswith("ctrl+"):
            return False
        if mine or self._held_text:
            self._held.append(event)
            if active is not None and active.binding.action in TEXT_ACTIONS:
                self._held_text = True
            return True
        return False

    def on_screen_resume(self) -> None:
        self._replay()

    def _replay(self) -> None:
        if self._ready and self._held and self.app.screen is self:
            event = self._held.popleft()
            self._held_text = self._held_text and bool(self._held)
            self.app.post_message(HeldKey(event.key, event.character))
            self.set_timer(REPLAY_S, self._replay)

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
        if session is None:
            panel = self.query_one(ProgressPanel)
            if panel.display:
                panel.update(state.stage, state.fraction)
            return
        self._say_status()
        if self.session is None:
            self.session = session
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

    def _rank_changed(self, rank: "Rank | None") -> None:
        self._tell_rank()
        if self.session is not None:
            self.rank_set()

    def _tell_rank(self) -> None:
        rank = self.app.rank
        self.query_one(TitleBar).rank = "" if rank is None else rank.label

    @property
    def has_ranks(self) -> bool:
        """Whether there is more than one rank to choose from."""
        return len(self._ranks) > 1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that have no choice to offer in this trace are left out."""
        return action != "next_rank" or self.has_ranks

    def action_next_rank(self) -> None:
        """Look at the next rank alone, after the last at all again."""
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
        parts = [f"only {scope.label}"] if scope is not None and self.SCOPED else []
        if not state.complete and self.app.session is not None:
            parts.append(f"reading events {state.fraction * 100:.0f} %")
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

    # ------------------------------------------------------- copy and export --

    def copy(self, text: str) -> None:
        """To the terminal's clipboard, also over SSH (OSC 52)."""
        self.app.copy_to_clipboard(text)
        shown = clean(text if len(text) <= 60 else text[:59] + "…")
        self.notify(f"Copied: {shown}", markup=False)

    def action_export(self) -> None:
        if self.session is None or not self.exportable:
            self.notify("There is nothing to export yet.")
            return
        from ..export import TargetCheck
        from .prompt import PromptScreen

        picture = self.app.export_screenshot(title=clean(self.session.path.name))
        self.app.push_screen(
            PromptScreen(
                "Export the view",
                f"{clean(self.session.path.stem)}-{self.EXPORT_NAME or self.VIEW}.csv",
                "In the current directory. The ending chooses: .csv values, .txt, .svg picture.",
                TargetCheck(Path.cwd(), self.session.files),
            ),
            partial(self._export, picture),
        )

    def _export(self, picture: str, name: str | None) -> None:
        if name is None:
            return
        target = Path.cwd() / name

        def write() -> str:
            ending = target.suffix.lower()
            try:
                if ending == ".svg":
                    target.write_text(picture, encoding="utf-8")
                elif ending == ".csv":
                    target.write_text(self.export_table().csv(), encoding="utf-8")
                else:
                    target.write_text(self.export_text(), encoding="utf-8")
            except OSError as error:
                return f"{target}: {error.strerror}. Choose another place."
            return f"Written: {target}"

        self.ask("export", write, partial(self.notify, markup=False))
