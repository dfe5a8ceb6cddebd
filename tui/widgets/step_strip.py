"""The steps of a run side by side: a bar for each, or for each few, one row a quantity."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import events, getters
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ..keys import bindings
from .fit import clean, fit
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style

WIDEST_BAR = 3
USUAL = 0.98
"""Bars are drawn to the scale of this share of the values: a single long one hides no others."""


@dataclass(frozen=True, slots=True)
class Bars:
    """One row: `values` by step, in one unit for all rows of a strip."""

    title: str
    values: Sequence[int]


class StepStrip(Widget, can_focus=True):
    """Bars with a cursor and a marked range. Posts `Moved`, `Chosen`, and `Edge` when the cursor
    leaves it upwards or downwards."""

    app = getters.app(any_app)
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "step-strip--bar",
        "step-strip--other",
        "step-strip--long",
        "step-strip--chosen",
        "step-strip--cursor",
        "step-strip--title",
    }
    DEFAULT_CSS = """
    StepStrip {
        height: auto;
        & > .step-strip--bar { color: $primary; }
        & > .step-strip--other { color: $secondary; }
        & > .step-strip--long { color: $accent; }
        & > .step-strip--chosen { background: $block-cursor-blurred-background; }
        & > .step-strip--cursor { color: $accent; text-style: bold; }
        & > .step-strip--title { color: $text-muted; }
        &:ansi > .step-strip--title { color: $foreground; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("strip")]

    class Moved(Message):
        """Another step is under the cursor."""

        def __init__(self, sender: "StepStrip", step: int) -> None:
            super().__init__()
            self.strip = sender
            self.step = step

        @property
        def control(self) -> "StepStrip":
            return self.strip

    class Chosen(Message):
        """The user chose the steps `first` to `last`, both included."""

        def __init__(self, sender: "StepStrip", first: int, last: int) -> None:
            super().__init__()
            self.strip = sender
            self.first = first
            self.last = last

        @property
        def control(self) -> "StepStrip":
            return self.strip

    class Edge(Message):
        """The cursor was moved out, upwards (`down` False) or downwards."""

        def __init__(self, sender: "StepStrip", *, down: bool) -> None:
            super().__init__()
            self.strip = sender
            self.down = down

        @property
        def control(self) -> "StepStrip":
            return self.strip

    def __init__(
        self,
        *,
        lines: int = 2,
        interactive: bool = True,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._lines = lines
        self._interactive = interactive
        self.can_focus = interactive
        self._rows: tuple[Bars, ...] = ()
        self._cursor = 0
        self._anchor: int | None = None
        self._marking = False
        self._chosen: tuple[int, int] | None = None

    # ----------------------------------------------------------- content --

    def show(self, rows: Sequence[Bars]) -> None:
        """Draw other bars; the cursor stays where it can."""
        changed = len(rows) != len(self._rows)
        self._rows = tuple(rows)
        self._cursor = min(self._cursor, max(0, self.count - 1))
        self._anchor, self._marking = None, False
        self.refresh(layout=changed)

    @property
    def count(self) -> int:
        """Number of steps."""
        return len(self._rows[0].values) if self._rows else 0

    @property
    def cursor(self) -> int:
        return self._cursor

    @property
    def range(self) -> tuple[int, int]:
        """The marked steps: those between the mark and the cursor."""
        anchor = self._cursor if self._anchor is None else self._anchor
        return min(anchor, self._cursor), max(anchor, self._cursor)

    @property
    def top(self) -> int:
        """What a bar of full height stands for; longer ones are cut."""
        values = sorted(value for row in self._rows for value in row.values)
        if not values:
            return 1
        usual = values[int(USUAL * (len(values) - 1))]
        return max(1, values[-1] if values[-1] <= 2 * usual else usual)

    @property
    def each(self) -> int:
        """Steps of a bar: several where there are more steps than columns."""
        return max(1, -(-self.count // max(1, self._room)))

    def set_chosen(self, chosen: tuple[int, int] | None) -> None:
        """The steps that the view is limited to."""
        self._chosen = chosen
        self.refresh()

    def move_to(self, step: int, *, extend: bool = False) -> None:
        """Put the cursor on a step; `extend`: the range reaches from where it was to there."""
        step = max(0, min(step, self.count - 1))
        if extend and self._anchor is None:
            self._anchor = self._cursor
        if not extend and not self._marking:
            self._anchor = None
        if step != self._cursor:
            self._cursor = step
            self.post_message(self.Moved(self, step))
        self.refresh()

    # ------------------------------------------------------------ actions --

    def action_step_left(self) -> None:
        self.move_to(self._cursor - self.each)

    def action_step_right(self) -> None:
        self.move_to(self._cursor + self.each)

    def action_extend_left(self) -> None:
        self.move_to(self._cursor - self.each, extend=True)

    def action_extend_right(self) -> None:
        self.move_to(self._cursor + self.each, extend=True)

    def action_mark(self) -> None:
        """Begin a range at the cursor, or give the mark up."""
        self._marking = not self._marking
        self._anchor = self._cursor if self._marking else None
        self.post_message(self.Moved(self, self._cursor))
        self.refresh()

    def action_page_up(self) -> None:
        self.move_to(self._cursor - max(1, self.count // 10))

    def action_page_down(self) -> None:
        self.move_to(self._cursor + max(1, self.count // 10))

    def action_cursor_first(self) -> None:
        self.move_to(0)

    def action_cursor_last(self) -> None:
        self.move_to(self.count - 1)

    def action_cursor_up(self) -> None:
        self.post_message(self.Edge(self, down=False))

    def action_cursor_down(self) -> None:
        self.post_message(self.Edge(self, down=True))

    def action_open(self) -> None:
        if self.count:
            first, last = self.range
            if first == last and self.each > 1:  # the bar stands for several
                first = first // self.each * self.each
                last = min(first + self.each, self.count) - 1
            self._anchor, self._marking = None, False
            self.post_message(self.Chosen(self, first, last))

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is not None and self._interactive and at.x >= self._margin:
            self.move_to((at.x - self._margin) // self._cells * self.each, extend=event.shift)
            if event.chain == 2:
                self.action_open()

    # ------------------------------------------------------------ drawing --

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    @property
    def _margin(self) -> int:
        return max((len(row.title) for row in self._rows), default=0) + 2

    @property
    def _room(self) -> int:
        return max(1, self.size.width - self._margin - 1)

    @property
    def _cells(self) -> int:
        """Width of a bar."""
        return max(1, min(WIDEST_BAR, self._room // max(1, self.count)))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if not self.count:
            return 0
        return len(self._rows) * self._lines + (1 if self._interactive else 0)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        plain = component_style(self)
        row, line = divmod(y, self._lines)
        if row < len(self._rows):
            segments = self._bar_line(row, line)
        elif self._interactive and self.count and y == len(self._rows) * self._lines:
            segments = self._pointer_line()
        else:
            return Strip.blank(width, plain)
        return Strip(segments).adjust_cell_length(width, plain)

    def _bar_line(self, row: int, line: int) -> list[Segment]:
        bars = self._rows[row]
        marks = glyphs_of(self.app).columns
        steps, each, cells, top = len(marks), self.each, self._cells, self.top
        below = (self._lines - 1 - line) * steps
        title = clean(bars.title) if line == self._lines - 1 else ""
        segments = [
            Segment(fit(f" {title}", self._margin), component_style(self, "step-strip--title"))
        ]
        usual = component_style(self, "step-strip--bar" if row == 0 else "step-strip--other")
        long = component_style(self, "step-strip--long")
        chosen = component_style(self, "step-strip--chosen")
        for first in range(0, self.count, each):
            value = max(bars.values[first : first + each])
            height = max(1, round(min(value / top, 1.0) * self._lines * steps)) if value > 0 else 0
            filled = min(max(height - below, 0), steps)
            style = long if value > top else usual
            if self._is_chosen(first, each):
                style += chosen.background_style
            segments.append(Segment((marks[filled - 1] if filled else " ") * cells, style))
        return segments

    def _is_chosen(self, first: int, each: int) -> bool:
        if self._chosen is None:
            return False
        return first <= self._chosen[1] and first + each > self._chosen[0]

    def _pointer_line(self) -> list[Segment]:
        glyphs = glyphs_of(self.app)
        first, last = self.range
        each, cells = self.each, self._cells
        text = ""
        for step in range(0, self.count, each):
            here = step <= self._cursor < step + each
            marked = step <= last and step + each > first and first != last
            if here:
                text += fit(glyphs.ascending if self.has_focus else glyphs.leaf, cells)
            elif marked or self._is_chosen(step, each):
                text += glyphs.range * cells
            else:
                text += " " * cells
        title = Segment(" " * self._margin, component_style(self))
        return [title, Segment(text, component_style(self, "step-strip--cursor"))]
