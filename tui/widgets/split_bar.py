"""How the time of each GPU divides: compute, exposed communication, exposed copies, idle."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import getters
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from .fit import clean, fit
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style

CLASSES = ("compute", "comm", "copy", "idle")
WHOLE = ("  together 100 % of the window", "  together 100 %")
"""What the parts are parts of, as far as there is room."""
LEAST_BAR = 8
FIGURE_CELLS = 10


@dataclass(frozen=True, slots=True)
class Split:
    """One bar: `parts` and `texts` by `CLASSES`; `note` replaces a bar whose parts are all 0."""

    label: str
    parts: tuple[int, int, int, int]
    texts: tuple[str, str, str, str]
    note: str = ""


def share_cells(parts: Sequence[int], width: int) -> list[int]:
    """Whole cells for each part, `width` in all, by largest remainder (no cells for all zeros)."""
    total = sum(parts)
    if total <= 0:
        return [0] * len(parts)
    cells = [part * width // total for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: (-(parts[i] * width % total), i))
    for i in by_remainder[: width - sum(cells)]:
        cells[i] += 1
    return cells


def _label_cells(splits: Sequence[Split]) -> int:
    """Cells of the widest label: found once, there may be thousands of devices."""
    return max((cell_len(clean(split.label)) for split in splits), default=0)


class SplitBar(Widget):
    """A line of headings, then a line for each device: label, figures, bar.

    Each class has a character of its own, shown in its heading, so that no colour is needed.
    """

    app = getters.app(any_app)

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "split-bar--header",
        *(f"split-bar--{name}" for name in CLASSES),
    }
    DEFAULT_CSS = """
    SplitBar {
        height: auto;
        & > .split-bar--header { color: $text-muted; text-style: bold; }
        & > .split-bar--compute { color: $primary; }
        & > .split-bar--comm { color: $accent; }
        & > .split-bar--copy { color: $secondary; }
        & > .split-bar--idle { color: $text-muted; }
        &:ansi > .split-bar--header { color: $foreground; }
        &:ansi > .split-bar--idle { color: $foreground; }
    }
    """

    def __init__(
        self,
        splits: Sequence[Split] = (),
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._splits = tuple(splits)
        self._label_cells = _label_cells(self._splits)

    @property
    def splits(self) -> tuple[Split, ...]:
        return self._splits

    def show(self, splits: Sequence[Split]) -> None:
        """Draw other bars."""
        self._splits = tuple(splits)
        self._label_cells = _label_cells(self._splits)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._splits) + 1 if self._splits else 0

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y > len(self._splits) or not self._splits:
            return Strip.blank(width, component_style(self))
        labels = min(self._label_cells + 1, max(0, width - len(CLASSES) * FIGURE_CELLS))
        if y == 0:
            segments = self._header(labels, width)
        else:
            segments = self._bar(self._splits[y - 1], labels, width)
        return Strip(segments).adjust_cell_length(width, component_style(self))

    def _header(self, labels: int, width: int) -> list[Segment]:
        header = component_style(self, "split-bar--header")
        segments = [Segment(" " * labels, header)]
        for name, glyph in zip(CLASSES, glyphs_of(self.app).split, strict=True):
            style = component_style(self, f"split-bar--{name}")
            pad = FIGURE_CELLS - len(name) - 2
            segments += [Segment(" " * pad + glyph, style), Segment(f" {name}", header)]
        room = width - labels - len(CLASSES) * FIGURE_CELLS
        whole = next((text for text in WHOLE if len(text) <= room), "")
        return [*segments, Segment(whole, header)]

    def _bar(self, split: Split, labels: int, width: int) -> list[Segment]:
        glyphs = glyphs_of(self.app)
        figures = "".join(fit(text, FIGURE_CELLS, "right") for text in split.texts)
        text = fit(clean(split.label), labels, "left", glyphs.ellipsis) + figures + "  "
        segments = [Segment(text, component_style(self))]
        room = width - len(CLASSES) * FIGURE_CELLS - labels - 2
        if not any(split.parts):
            segments.append(Segment(clean(split.note), component_style(self)))
        elif room >= LEAST_BAR:
            cells = share_cells(split.parts, room)
            for name, glyph, count in zip(CLASSES, glyphs.split, cells, strict=True):
                if count:
                    style = component_style(self, f"split-bar--{name}")
                    segments.append(Segment(glyph * count, style))
        return segments
