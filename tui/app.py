"""The application: which trace is open, how far its reading has come, and how it ends."""

import asyncio
import gc
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import App
from textual.binding import BindingType
from textual.command import Provider
from textual.message import Message
from textual.screen import Screen
from textual.signal import Signal

from ..ingest.errors import TraceError
from ..ingest.selection import Asked
from ..reports.exit_codes import ExitCode
from ..reports.source_map import SourceMap
from .keys import bindings
from .loading import Loading, LoadState, StepPatterns
from .style_sheet import ParsedOnce
from .themes import THEMES
from .type_ahead import AT_ONCE, TypeAhead
from .views import TRACE_VIEWS, modes
from .with_base import WithBase

if TYPE_CHECKING:
    from textual.await_complete import AwaitComplete

    from ..ingest.ncu import NcuKernel
    from ..reports.own_files import OwnFiles
    from .session import Session


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


def _commands() -> type[Provider]:
    from .commands import Commands

    return Commands


class DctxApp(WithBase):
    """One trace at a time, and perhaps one that it is compared with. Views are modes: each keeps
    its place while another is shown."""

    TITLE = "dctx"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = modes()
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
        base: Loading | None = None,
        theme_name: str = "dark",
        ascii_only: bool = False,
        cache: bool = True,
        patterns: StepPatterns | None = None,
        own_files: "OwnFiles | None" = None,
        sources: SourceMap | None = None,
        measured: "Sequence[NcuKernel]" = (),
        debug_faults: bool = False,
    ) -> None:
        # Decided when the application is made: without colours the terminal's own are used, and
        # a filter leaves even those out.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None, base=base)
        for theme in THEMES:
            self.register_theme(theme)
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())
        # No watcher: the style sheets would be parsed once more before the first paint.
        self.set_reactive(App.theme, theme_name)
        self.animation_level = "none"
        self.ascii_only = ascii_only
        self.cache = cache
        self.patterns = patterns or StepPatterns()
        self.own_files = own_files
        """Architectures and models named on the command line; None: none were."""
        self.sources = sources or SourceMap()
        """Where the sources that traces name are on this machine."""
        self.measured = list(measured)
        """What Nsight Compute measured of kernels."""
        self.debug_faults = debug_faults
        self.loading = loading
        self.load_state = LoadState()
        self.load_changed: Signal[LoadState] = Signal(self, "load_changed")
        """A trace is being opened: progress, the first tables, the events, an error."""
        self._ahead = TypeAhead(self)
        self.following = ""
        """How the trace grows, for the title; empty for one that does not."""
        self._drawn = False
        self._end_code: int | None = None

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
        self.watch_base()
        self.call_after_refresh(_collect_again)

    def _end_by_signal(self, number: signal.Signals) -> None:
        """End as `q` does, so that the terminal and the store are left clean."""
        self.end(128 + number)

    def end(self, code: int) -> None:
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
        for loading in (self.loading, self.base):
            if loading is not None:
                loading.listen(None)
                loading.cancel()

    def open(self, trace: Asked, *, salvage: bool = False) -> None:
        """Open a trace in place of the present one."""
        self._close_trace()
        self.loading = Loading(trace, cache=self.cache, salvage=salvage, patterns=self.patterns)
        self.loading.start()
        self.start_anew()
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
        self.forget_choices()
        self.switch_mode("start")
        for info in TRACE_VIEWS:
            self.remove_mode(info.view)
            self.add_mode(info.view, info.make)

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

    def action_retry(self) -> None:
        """Read the trace that failed again, for a file that was still being written."""
        if self.load_state.error is None and self.base is not None and self.base_state.error:
            self.compare_with(self.base.trace, salvage=self.base.salvage)
        elif self.loading is not None:
            self.open(self.loading.trace, salvage=self.loading.salvage)

    async def action_quit(self) -> None:
        self.end(self.exit_code)

    # ------------------------------------------------------------------ keys --

    async def on_event(self, event: events.Event) -> None:
        key = event if isinstance(event, events.Key) and not event.is_forwarded else None
        if key is not None and key.key == "ctrl+j":  # Enter, before the terminal was taken over
            key = events.Key("enter", "\r")
            key.set_sender(self)
        if key is None or key.key in AT_ONCE:
            await super().on_event(event)
        elif self.screen_stack and not self._ahead.keeps(key):
            await super().on_event(key)
            self._ahead.acted()

    def give_again(self, keys: Iterable[events.Key]) -> None:
        """Keys that a view had to keep until its rows were there."""
        self._ahead.put_first(keys)

    def on_key(self, event: events.Key) -> None:
        """A key that comes before the rows it is for waits for them."""
        if not self.screen_stack:  # it is ending: nobody is there for the key
            event.prevent_default()
            return
        screen = self.view_shown
        if screen is not None and (self._ahead.falls_behind(event) or screen.hold(event)):
            event.stop()
            event.prevent_default()

    def action_next_theme(self) -> None:
        names = [theme.name for theme in THEMES]
        self.theme = names[(names.index(self.theme) + 1) % len(names)]

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


class CompareApp(DctxApp):
    """The application with two traces to begin with."""

    DEFAULT_MODE = "compare"
