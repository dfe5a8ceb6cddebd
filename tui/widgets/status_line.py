"""One line of facts: what is shown at the left, where one stands at the right."""

from rich.cells import cell_len
from rich.segment import Segment
from textual import getters
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from .fit import clean, fit, shorten
from .glyphs import glyphs_of
from .host import any_app
from .paint import component_style


class StatusLine(Widget):
    """`left` gives way when both texts do not fit; only a text that changed is drawn again."""

    app = getters.app(any_app)

    DEFAULT_CSS = """
    StatusLine {
        height: 1;
        color: $text-muted;
        &:ansi { color: $foreground; }
    }
    """
    left: reactive[str] = reactive("")
    right: reactive[str] = reactive("")

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        ellipsis = glyphs_of(self.app).ellipsis
        right = fit(clean(self.right), min(cell_len(clean(self.right)), width), "left", ellipsis)
        room = max(0, width - cell_len(right) - 1)
        line = fit(shorten(clean(self.left), room, ellipsis), room) + " " + right
        return Strip([Segment(fit(line, width), component_style(self))], width)
