"""How values are distributed: a column for each bucket, the axis, and a line of key figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import getters
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from .fit import clean, fit, whole_parts
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style

PLOT_LINES = 4
MOST_COLUMN_CELLS = 4


@dataclass(frozen=True, slots=True)
class Distribution:
    """`counts[i]` values lie in bucket i; the texts are ready to be shown."""

    counts: Sequence[int]
    first_edge: str
    last_edge: str
    most: str
    """The largest count, the height of the plot."""
    figures: str
    """Minimum, percentiles, maximum."""


class HistogramView(Widget):
    """Draws a `Distribution`. A bucket that holds anything shows at least the lowest mark."""

    app = getters.app(any_app)

    COMPONENT_CLASSES: ClassVar[set[str]] = {"histogram--bar", "histogram--axis"}
    DEFAULT_CSS = """
    HistogramView {
        height: auto;
        & > .histogram--bar { color: $primary; }
        & > .histogram--axis { color: $text-muted; }
        &:ansi > .histogram--axis { color: $foreground; }
    }
    """

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._shown: Distribution | None = None

    def show(self, distribution: Distribution | None) -> None:
        """Draw another distribution; None draws nothing."""
        shown, self._shown = self._shown, distribution
        if shown != distribution:
            self.refresh(layout=(shown is None) != (distribution is None))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return PLOT_LINES + 2 if self._shown is not None else 0

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        shown = self._shown
        if shown is None or not shown.counts or y >= PLOT_LINES + 2:
            return Strip.blank(width, component_style(self))
        bar = component_style(self, "histogram--bar")
        axis = component_style(self, "histogram--axis")
        most = clean(shown.most)
        margin = cell_len(most) + 1
        each = max(1, min(MOST_COLUMN_CELLS, (width - margin) // len(shown.counts)))
        plot = each * len(shown.counts)
        if y < PLOT_LINES:
            left = fit(most if y == 0 else "", margin)
            marks = glyphs_of(self.app).columns
            drawn = columns_line(shown.counts, y, PLOT_LINES, each, marks)
            segments = [Segment(left, axis), Segment(drawn, bar)]
        elif y == PLOT_LINES:
            first, last = clean(shown.first_edge), clean(shown.last_edge)
            gap = plot - cell_len(first) - cell_len(last)
            rule = glyphs_of(self.app).rule
            middle = f" {rule * (gap - 2)} " if gap > 2 else " "
            segments = [Segment(f"{'0'.rjust(margin - 1)} {first}{middle}{last}", axis)]
        else:
            segments = [Segment(whole_parts(shown.figures, width), component_style(self))]
        return Strip(segments).adjust_cell_length(width, component_style(self))


def columns_line(counts: Sequence[int], y: int, lines: int, each: int, marks: str) -> str:
    """Line `y` of `lines` of a plot whose columns are `each` cells wide; `marks` by height."""
    steps = len(marks)
    most = max(1, *counts)
    below = (lines - 1 - y) * steps
    line = ""
    for count in counts:
        height = max(1, round(count / most * lines * steps)) if count else 0
        filled = min(max(height - below, 0), steps)
        line += (marks[filled - 1] if filled else " ") * each
    return line
