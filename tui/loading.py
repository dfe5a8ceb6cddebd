"""Opening a trace on a thread of its own, watched by one listener."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..ingest.errors import CancelledError, TraceError
from ..ingest.progress import Done
from ..ingest.raw_bytes import is_standard_input

if TYPE_CHECKING:
    from ..ingest.selection import Asked
    from ..ingest.store import Store
    from ..queries.overview import Overview
    from ..reports.verdict_card import CardFinding, VerdictCard
    from .session import Session

TOP = 30
"""Kernels and call paths of the overview."""
WINDOWS = ("auto", "steady", "trace")
"""Parts of the trace that can be judged; what `w` goes through."""
FIRST_WINDOW = WINDOWS[0]
"""What is judged before anybody asks for another part of the trace."""
DRAW_PATIENCE_S = 2.0
"""The first screen of a trace seen before is waited for at most this long."""
TELL_INTERVAL_S = 0.1
"""Progress is told at most this often: every repaint costs bytes over SSH."""


@dataclass(frozen=True, slots=True)
class StepPatterns:
    """What the user says about the steps of the trace, on the command line."""

    step_regex: str | None = None
    prep_regex: str | None = None

    def key(self, window: str) -> str:
        """What the verdict over a window depends on besides the trace."""
        return repr((window, self.step_regex, self.prep_regex))


@dataclass(frozen=True, slots=True)
class LoadState:
    """How far the opening of a trace has come."""

    stage: str = "opening"
    done: Done = 0.0
    """Of the whole, or what came of a stream of unknown length."""
    overview: "Overview | None" = None
    """What the first screen shows; of a trace seen before it is there before the trace is open."""
    card: "VerdictCard | None" = None
    """The verdict as judged when the trace was open before."""
    findings: "tuple[CardFinding, ...] | None" = None
    """What the analyzers found when the trace was open before; None: not known."""
    session: "Session | None" = None
    """Set as soon as the summary tables are complete."""
    complete: bool = False
    """The events are in the store too."""
    error: TraceError | None = None
    fault: BaseException | None = None
    """Our own bug, or a failure nobody foresaw."""
    cancelled: bool = False

    @property
    def ended(self) -> bool:
        return self.complete or self.cancelled or self.error is not None or self.fault is not None


_started: list["Loading"] = []


def stop_all() -> None:
    """Stop every loading thread and wait for it: none outlives the application."""
    for loading in _started:
        loading.cancel()
    while _started:
        _started.pop().wait()


Listener = Callable[[LoadState], None]


class Loading:
    """Opens a trace once. Usable before the application runs, so that imports overlap."""

    def __init__(
        self,
        trace: "Asked",
        *,
        cache: bool = True,
        salvage: bool = False,
        patterns: StepPatterns | None = None,
        with_overview: bool = True,
    ) -> None:
        """`with_overview`: what the first screen shows is asked too."""
        self.trace = trace
        self._with_overview = with_overview
        self.patterns = patterns or StepPatterns()
        self.cache = cache
        self.salvage = salvage
        self._state = LoadState()
        self._lock = threading.Lock()
        self._listener: Listener | None = None
        self._cancel = threading.Event()
        self.first_screen = threading.Event()
        """Set when the first screen is drawn, or is not to be waited for."""
        self._told_at = 0.0
        self._thread = threading.Thread(target=self._load, name="dctx-load")
        self._closing: threading.Thread | None = None

    @property
    def title(self) -> str:
        """What the trace is called on the screen."""
        if isinstance(self.trace, Path):
            return "standard input" if is_standard_input(self.trace) else self.trace.name
        more = len(self.trace) - 1
        return self.trace[0].name + (f" and {more} more" if more else "")

    @property
    def state(self) -> LoadState:
        return self._state

    def start(self) -> None:
        _started.append(self)
        self._thread.start()

    def listen(self, listener: Listener | None) -> None:
        """Tell `listener` the present state now, and every later one from the loading thread."""
        with self._lock:
            self._listener = listener
            state = self._state
        if listener is not None:
            listener(state)

    def cancel(self) -> None:
        """Ask the loading thread to stop; it answers with a cancelled state."""
        self._cancel.set()
        self.first_screen.set()

    def wait(self) -> None:
        """Wait for the loading thread to end, and for the store of a discarded trace to close."""
        for thread in (self._thread, self._closing):
            if thread is not None and thread.ident is not None:
                thread.join()

    def discard(self) -> None:
        """Nobody wants the trace any more: stop, and close the store when no one reads it."""
        self.listen(None)
        self.cancel()
        self._closing = threading.Thread(target=self._close, name="dctx-close")
        self._closing.start()

    def _close(self) -> None:
        self._thread.join()
        if self._state.session is not None:
            self._state.session.close()

    def _load(self) -> None:
        try:
            self._recall()
            from ..ingest.registry import open_trace

            store = open_trace(
                self.trace,
                progress=self._progress,
                on_summary=self._summary,
                cache=self.cache,
                salvage=self.salvage,
            )
        except CancelledError:
            self._tell(replace(self._state, cancelled=True))
        except TraceError as error:
            self._tell(replace(self._state, error=error))
        except Exception as fault:
            self._tell(replace(self._state, fault=fault))
        else:
            if self._state.session is None:
                self._summary(store)
            self._tell(replace(self._state, done=1.0, complete=True))
            self._remember()

    def _progress(self, stage: str, done: Done) -> None:
        if self._cancel.is_set():
            raise CancelledError
        now = time.monotonic()
        if stage != self._state.stage or now - self._told_at >= TELL_INTERVAL_S:
            self._told_at = now
            self._tell(replace(self._state, stage=stage, done=done))

    def _summary(self, store: "Store") -> None:
        from ..queries.overview import overview
        from .session import Session

        session = Session(self.trace, store, self.patterns)
        known = self._state.overview
        if known is None and self._with_overview:
            known = overview(session.trace, TOP)
        self._tell(replace(self._state, overview=known, session=session))

    def _recall(self) -> None:
        """Show what is known of the trace from before, then let it be drawn undisturbed: the
        database takes long to import, and Python runs one thread at a time."""
        if self.cache and not self.salvage and self._with_overview:
            from .remembered import remembered_card, remembered_findings, remembered_overview

            known = remembered_overview(self.trace)
            if known is not None:
                card = remembered_card(self.trace, self.patterns.key(FIRST_WINDOW))
                found = remembered_findings(self.trace, self._findings_key)
                self._tell(replace(self._state, overview=known, card=card, findings=found))
                self.first_screen.wait(DRAW_PATIENCE_S)

    def _remember(self) -> None:
        if self.cache and not self.salvage and self._state.overview is not None:
            from .remembered import remember_overview

            remember_overview(self.trace, self._state.overview)

    def remember_card(self, card: "VerdictCard") -> None:
        """Keep the verdict over the first window for the next time. Writes a file: for workers."""
        if self.cache and not self.salvage:
            from .remembered import remember_card

            remember_card(self.trace, self.patterns.key(FIRST_WINDOW), card)

    def remember_findings(self, findings: Sequence["CardFinding"]) -> None:
        """Keep what the analyzers that come with dctx, and those of the user's folder, found.
        Writes a file: for workers."""
        if self.cache and not self.salvage:
            from .remembered import remember_findings

            remember_findings(self.trace, self._findings_key, findings)

    @property
    def _findings_key(self) -> str:
        from ..reports.own_files import own_stamp

        return self.patterns.key(own_stamp())

    def _tell(self, state: LoadState) -> None:
        with self._lock:
            self._state = state
            listener = self._listener
        if listener is not None:
            listener(state)
