"""The application: which trace is open, which view is shown, and the way between views."""

import asyncio
import gc
import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import App
from textual.binding import BindingType
from textual.command import Provider
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.signal import Signal

from ..ingest.errors import TraceError
from ..ingest.model import GpuKind
from ..ingest.selection import Asked
from ..reports.exit_codes import ExitCode
from .keys import View, bindings
from .loading import FIRST_WINDOW, Loading, LoadState, StepPatterns
from .themes import THEMES
from .widgets.control_filter import ControlFilter

if TYPE_CHECKING:
    from textual.await_complete import AwaitComplete

    from ..queries.layers import LayerGroup
    from ..queries.ranks import Rank
    from ..queries.scope import TimeScope
    from .session import Session


@dataclass(frozen=True, slots=True)
class Target:
    """What a view should show when another view leads to it."""

    node: int | None = None
    """A call path."""
    op: tuple[GpuKind, str] | None = None
    """Kind and name of a kernel, copy or memset."""


class Loaded(Message):
    """The opening of a trace has come further. Sent from the loading thread."""

    def __init__(self, loading: Loading, state: LoadState) -> None:
        super().__init__()
        self.loading = loading
        self.state = state


def _collect_again() -> None:
    """Resume garbage collection (see `launch`), without what was imported: it stays anyway."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _start() -> Screen[None]:
    from .screens.start import StartScreen

    return StartScreen()


def _overview() -> Screen[None]:
    from .screens.overview import OverviewScreen

    return OverviewScreen()


def _paths() -> Screen[None]:
    from .screens.paths import PathsScreen

    return PathsScreen()


def _kernels() -> Screen[None]:
    from .screens.kernels import KernelsScreen

    return KernelsScreen()


def _memory() -> Screen[None]:
    from .screens.memory import MemoryScreen

    return MemoryScreen()


def _steps() -> Screen[None]:
    from .screens.steps import StepsScreen

    return StepsScreen()


def _commands() -> type[Provider]:
    from .commands import Commands

    return Commands


VIEWS: dict[View, Callable[[], Screen[None]]] = {
    "start": _start,
    "overview": _overview,
    "paths": _paths,
    "kernels": _kernels,
    "memory": _memory,
    "steps": _steps,
}


TRACE_VIEWS: tuple[View, ...] = ("overview", "paths", "kernels", "steps", "memory")


class DctxApp(App[None]):
    """One trace at a time. Views are modes: each keeps its place while another is shown."""

    TITLE = "dctx"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        str(k): v for k, v in VIEWS.items()
    }
    DEFAULT_MODE = "overview"
    CSS_PATH = "theme.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_commands}
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - declared by App
        (0, "-tiny"),
        (40, "-narrow"),
        (100, "-wide"),
        (140, "-broad"),
        (200, "-panorama"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 - declared by App
        (0, "-flat"),
        (10, "-short"),
        (32, "-tall"),
    ]

    if TYPE_CHECKING:
        # Textual leaves out what its screens return.
        def add_mode(self, mode: str, base_screen: str | Callable[[], Screen[Any]]) -> None: ...
        def switch_screen(self, screen: Screen[Any] | str) -> AwaitComplete: ...

    def __init__(
        self,
        loading: Loading | None = None,
        *,
        theme_name: str = "dark",
        ascii_only: bool = False,
        cache: bool = True,
        patterns: StepPatterns | None = None,
        debug_faults: bool = False,
    ) -> None:
        # Decided when the application is made: without colours the terminal's own are used, and
        # a filter leaves even those out.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        for theme in THEMES:
            self.register_theme(theme)
        # No watcher: the style sheets would be parsed once more before the first paint.
        self.set_reactive(App.theme, theme_name)
        self.animation_level = "none"
        self.ascii_only = ascii_only
        self.cache = cache
        self.patterns = patterns or StepPatterns()
        self.debug_faults = debug_faults
        self.loading = loading
        self.load_state = LoadState()
        self.load_changed: Signal[LoadState] = Signal(self, "load_changed")
        """A trace is being opened: progress, the first tables, the events, an error."""
        self.rank: Rank | None = None
        """The rank that is looked at; None: all."""
        self.rank_changed: Signal[Rank | None] = Signal(self, "rank_changed")
        self.hidden_layers: frozenset[LayerGroup] = frozenset()
        """Layers of the call paths that are folded away."""
        self.window = FIRST_WINDOW
        """The part of the trace that is judged."""
        self.window_changed: Signal[str] = Signal(self, "window_changed")
        self.scope: TimeScope | None = None
        """The steps that Call paths and Kernels are limited to."""
        self.scope_changed: Signal[TimeScope | None] = Signal(self, "scope_changed")
        self._came_from: list[View] = []
        self._before_start: View = "overview"
        self._drawn = False
        self._control_filter = ControlFilter()
        self._end_code: int | None = None

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._control_filter]

    # ------------------------------------------------------------- opening --

    def on_load(self) -> None:
        """Before the terminal is taken over: whatever ends the application gives it back."""
        if threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self._end_by_signal, number)

    def on_mount(self) -> None:
        if self.loading is not None:
            self._watch(self.loading)
        self.call_after_refresh(_collect_again)

    def _end_by_signal(self, number: signal.Signals) -> None:
        """End as `q` does, so that the terminal and the store are left clean."""
        self._end(128 + number)

    def _end(self, code: int) -> None:
        """Exit, but not while the first screen is being made: Textual takes that for a fault."""
        if self._drawn:
            self.exit(return_code=code)
        else:
            self._end_code = code

    def on_ready(self) -> None:
        self._drawn = True
        if self._end_code is not None:
            self.exit(return_code=self._end_code)

    def on_unmount(self) -> None:
        if self.loading is not None:
            self.loading.listen(None)
            self.loading.cancel()

    def open(self, trace: Asked, *, salvage: bool = False) -> None:
        """Open a trace in place of the present one."""
        self._close_trace()
        self.loading = Loading(trace, cache=self.cache, salvage=salvage, patterns=self.patterns)
        self.loading.start()
        self._came_from.clear()
        self.switch_mode("overview")
        self._watch(self.loading)

    def _watch(self, loading: Loading) -> None:
        def tell(state: LoadState) -> None:
            self.post_message(Loaded(loading, state))

        loading.listen(tell)

    def _close_trace(self) -> None:
        """Forget the present trace and the views of it."""
        if self.loading is not None:
            self.loading.discard()
        self.loading, self.load_state = None, LoadState()
        self.rank = None
        self.window, self.scope = FIRST_WINDOW, None
        self.switch_mode("start")
        for name in TRACE_VIEWS:
            self.remove_mode(name)
            self.add_mode(name, VIEWS[name])

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if message.loading is not self.loading:
            return
        state = self.load_state = message.state
        if state.fault is not None:
            raise state.fault
        if state.cancelled:
            self._close_trace()
            self.notify("Reading was stopped.")
        self.load_changed.publish(state)

    @property
    def session(self) -> "Session | None":
        """The open trace, as soon as its summary can be asked."""
        return self.load_state.session

    def fail(self, error: TraceError) -> None:
        """A question met a part of the trace that cannot be read."""
        self.load_state = replace(self.load_state, error=error)
        self.load_changed.publish(self.load_state)

    def size_classes(self) -> str:
        """Classes of the breakpoints at the present size."""
        sizes = (
            (self.size.width, self.HORIZONTAL_BREAKPOINTS),
            (self.size.height, self.VERTICAL_BREAKPOINTS),
        )
        return " ".join(
            max((least, name) for least, name in breakpoints or () if cells >= least)[1]
            for cells, breakpoints in sizes
        )

    # ------------------------------------------------------ what is looked at --

    def look_at(self, rank: "Rank | None") -> None:
        """Limit the views to one rank; None: all of them."""
        if rank != self.rank:
            self.rank = rank
            self.rank_changed.publish(rank)

    def judge(self, window: str) -> None:
        """Judge another part of the trace."""
        if window != self.window:
            self.window = window
            self.window_changed.publish(window)

    def set_scope(self, scope: "TimeScope | None") -> None:
        """Limit Call paths and Kernels to windows of time; None: the whole trace again."""
        if scope != self.scope:
            self.scope = scope
            self.scope_changed.publish(scope)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "clear_scope" or self.scope is not None

    def action_clear_scope(self) -> None:
        self.set_scope(None)

    # ------------------------------------------------------- between views --

    def action_view(self, view: View) -> None:
        """Show a view by its number; the way back starts anew."""
        if view != "start" and self.loading is None:
            self.notify("Open a trace first.", severity="warning")
            return
        self._leave_modals()
        self._came_from.clear()
        self.switch_mode(view)

    def lead(self, view: View, target: Target) -> None:
        """Show `target` in another view; `q` comes back."""
        from .screens.view import ViewScreen

        here = self._view_now()
        if here != view:
            self._came_from.append(here)
        self.switch_mode(view)
        while len(self.screen_stack) > 1:
            self.pop_screen()
        screen = self.screen
        if isinstance(screen, ViewScreen):
            screen.show(target)

    async def action_back(self) -> None:
        """One step back; where there is none, quit."""
        if not self._step_back():
            self._end(self._exit_code())

    async def action_cancel(self) -> None:
        """One step back, or stop reading a trace of which nothing is known yet; never quits."""
        if self.loading is not None and self._nothing_to_show() and len(self.screen_stack) == 1:
            self.loading.cancel()
        else:
            self._step_back()

    def _step_back(self) -> bool:
        """Undo what narrows the view, else close a panel, else go to where one came from, in the
        end to the Overview. False when there is no such step."""
        from .screens.view import ViewScreen

        screen = self.screen
        if screen.maximized is not None:
            screen.minimize()
            screen.refresh_bindings()
        elif isinstance(screen, ViewScreen) and screen.cancel():
            pass
        elif len(self.screen_stack) > 1:
            self.pop_screen()
        elif not self.back_leads:
            return False
        elif self._view_now() == "start":
            self.switch_mode(self._before_start)
        else:
            self.switch_mode(self._came_from.pop() if self._came_from else "overview")
        return True

    @property
    def back_leads(self) -> bool:
        """Whether there is a step back from the present screen; else `q` quits."""
        if len(self.screen_stack) > 1 or self.screen.maximized is not None:
            return True
        view = self._view_now()
        if view == "start":
            return self.loading is not None
        return view != "overview" and self.load_state.error is None

    def _nothing_to_show(self) -> bool:
        """A trace is being read for the first time, and nothing of it is known yet."""
        known = self.load_state.overview is not None or self.load_state.error is not None
        return not known and self._view_now() != "start"

    def on_key(self, event: events.Key) -> None:
        """A key that comes before the rows it is for waits for them."""
        from .screens.view import ViewScreen

        screen = self.screen
        if isinstance(screen, ViewScreen) and screen.hold(event):
            event.stop()
            event.prevent_default()

    async def action_quit(self) -> None:
        self._end(self._exit_code())

    def action_open_trace(self) -> None:
        """The start screen: recent traces and the file picker."""
        self._leave_modals()
        here = self._view_now()
        if here != "start":
            self._before_start = here
        self.switch_mode("start")

    def action_retry(self) -> None:
        """Read the present trace again, for a file that was still being written."""
        if self.loading is not None:
            self.open(self.loading.trace, salvage=self.loading.salvage)

    def action_help(self) -> None:
        from .screens.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.pop_screen()
        else:
            self.push_screen(HelpScreen(self._view_now(), ascii_only=self.ascii_only))

    def action_zoom_panel(self) -> None:
        screen = self.screen
        if screen.maximized is not None:
            screen.minimize()
        elif screen.focused is not None:
            screen.maximize(screen.focused)
        screen.refresh_bindings()

    def action_next_theme(self) -> None:
        names = [theme.name for theme in THEMES]
        self.theme = names[(names.index(self.theme) + 1) % len(names)]

    def _view_now(self) -> View:
        shown: list[View] = [name for name in VIEWS if name == self.current_mode]
        return shown[0] if shown else "start"

    def _leave_modals(self) -> None:
        while len(self.screen_stack) > 1 and self.screen.is_modal:
            self.pop_screen()

    def _exit_code(self) -> ExitCode:
        return ExitCode.USAGE if self.load_state.error is not None else ExitCode.OK

    # ----------------------------------------------------------- own faults --

    def _fatal_error(self) -> None:
        """Replaces Textual's: no traceback on the screen unless asked for."""
        if self.debug_faults or self._exception is None:
            super()._fatal_error()
            return
        from ..reports.failures import fault_text

        self._return_code = ExitCode.FAULT
        self.panic(Text(f"dctx-tui: error: {fault_text(self._exception)}"))


class StartApp(DctxApp):
    """The application without a trace to begin with."""

    DEFAULT_MODE = "start"
