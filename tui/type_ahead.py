"""Keys one at a time: each acts on what the one before it led to, however fast they come.

Textual hands a key to the widget with the focus, and what the key does comes back as messages
through the widgets around it. A second key that arrives meanwhile would meet a screen that is
about to be replaced, or a field that has no focus yet, and be lost.
"""

from collections import deque
from collections.abc import Iterable
from time import monotonic

from textual import events
from textual.app import App
from textual.dom import DOMNode

ROUNDS = 2
"""The key itself, and the message that it makes a widget send."""
POLL_S = 0.004
AT_ONCE = frozenset({"ctrl+c", "ctrl+q"})
"""Keys that wait for nothing."""
PATIENCE_S = 5.0
"""A screen that takes longer to appear is not waited for."""


class TypeAhead:
    """Tells the application which key may act now; gives it the others later, in order."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._waiting: deque[events.Key] = deque()
        self._given = 0
        """So many of them, the first ones, were given back by a view."""
        self._acting = False
        self._acting_given = False
        self._turn: events.Key | None = None
        self._since = 0.0

    def keeps(self, event: events.Key) -> bool:
        """Whether the key has to wait. If not, `acted` is to be called when it was handed on."""
        if event is self._turn:
            self._turn = None
            return False
        if self._acting:
            if not self._waiting:  # a widget that is removed answers nobody
                self._app.set_timer(PATIENCE_S, self._overdue)
            self._waiting.append(event)
            return True
        self._acting, self._acting_given = True, False
        return False

    def falls_behind(self, event: events.Key) -> bool:
        """Whether keys that were pressed before the one that acts were given back meanwhile: then
        it waits behind them."""
        if not self._given or self._acting_given:
            return False
        self._waiting.insert(self._given, event)
        return True

    def _overdue(self) -> None:
        if self._waiting and monotonic() - self._since > PATIENCE_S:
            self._next()

    def acted(self) -> None:
        """The key that may act was handed on: the next one waits until all is at rest."""
        self._since = monotonic()
        self._pass_on(self._way() * ROUNDS)

    def put_first(self, keys: Iterable[events.Key]) -> None:
        """Keys that come before those that wait."""
        given = list(keys)
        self._waiting.extendleft(reversed(given))
        self._given += len(given)
        if not self._acting:
            self._next()

    def _way(self) -> list[DOMNode]:
        """The widgets that a message goes through on its way up."""
        app = self._app
        if not app.screen_stack:
            return [app]
        return list((app.focused or app.screen).ancestors_with_self)

    def _pass_on(self, way: list[DOMNode]) -> None:
        """Go on when each of the widgets has done what it had to do before."""
        for place, node in enumerate(way):
            if node.is_running and node.call_later(self._pass_on, way[place + 1 :]):
                return
        self._rest()

    def _rest(self) -> None:
        if self._at_rest() or monotonic() - self._since > PATIENCE_S:
            self._next()
        else:
            self._app.set_timer(POLL_S, self._rest)

    def _at_rest(self) -> bool:
        """The screen is there, and where it has a field for the keys, that has the focus."""
        app = self._app
        if not app.screen_stack:
            return False
        screen = app.screen
        if not screen.is_mounted or not screen.is_current:
            return False
        return not screen.is_modal or screen.focused is not None or not screen.focus_chain

    def _next(self) -> None:
        self._acting = bool(self._waiting)
        if self._waiting:
            waiting = self._waiting.popleft()
            self._acting_given = self._given > 0
            self._given -= self._acting_given
            self._turn = events.Key(waiting.key, waiting.character)
            self._turn.set_sender(self._app)  # a message ends its way at its sender
            self._app.post_message(self._turn)
