"""Two quantities over time: what is used, filled, and up to what was taken, shaded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import getters
from textual.strip import Strip
from textual.widget import Widget

from .fit import clean, fit
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style

MARGIN = 11
"""Cells of the scale at the left."""


@dataclass(frozen=True, slots=True)
class Areas:
    """A column each bucket; None: not known. The texts are ready to be shown."""

    used: Sequence[int | None]
    taken: Sequence[int | None]
    top: int
    """The value at the upper edge."""
    top_text: str
    half_text: str
    start_text: str
    end_text: str


class AreaChart(Widget):
    """Draws `Areas` over all of its lines, the last of which is the axis of time."""

    app = getters.app(any_app)
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "area-chart--used",
        "area-chart--taken",
        "area-chart--axis",
    }
    DEFAULT_CSS = """
    AreaChart {
        & > .area-chart--used { color: $primary; }
        & > .area-chart--taken { color: $text-muted; }
        & > .area-chart--axis { color: $text-muted; }
        &:ansi > .area-chart--taken { color: $foreground; text-style: dim; }
        &:ansi > .area-chart--axis { color: $foreground; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._shown: Areas | None = None

    def show(self, areas: Areas | None) -> None:
        """Draw another pair of quantities; None draws nothing."""
        if areas != self._shown:
            self._shown = areas
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width, plot = self.size.width, self.size.height - 1
        shown = self._shown
        if shown is None or plot < 1 or y > plot:
            return Strip.blank(width, component_style(self))
        axis = component_style(self, "area-chart--axis")
        if y == plot:
            first, last = clean(shown.start_text), clean(shown.end_text)
            gap = len(shown.used) - cell_len(first) - cell_len(last)
            middle = f" {glyphs_of(self.app).rule * (gap - 2)} " if gap > 2 else " "
            segments = [Segment(f"{'0'.rjust(MARGIN - 1)} {first}{middle}{last}", axis)]
        else:
            scale = shown.top_text if y == 0 else shown.half_text if y == plot // 2 else ""
            segments = [Segment(fit(clean(scale), MARGIN - 1, "right") + " ", axis)]
            segments += self._columns(shown, plot, plot - 1 - y)
        return Strip(segments).adjust_cell_length(width, component_style(self))

    def _columns(self, shown: Areas, plot: int, line: int) -> list[Segment]:
        """The columns in a line counted from below, in runs of one style."""
        glyphs = glyphs_of(self.app)
        marks, shade = glyphs.columns, glyphs.split[3]
        steps = len(marks)
        used_style = component_style(self, "area-chart--used")
        taken_style = component_style(self, "area-chart--taken")
        segments: list[Segment] = []
        run, run_style = "", used_style
        for used, taken in zip(shown.used, shown.taken, strict=True):
            filled = _height(used, shown.top, plot * steps) - line * steps
            if filled > 0:
                mark, style = marks[min(filled, steps) - 1], used_style
            elif _height(taken, shown.top, plot * steps) > line * steps:
                mark, style = shade, taken_style
            else:
                mark, style = " ", run_style
            if style != run_style:
                segments.append(Segment(run, run_style))
                run, run_style = "", style
            run += mark
        return [*segments, Segment(run, run_style)]


def _height(value: int | None, top: int, steps: int) -> int:
    """Of a column, in steps: anything at all shows one."""
    if not value or value < 0:
        return 0
    return max(1, min(steps, round(value * steps / top)))
