"""The first line: the trace, its facts, what is being done to it, and the views."""

from collections.abc import Iterator
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import getters
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from ..views import TRACE_VIEWS
from .fit import clean, shorten
from .glyphs import glyphs_of
from .host import any_app

LEAST_NAME = 16
"""Cells the trace's name gets before the views that are not shown lose theirs."""


def _tabs(shown: str) -> Iterator[dict[str, str]]:
    """What the tabs can say, by view, from the widest to the narrowest."""
    yield {info.view: f" {info.tab} {info.title} " for info in TRACE_VIEWS}
    yield {info.view: f" {info.tab} {info.short}" for info in TRACE_VIEWS}
    yield {
        info.view: f" {info.tab} {info.title} " if info.view == shown else f" {info.tab} "
        for info in TRACE_VIEWS
    }


class TitleBar(Widget):
    """One line. When it is too narrow the facts go first, then the names of the views get shorter,
    then the trace's name."""

    app = getters.app(any_app)
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "title-bar--name",
        "title-bar--status",
        "title-bar--tab",
        "title-bar--active",
    }
    DEFAULT_CSS = """
    TitleBar {
        height: 1;
        background: $panel;
        color: $foreground;
        & > .title-bar--name { text-style: bold; }
        & > .title-bar--status { color: $accent; }
        & > .title-bar--tab { text-style: none; }
        & > .title-bar--active { text-style: bold reverse; }
    }
    """
    trace: reactive[str] = reactive("")
    facts: reactive[str] = reactive("")
    status: reactive[str] = reactive("")
    rank: reactive[str] = reactive("")
    """Which ranks are looked at: never left out."""

    def __init__(self, view: str) -> None:
        super().__init__()
        self._view = view

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        style = self.rich_style
        ellipsis = glyphs_of(self.app).ellipsis
        told = [text for text in (self.rank, self.status) if text]
        status = f" {clean(' · '.join(told))} " if told else ""
        texts, room = {}, 0
        for texts in _tabs(self._view):
            room = width - sum(map(cell_len, texts.values())) - cell_len(status) - 1
            if room >= LEAST_NAME:
                break
        tabs = [Segment(text, self._tab_style(view)) for view, text in texts.items()]
        name = shorten(clean(self.trace), room - 1, ellipsis) if room > 4 else ""
        facts = f"  {clean(self.facts)}" if self.facts else ""
        if cell_len(name) + cell_len(facts) + 2 > room:
            facts = ""
        gap = max(1, room - cell_len(name) - cell_len(facts))
        line = [
            Segment(" ", style),
            Segment(name, style + self.get_component_rich_style("title-bar--name", partial=True)),
            Segment(facts, style),
            Segment(" " * gap, style),
            Segment(
                status, style + self.get_component_rich_style("title-bar--status", partial=True)
            ),
            *tabs,
        ]
        return Strip(line).adjust_cell_length(width, style)

    def _tab_style(self, view: str) -> Style:
        part = "active" if view == self._view else "tab"
        style = self.rich_style + self.get_component_rich_style(f"title-bar--{part}", partial=True)
        return style + Style(meta={"@click": f"app.view('{view}')"})
