"""The keys of the view below, from the table of keys."""

from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from ..keys import TITLES, Footer, bindings, help_groups


class HelpScreen(ModalScreen[None]):
    """A scrollable list of the keys that work in a view. `?`, `q` and escape close it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("dialog")]

    def __init__(self, view: Footer, *, ascii_only: bool) -> None:
        super().__init__()
        self._view: Footer = view
        self._ascii_only = ascii_only

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help", classes="dialog") as box:
            box.border_title = f"Keys · {TITLES[self._view]}"
            box.border_subtitle = "esc closes"
            yield Static(self._text())

    def _text(self) -> Content:
        groups = help_groups(self._view, ascii_only=self._ascii_only)
        lines = [(", ".join(line.names), line.text) for g in groups.values() for line in g]
        width = max(cell_len(names) for names, _ in lines)
        parts: list[Content | tuple[str, str]] = []
        for title, entries in groups.items():
            parts.append((f"{title}\n", "bold"))
            for entry in entries:
                names = ", ".join(entry.names)
                parts.append((f"  {names}{' ' * (width - cell_len(names))}", "$primary"))
                parts.append((f"  {entry.text}\n", ""))
            parts.append(("\n", ""))
        return Content.assemble(*parts).rstrip()
