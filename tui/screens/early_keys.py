"""Keys that come before the rows they are meant for wait for these."""

from collections import deque

from textual import events

from ..app import DctxApp
from ..widgets.progress_panel import ProgressPanel
from .asking import AskingScreen

TEXT_ACTIONS = frozenset({"filter", "limit", "export"})
"""Open a field: what is typed next is its text."""


class EarlyKeys(AskingScreen):
    """Keeps keys until the view has its first rows, and while other ones are on their way."""

    def __init__(self) -> None:
        super().__init__()
        self._ready = False
        self._held: deque[events.Key] = deque()
        self._held_text = False

    def rows_ready(self) -> None:
        """The first rows are there and have the focus: from now on keys act at once, first those
        that were pressed too early."""
        self._ready = True
        self._give()

    def rows_answered(self) -> None:
        self._give()

    def on_screen_resume(self) -> None:
        self._give()

    @property
    def takes_keys(self) -> bool:
        """The rows are there that keys act on."""
        return self._ready and not self.awaits_rows

    def hold(self, event: events.Key) -> bool:
        """Keep a key until the rows are there. False when it acts now: keys of the application
        and of a panel that has the focus, and every key once the rows are there."""
        if self.takes_keys and not self._held:
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

    def _give(self) -> None:
        if self.takes_keys and self._held and self.app.screen is self:
            keys = list(self._held)
            self._held.clear()
            self._held_text = False
            self.app.give_again(keys)
