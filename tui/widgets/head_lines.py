"""A few sentences above the rows, each whole: what finds no room is counted, not cut."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import getters
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from ...analyzers.quantities import plural
from .fit import clean, fit, wrap
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style

TALL = 32
"""Lines of a terminal from which on the head may take more of them."""
MOST, MOST_TALL = 8, 10
_INDENT = "   "
"""Of the further lines of a sentence."""


class HeadLines(Widget):
    """The first line is the answer, and bold. Sentences that do not fit the height are left out."""

    app = getters.app(any_app)
    COMPONENT_CLASSES: ClassVar[set[str]] = {"head--answer"}
    DEFAULT_CSS = """
    HeadLines {
        height: auto;
        & > .head--answer { text-style: bold; }
    }
    """

    def __init__(self, more: str = "", *, id: str | None = None) -> None:  # noqa: A002
        """`more`: where the sentences are that find no room."""
        super().__init__(id=id)
        self._more = more
        self._lines: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        return self._lines

    def show(self, lines: Sequence[str]) -> None:
        """Show other sentences."""
        if tuple(lines) != self._lines:
            self._lines = tuple(map(clean, lines))
            self.refresh(layout=True)

    def _drawn(self, width: int) -> list[str]:
        most = MOST_TALL if self.app.size.height >= TALL else MOST
        room = max(1 + len(_INDENT), width - 2)
        broken = [_broken(line, room) for line in self._lines]
        if sum(map(len, broken)) <= most:
            return [part for parts in broken for part in parts]
        drawn: list[str] = []
        whole = 0
        while len(drawn) + len(broken[whole]) < most:
            drawn += broken[whole]
            whole += 1
        if not whole:
            return broken[0][:most]
        ellipsis = glyphs_of(self.app).ellipsis
        left = plural(len(broken) - whole, "more sentence")
        return [*drawn, fit(f"{ellipsis} {left}{self._more}", room, "left", ellipsis)]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._drawn(width))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self._drawn(width)
        text = fit(f" {lines[y]}", width) if y < len(lines) else " " * width
        style = component_style(self, "head--answer" if y == 0 else "")
        return Strip([Segment(text, style)], width)


def _broken(text: str, room: int) -> list[str]:
    first, *others = wrap(text, room)
    rest = wrap(" ".join(others), room - len(_INDENT)) if others else []
    return [first, *(_INDENT + line for line in rest)]
