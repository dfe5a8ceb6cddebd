"""The keys of the view below, from the table of keys."""

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from ..key_model import Footer
from ..key_texts import help_groups
from ..keys import SIGNS, TITLES, bindings


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

    def _text(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column()
        for title, lines in help_groups(self._view, ascii_only=self._ascii_only).items():
            if table.row_count:
                table.add_row()
            table.add_row(Text(title, style="bold underline"))
            for line in lines:
                table.add_row(Text(f"  {', '.join(line.names)}", style="bold"), line.text)
        signs = SIGNS.get(self._view, ())
        if signs:
            table.add_row()
            table.add_row(Text("Signs", style="bold underline"))
        for sign, text in signs:
            shown = sign.replace("…", "~") if self._ascii_only else sign
            table.add_row(Text(f"  {shown}", style="bold"), text)
        return table
