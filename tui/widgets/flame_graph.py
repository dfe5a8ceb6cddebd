"""A flame graph, hanging from its root: each line is a level, a frame as wide as it costs."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events, getters
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from ..keys import bindings
from .fit import clean, fit, wrap
from .flame_layout import Frame
from .flame_source import FlameSource
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style


class FlameGraph(Widget, can_focus=True):
    """Draws a `FlameSource`. The cursor is on a frame; Enter gives that frame the whole width."""

    app = getters.app(any_app)
    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("flame")]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *("flame--even", "flame--odd", "flame--more", "flame--less", "flame--above"),
        *("flame--cursor", "flame--match"),
    }
    DEFAULT_CSS = """
    FlameGraph {
        width: 1fr;
        height: 1fr;
        & > .flame--even { background: $panel; color: $foreground; }
        & > .flame--odd { background: $panel-lighten-2; color: $foreground; }
        & > .flame--more { background: #b35300; color: #ffffff; }
        & > .flame--less { background: #1663a6; color: #ffffff; }
        & > .flame--above { color: $text-muted; }
        & > .flame--match { background: $accent; color: $text; }
        & > .flame--cursor { text-style: bold reverse; }
        &:ansi > .flame--even { background: ansi_default; color: ansi_default; }
        &:ansi > .flame--odd { background: ansi_bright_black; color: ansi_default; }
        &:ansi > .flame--match { background: ansi_cyan; color: ansi_black; }
        &:ansi > .flame--more { background: ansi_yellow; color: ansi_black; }
        &:ansi > .flame--less { background: ansi_blue; color: ansi_bright_white; }
        &:nocolor > .flame--match { background: ansi_default; text-style: bold underline; }
        &:nocolor > .flame--odd { background: ansi_default; text-style: underline; }
        &:nocolor > .flame--more { background: ansi_default; text-style: bold; }
        &:nocolor > .flame--less { background: ansi_default; text-style: italic; }
    }
    """
    empty_text: reactive[str] = reactive("")
    """What is said when nothing has a width."""

    class Highlighted(Message):
        """Another frame has the cursor."""

        def __init__(self, view: "FlameGraph", node: int) -> None:
            self.view = view
            self.node = node
            super().__init__()

        @property
        def control(self) -> "FlameGraph":
            return self.view

    def __init__(
        self,
        source: FlameSource,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._source = source
        self._cursor = self._first_node()
        self._zoom = -1
        self._top = 0
        self._levels: list[list[Frame]] | None = None
        self._styles: dict[str, Style] = {}

    def _first_node(self) -> int:
        layout = self._source.layout
        return max(layout.roots, key=layout.size, default=-1)

    # --------------------------------------------------------------- state --

    @property
    def source(self) -> FlameSource:
        return self._source

    @property
    def cursor(self) -> int:
        """The node under the cursor, -1 without one."""
        return self._cursor

    @property
    def zoom(self) -> int:
        """The node that has the whole width, -1: all of them."""
        return self._zoom

    def set_source(self, source: FlameSource) -> None:
        """Draw another tree of the same nodes: cursor and zoom stay where they have a width."""
        self._source = source
        layout = source.layout
        if not 0 <= self._cursor < len(layout) or not layout.size(self._cursor):
            self._cursor = self._first_node()
        if self._zoom >= 0 and (self._zoom >= len(layout) or not layout.size(self._zoom)):
            self._zoom = -1
        self._changed()

    def select(self, node: int) -> None:
        """Put the cursor on a node; what is too narrow to be drawn is zoomed to its parent."""
        if not 0 <= node < len(self._source.layout):
            return
        self._levels = None
        if self._frame(node) is None:
            parent = self._source.layout.parent(node)
            self._zoom = parent if self._source.layout.size(node) else -1
            self._levels = None
        self._cursor = node
        self._changed()
        self.post_message(self.Highlighted(self, node))

    def _changed(self) -> None:
        self._levels = None
        self._follow()
        self.refresh()

    def levels(self) -> Sequence[Sequence[Frame]]:
        """What is drawn, line by line, from the outermost; the way to the zoomed frame first."""
        if self._levels is None:
            layout, width = self._source.layout, max(1, self.size.width)
            above = layout.way(self._zoom)[:-1] if self._zoom >= 0 else []
            below = layout.levels(self._zoom, width, len(layout))
            self._levels = [[Frame(node, 0, width)] for node in above] + below
        return self._levels

    def _place(self, node: int) -> tuple[int, int] | None:
        """Level and place on it of a node that is drawn."""
        for depth, level in enumerate(self.levels()):
            for at, frame in enumerate(level):
                if frame.node == node:
                    return depth, at
        return None

    def _frame(self, node: int) -> Frame | None:
        place = self._place(node)
        return None if place is None else self.levels()[place[0]][place[1]]

    def _follow(self) -> bool:
        """Bring the cursor's line into sight; whether the lines moved."""
        place = self._place(self._cursor)
        height = max(1, self.size.height)
        last = max(0, len(self.levels()) - height)
        top = min(self._top, last)
        if place is not None:
            if place[0] < top:
                top = max(0, place[0] - height // 2)
            elif place[0] >= top + height:
                top = min(last, place[0] - (height - 1) // 2)
        moved, self._top = top != self._top, top
        return moved

    def _move(self, node: int) -> None:
        if node < 0 or node == self._cursor:
            return
        old, self._cursor = self._place(self._cursor), node
        if self._follow():
            self.refresh()
        else:
            for place in (old, self._place(node)):
                if place is not None:
                    self.refresh(Region(0, place[0] - self._top, self.size.width, 1))
        self.post_message(self.Highlighted(self, node))

    # ------------------------------------------------------------- actions --

    def action_frame_up(self) -> None:
        if self._cursor >= 0:
            self._move(self._source.layout.parent(self._cursor))

    def action_frame_down(self) -> None:
        """To the widest frame below; one that is too narrow to be drawn is not gone to."""
        if self._cursor >= 0:
            node = self._source.layout.widest_child(self._cursor)
            if node >= 0 and self._frame(node) is not None:
                self._move(node)

    def action_frame_left(self) -> None:
        self._step(-1)

    def action_frame_right(self) -> None:
        self._step(1)

    def _step(self, direction: int) -> None:
        place = self._place(self._cursor)
        if place is None:
            return
        level = self.levels()[place[0]]
        at = place[1] + direction
        if 0 <= at < len(level):
            self._move(level[at].node)

    def action_zoom_in(self) -> None:
        """The frame under the cursor, and what is below it, over the whole width."""
        if self._cursor >= 0 and self._cursor != self._zoom:
            self._zoom = self._cursor
            self._changed()

    def action_zoom_out(self) -> None:
        self.zoom_out()

    def zoom_out(self) -> bool:
        """One level out; False when all is shown."""
        if self._zoom < 0:
            return False
        self._zoom = self._source.layout.parent(self._zoom)
        if self._zoom >= 0 and self._source.layout.parent(self._zoom) < 0:
            self._zoom = -1  # a root alone is the whole
        self._changed()
        return True

    def action_zoom_reset(self) -> None:
        self._zoom = -1
        self._changed()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        depth = self._top + at.y if at is not None else -1
        if at is None or not 0 <= depth < len(self.levels()):
            return
        event.stop()
        for frame in self.levels()[depth]:
            if frame.x <= at.x < frame.x + frame.width:
                self._move(frame.node)
                if event.chain == 2:
                    self.action_zoom_in()

    def on_resize(self) -> None:
        self._changed()

    # ------------------------------------------------------------- drawing --

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = component_style(self, name)
        return style

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        plain = self._style("")
        levels = self.levels()
        depth = self._top + y
        if not levels:
            lines = wrap(self.empty_text, max(1, width - 1))
            text = f" {lines[y]}" if y < len(lines) else ""
            return Strip([Segment(fit(text, width), plain)], width)
        if depth >= len(levels):
            return Strip.blank(width, plain)
        above = self._zoom >= 0 and depth < len(self._source.layout.way(self._zoom)) - 1
        segments: list[Segment] = []
        x = 0
        for at, frame in enumerate(levels[depth]):
            if frame.x > x:
                segments.append(Segment(" " * (frame.x - x), plain))
            segments.append(self._segment(frame, at, above=above))
            x = frame.x + frame.width
        segments.append(Segment(" " * max(0, width - x), plain))
        return Strip(segments, width)

    def _segment(self, frame: Frame, at: int, *, above: bool) -> Segment:
        source, node = self._source, frame.node
        text = clean(source.label(node))
        if frame.width > 3:
            text = fit(text, frame.width - 1, "left", glyphs_of(self.app).ellipsis) + " "
        else:
            text = text[: frame.width].ljust(frame.width)
        kind = source.kind(node)
        name = f"flame--{kind}" if kind else ("flame--odd" if at % 2 else "flame--even")
        style = self._style("flame--above" if above else name)
        if source.matches(node):
            # Colours that say something stay; a match is told by its type too.
            style = self._style("flame--match") if not kind else style
            style += Style(bold=True, underline=True)
        if node == self._cursor:
            style += Style(reverse=True, bold=True)
        return Segment(text, style)
