"""The verdict card: the answer in words, the evidence under it, and what to do next."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, getters
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ...reports.verdict_card import VerdictCard
from ..keys import bindings
from .fit import clean, fit, wrap
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style

NAME_CELLS = 15
VALUE_CELLS = 9
MARK_CELLS = 11
PHASE_CELLS = 13
ANSWER_CELLS = 5


class Piece(NamedTuple):
    """Part of a line, and its style: a component class without its beginning, or nothing."""

    text: str
    style: str = ""


Line = list[Piece]


def card_lines(card: VerdictCard, width: int, crossed_mark: str) -> list[Line]:
    """The card in `width` cells: long sentences fold, the table never does."""
    answer = {"YES": "yes", "NO": "no"}.get(card.answer, "dim")
    room = max(8, width - ANSWER_CELLS)
    first, *rest = wrap(card.headline, room)
    lines: list[Line] = [[Piece(card.answer.ljust(ANSWER_CELLS), answer), Piece(first, "head")]]
    lines += [[Piece(" " * ANSWER_CELLS), Piece(text, "head")] for text in rest]
    about = " · ".join(part for part in (card.basis, f"reliability: {card.reliability}") if part)
    lines += [[Piece(" " * ANSWER_CELLS), Piece(text)] for text in wrap(about, room)]
    lines += [[Piece(text, "next")] for text in _hanging(f"Next: {card.next_step}", width)]
    if card.signals:
        lines += [[], *_table(card, width, crossed_mark)]
    if card.limits_note:
        lines += [[Piece(text, "dim")] for text in _hanging(card.limits_note, width)]
    lines.append([])
    for reason in card.reasons:
        style = "dim" if reason.startswith("n/a") else "warning"
        lines += [[Piece(text, style)] for text in _hanging(f"! {reason}", width)]
    lines += [[Piece(text, "dim")] for text in _hanging(f"window: {card.window}", width)]
    return lines


def _table(card: VerdictCard, width: int, crossed_mark: str) -> list[Line]:
    limit = max(len("limit"), *(cell_len(signal.limit) for signal in card.signals)) + 4
    shown = [
        place
        for place in range(len(card.phases))
        if NAME_CELLS + VALUE_CELLS + limit + MARK_CELLS + PHASE_CELLS * (place + 1) <= width
    ]
    heading = " " * NAME_CELLS + "value".rjust(VALUE_CELLS) + "  limit".ljust(limit)
    heading += " " * MARK_CELLS
    heading += "".join(f"{card.phases[place]:>{PHASE_CELLS - 2}}  " for place in shown)
    lines: list[Line] = [[Piece(heading.rstrip(), "dim")]]
    for signal in card.signals:
        mark = f"{crossed_mark} {signal.mark}" if signal.mark else ""
        line = [
            Piece(fit(signal.name, NAME_CELLS)),
            Piece(signal.value.rjust(VALUE_CELLS), "crossed" if mark else ""),
            Piece(f"  {signal.limit}".ljust(limit), "dim"),
            Piece(fit(mark, MARK_CELLS), "crossed"),
        ]
        for place in shown:
            value = signal.phases[place]
            line.append(
                Piece(
                    value.text.rjust(PHASE_CELLS - 2)
                    + (f" {crossed_mark}" if value.crossed else "  "),
                    "crossed" if value.crossed else "",
                )
            )
        lines.append(line)
    return lines


def _hanging(text: str, width: int) -> list[str]:
    """Folded, the lines after the first indented."""
    first, *rest = wrap(text, max(8, width - 2))
    return [first, *(f"  {line}" for line in rest)]


class VerdictView(Widget, can_focus=True):
    """Draws a `VerdictCard`, or what is said in its place. Posts `Opened` and `Edge`."""

    app = getters.app(any_app)
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(
            f"verdict--{name}"
            for name in ("yes", "no", "dim", "head", "crossed", "warning", "next", "cursor")
        )
    }
    DEFAULT_CSS = """
    VerdictView {
        height: auto;
        padding: 0 1;
        & > .verdict--yes { color: $accent; text-style: bold reverse; }
        & > .verdict--no { color: $success; text-style: bold; }
        & > .verdict--head { text-style: bold; }
        & > .verdict--dim { color: $text-muted; }
        & > .verdict--crossed { color: $accent; }
        & > .verdict--warning { color: $warning; }
        & > .verdict--next { text-style: bold; }
        & > .verdict--cursor { text-style: bold; }
        &:focus > .verdict--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
        &:ansi > .verdict--dim { color: $foreground; text-style: dim; }
        &:nocolor:focus > .verdict--cursor { text-style: reverse; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]

    class Opened(Message):
        """The user wants to go where the card leads."""

    class Edge(Message):
        """The cursor leaves the card, upwards (`down` False) or downwards."""

        def __init__(self, *, down: bool) -> None:
            super().__init__()
            self.down = down

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._card: VerdictCard | None = None
        self._said = ""
        self._width = -1
        self._lines: list[Line] = []

    @property
    def card(self) -> VerdictCard | None:
        return self._card

    @property
    def said(self) -> str:
        """What is said while there is no card."""
        return self._said

    def show(self, card: VerdictCard) -> None:
        self._card, self._width = card, -1
        self.refresh(layout=True)

    def say(self, text: str) -> None:
        """A sentence in place of the card."""
        self._card, self._said, self._width = None, text, -1
        self.refresh(layout=True)

    def _folded(self, width: int) -> list[Line]:
        if width != self._width:
            self._width = width
            if self._card is None:
                self._lines = [[Piece(text, "dim")] for text in wrap(self._said, max(8, width))]
            else:
                self._lines = card_lines(self._card, width, glyphs_of(self.app).ascending)
        return self._lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._folded(width))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self._folded(width)
        plain = component_style(self)
        if y >= len(lines):
            return Strip.blank(width, plain)
        segments: list[Segment] = []
        for piece in lines[y]:
            style = piece.style
            if style == "next" and self.has_focus:
                style = "cursor"
            segments.append(
                Segment(
                    clean(piece.text), component_style(self, f"verdict--{style}" if style else "")
                )
            )
        return Strip(segments).adjust_cell_length(width, plain)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # ------------------------------------------------------------ actions --

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def action_cursor_up(self) -> None:
        self.post_message(self.Edge(down=False))

    def action_cursor_down(self) -> None:
        self.post_message(self.Edge(down=True))

    def action_cursor_first(self) -> None:
        self._scroll(lambda parent: parent.scroll_home(animate=False))

    def action_cursor_last(self) -> None:
        self._scroll(lambda parent: parent.scroll_end(animate=False))

    def action_page_up(self) -> None:
        self._scroll(lambda parent: parent.scroll_page_up(animate=False))

    def action_page_down(self) -> None:
        self._scroll(lambda parent: parent.scroll_page_down(animate=False))

    def _scroll(self, move: Callable[[Widget], None]) -> None:
        for parent in self.ancestors:
            if isinstance(parent, Widget) and parent.allow_vertical_scroll:
                move(parent)
                return

    def on_click(self, event: events.Click) -> None:
        if event.chain == 2:
            self.action_open()
