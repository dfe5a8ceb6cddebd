"""The trace that the present one is compared with: read beside it, on a thread of its own."""

from textual import on
from textual.message import Message
from textual.signal import Signal

from ..ingest.selection import Asked
from .loading import Loading, LoadState, StepPatterns
from .navigation import Navigation


class BaseLoaded(Message):
    """The opening of the base has come further. Sent from the loading thread."""

    def __init__(self, loading: Loading, state: LoadState) -> None:
        super().__init__()
        self.loading = loading
        self.state = state


class WithBase(Navigation):
    """The application's part that holds the base of a comparison; the open trace is its target."""

    cache: bool
    patterns: StepPatterns

    def __init__(self, *, ansi_color: bool | None = None, base: Loading | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.base = base
        self.base_state = LoadState()
        self.base_changed: Signal[LoadState] = Signal(self, "base_changed")
        """The base is being opened: progress, its events, an error, or it was given up."""

    def watch_base(self) -> None:
        """From now on be told how far the base has come."""
        loading = self.base
        if loading is not None:
            loading.listen(lambda state: self._tell(loading, state))

    def _tell(self, loading: Loading, state: LoadState) -> None:
        self.post_message(BaseLoaded(loading, state))

    def compare_with(self, asked: Asked, *, salvage: bool = False) -> None:
        """Read another base in place of the present one."""
        self.drop_base()
        self.base = Loading(
            asked,
            cache=self.cache,
            salvage=salvage,
            patterns=self.patterns,
            with_overview=False,
        )
        self.base.start()
        self.watch_base()
        self.base_changed.publish(self.base_state)

    def drop_base(self) -> None:
        """Forget the base, and close it when no one reads it."""
        if self.base is not None:
            self.base.discard()
        self.base, self.base_state = None, LoadState()

    @on(BaseLoaded)
    def _base_loaded(self, message: BaseLoaded) -> None:
        if message.loading is not self.base:
            return
        state = self.base_state = message.state
        if state.fault is not None:
            raise state.fault
        self.base_changed.publish(state)
