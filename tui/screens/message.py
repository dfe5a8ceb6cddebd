"""A text too long for its row, in full."""

from typing import ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from ..keys import bindings
from ..widgets.fit import clean, clean_lines
from ..widgets.host import any_app


class MessageScreen(ModalScreen[None]):
    """Shows a text until it is closed; `y` copies it."""

    app = getters.app(any_app)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("dialog", "text")]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = Content(clean(self._title))
            box.border_subtitle = "y copies · esc closes"
            yield Static(clean_lines(self._text), markup=False)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._text)
        self.notify("Copied.")
