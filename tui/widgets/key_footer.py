"""The last line: the keys that matter now, as many as fit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, getters
from textual.reactive import reactive
from textual.screen import Screen
from textual.signal import Signal
from textual.strip import Strip
from textual.widget import Widget

from ..key_model import Footer
from ..key_texts import FooterItem, footer_items
from .filter_input import FilterInput
from .fit import clean, fit
from .flame_graph import FlameGraph
from .glyphs import ascii_chosen, glyphs_of
from .host import any_app
from .paint import component_style
from .statement_input import StatementInput

GAP = "  "


@dataclass(frozen=True, slots=True)
class _Shown:
    item: FooterItem
    x: int
    text: str


class KeyFooter(Widget):
    """The keys of a view that work now, made from the table of keys.

    What cannot be done at the moment (`check_action`) and what belongs to a widget without the
    focus is left out. `quits` tells whether the way back leads out of the application. When the
    line is too narrow the items of highest rank go first. `status` is said at the right, where
    there is room.
    """

    app = getters.app(any_app)

    DEFAULT_CSS = """
    KeyFooter {
        dock: bottom;
        height: 1;
        background: $panel;
        color: $foreground;
    }
    """
    status: reactive[str] = reactive("")

    def __init__(
        self,
        view: Footer,
        *,
        quits: Callable[[], bool] = lambda: False,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._view: Footer = view
        self._quits = quits
        self._items: list[FooterItem] = []

    def on_mount(self) -> None:
        # Textual leaves the type of the screen open.
        signal = cast(
            "Signal[Screen[object]]",
            self.screen.bindings_updated_signal,  # pyright: ignore[reportUnknownMemberType]
        )
        signal.subscribe(self, self._bindings_changed)
        self._bindings_changed(self.screen)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        items = self.items_now(screen)
        if items != self._items:
            self._items = items
            self.refresh()

    def items_now(self, screen: Screen[object]) -> list[FooterItem]:
        """The footer's items whose bindings are active, under the names of their present keys."""
        keymap: dict[str, str] = {}
        for active in screen.active_bindings.values():
            key_id = active.binding.id
            if key_id is not None and active.enabled:
                known = keymap.get(key_id)
                keymap[key_id] = f"{known},{active.binding.key}" if known else active.binding.key
        view: Footer = "filter" if isinstance(screen.focused, FilterInput) else self._view
        if isinstance(screen.focused, StatementInput):
            view = "statement"
        if isinstance(screen.focused, FlameGraph):
            view = "paths-flame" if self._view == "paths" else "flame"
        items = footer_items(view, keymap, ascii_only=ascii_chosen(self.app), quits=self._quits())
        return [item for item in items if item.id in keymap]

    def shown_now(self) -> list[FooterItem]:
        """The items that fit the line."""
        return [shown.item for shown in self._arrange()]

    def _arrange(self) -> list[_Shown]:
        items = list(self._items)
        while items and self._length(items) > self.size.width - 2:
            items.remove(max(reversed(items), key=lambda item: item.rank))
        shown: list[_Shown] = []
        x = 1
        for item in items:
            text = f"{item.name} {item.text}"
            shown.append(_Shown(item, x, text))
            x += cell_len(text) + len(GAP)
        return shown

    @staticmethod
    def _length(items: list[FooterItem]) -> int:
        texts = sum(cell_len(item.name) + 1 + cell_len(item.text) for item in items)
        return texts + len(GAP) * (len(items) - 1)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        text = " " + GAP.join(shown.text for shown in self._arrange())
        status = clean(self.status)
        room = width - cell_len(text) - len(GAP) - 1
        if status and room >= cell_len(status):
            text = fit(text, width - cell_len(status) - 1) + status
        line = fit(text, width, "left", glyphs_of(self.app).ellipsis)
        return Strip([Segment(line, component_style(self))], width)

    def on_click(self, event: events.Click) -> None:
        """A click on an item is its key."""
        for shown in self._arrange():
            if shown.x <= event.x < shown.x + cell_len(shown.text):
                self.app.simulate_key(shown.item.key)
