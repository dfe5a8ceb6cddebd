"""The command palette: every action that works here, and every kernel of the trace by name."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from heapq import nlargest

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher

from ..queries.kernels import OpStat, op_stats
from ..reports.format import clean
from .app import DctxApp
from .key_model import Footer, Key
from .key_texts import key_names, palette_keys
from .looking import Target
from .screens.start import StartScreen
from .screens.view import ViewScreen

MAX_KERNELS = 30
"""Kernels offered for one search; typing more narrows it."""

WORD_SCORE = 1000.0
"""Above what letters found here and there in a sentence can reach."""


def highlighted(matcher: Matcher, name: str) -> Content:
    """The name as it is with the letters that match marked; the matcher's own takes `[red]` in a
    name for markup."""
    shown = Content(clean(name))
    for place in matcher.fuzzy_search.match(matcher.query, name)[1]:
        if not name[place].isspace():
            shown = shown.stylize(matcher.match_style, place, place + 1)
    return shown


class Commands(Provider):
    """Actions first, then kernels."""

    _kernels: list[OpStat]

    async def startup(self) -> None:
        self._kernels = []
        app = self.app
        if isinstance(app, DctxApp) and app.session is not None:
            self._kernels = await asyncio.to_thread(op_stats, app.session.trace)

    async def discover(self) -> Hits:
        for key, run, help_text in self._actions():
            yield DiscoveryHit(key.help, run, help=help_text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query.replace(" ", ""))  # words need not be next to each other
        for key, run, help_text in self._actions():
            score = max(matcher.match(key.help), _known_as(query, (*key.words, key.short)))
            if score > 0:
                yield Hit(score, matcher.highlight(key.help), run, help=help_text)
        for score, op in await asyncio.to_thread(self._best, matcher):
            yield Hit(
                score * 0.99,  # behind an action that matches as well
                highlighted(matcher, op.name),
                partial(self._show_kernel, op),
                help="Show in Kernels",
            )

    def _best(self, matcher: Matcher) -> list[tuple[float, OpStat]]:
        """The kernels that match best; a trace can have thousands of names."""
        scored = [(matcher.match(op.name), op) for op in self._kernels]
        return [
            (score, op)
            for score, op in nlargest(MAX_KERNELS, scored, key=lambda pair: pair[0])
            if score > 0
        ]

    def _actions(self) -> Iterator[tuple[Key, Callable[[], None], str]]:
        screen = self.screen
        if isinstance(screen, ViewScreen):
            view: Footer = screen.footer
        else:
            view = "start" if isinstance(screen, StartScreen) else "message"
        for key in palette_keys(view):
            names = ", ".join(key_names(key))
            yield key, partial(self._run, key), f"{key.group.value} · {names}"

    def _run(self, key: Key) -> None:
        """Run the action where its key would have found it: widget, screen or application."""
        name = key.action.partition("(")[0]
        places = (self.screen.focused, self.screen)
        owner = next((p for p in places if p is not None and hasattr(p, f"action_{name}")), None)
        self.app.call_later(self.app.run_action, key.action, owner or self.app)

    def _show_kernel(self, op: OpStat) -> None:
        app = self.app
        if isinstance(app, DctxApp):
            app.lead("kernels", Target(op=(op.kind, op.name)))


def _known_as(query: str, words: Iterable[str]) -> float:
    """Score of an action by what people call it: the beginning of a word counts most."""
    typed = query.strip().casefold()
    return WORD_SCORE if len(typed) > 1 and any(w.startswith(typed) for w in words) else 0.0
