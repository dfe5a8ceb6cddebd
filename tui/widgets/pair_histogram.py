"""How values are distributed in two traces: one axis, base above target."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import getters
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from .fit import cells, clean, fit, whole_parts
from .glyphs import glyphs_of
from .histogram import MOST_COLUMN_CELLS, columns_line
from .host import any_app
from .paint import component_style

PLOT_LINES = 2


@dataclass(frozen=True, slots=True)
class PairDistribution:
    """`base[i]` and `target[i]` values lie in bucket i; the texts are ready to be shown."""

    title: str
    base: Sequence[int]
    target: Sequence[int]
    first_edge: str
    last_edge: str
    base_name: str
    target_name: str
    base_figures: str
    target_figures: str


class PairHistogramView(Widget):
    """Draws a `PairDistribution`, each side by its own largest count: traces differ in length."""

    app = getters.app(any_app)

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *("pair--base", "pair--target", "pair--axis", "pair--title"),
    }
    DEFAULT_CSS = """
    PairHistogramView {
        height: auto;
        & > .pair--base { color: $primary; }
        & > .pair--target { color: $accent; }
        & > .pair--axis { color: $text-muted; }
        & > .pair--title { text-style: bold; }
        &:ansi > .pair--axis { color: $foreground; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._shown: PairDistribution | None = None

    @property
    def shown(self) -> PairDistribution | None:
        """What is drawn."""
        return self._shown

    def show(self, distribution: PairDistribution | None) -> None:
        """Draw another distribution; None draws nothing."""
        shown, self._shown = self._shown, distribution
        if shown != distribution:
            self.refresh(layout=(shown is None) != (distribution is None))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 0 if self._shown is None else 2 * PLOT_LINES + 4

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        plain = component_style(self)
        shown = self._shown
        if shown is None or y >= 2 * PLOT_LINES + 4:
            return Strip.blank(width, plain)
        axis = component_style(self, "pair--axis")
        names = [clean(shown.base_name), clean(shown.target_name)]
        margin = max(map(cells, names)) + 1
        buckets = len(shown.base)
        each = max(1, min(MOST_COLUMN_CELLS, (width - margin) // buckets))
        if y == 0:
            segments = [Segment(clean(shown.title), component_style(self, "pair--title"))]
        elif y <= 2 * PLOT_LINES:
            side, line = divmod(y - 1, PLOT_LINES)
            counts = (shown.base, shown.target)[side]
            marks = glyphs_of(self.app).columns
            drawn = columns_line(counts, line, PLOT_LINES, each, marks)
            name = names[side] if line == PLOT_LINES - 1 else ""
            style = component_style(self, ("pair--base", "pair--target")[side])
            segments = [Segment(fit(name, margin), axis), Segment(drawn, style)]
        elif y == 2 * PLOT_LINES + 1:
            first, last = clean(shown.first_edge), clean(shown.last_edge)
            gap = each * buckets - cells(first) - cells(last)
            middle = f" {glyphs_of(self.app).rule * (gap - 2)} " if gap > 2 else " "
            segments = [Segment(f"{' ' * margin}{first}{middle}{last}", axis)]
        else:
            at = y - 2 * PLOT_LINES - 2
            text = whole_parts((shown.base_figures, shown.target_figures)[at], width - margin)
            segments = [Segment(f"{fit(names[at], margin)}{text}", plain)]
        return Strip(segments).adjust_cell_length(width, plain)
