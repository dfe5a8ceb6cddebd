"""A few sentences above the rows: broken between words where there is room, else one line each."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import getters
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from .fit import clean, fit, wrap
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style

TALL = 32
"""Lines of a terminal from which on the head may take more of them."""
MOST, MOST_TALL = 6, 8


class HeadLines(Widget):
    """The first line is the answer, and bold. Lines that do not fit the height are left out."""

    app = getters.app(any_app)
    COMPONENT_CLASSES: ClassVar[set[str]] = {"head--answer"}
    DEFAULT_CSS = """
    HeadLines {
        height: auto;
        & > .head--answer { text-style: bold; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
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
        room = max(1, width - 2)
        broken = [part for line in self._lines for part in wrap(line, room)]
        if len(broken) <= most:
            return broken
        return [fit(line, room, "left", glyphs_of(self.app).ellipsis) for line in self._lines][
            :most
        ]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._drawn(width))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self._drawn(width)
        text = fit(f" {lines[y]}", width) if y < len(lines) else " " * width
        style = component_style(self, "head--answer" if y == 0 else "")
        return Strip([Segment(text, style)], width)
