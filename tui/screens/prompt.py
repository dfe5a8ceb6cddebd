"""Asks for one line of text."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ..keys import bindings
from ..widgets.fit import clean

Check = Callable[[str], str]
"""What is wrong with a text, empty when nothing is."""


class PromptScreen(ModalScreen[str]):
    """Answers with the text once `check` has nothing against it; escape closes it without."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("dialog")]

    def __init__(self, title: str, value: str, hint: str, check: Check) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._hint = hint
        self._check = check

    def compose(self) -> ComposeResult:
        with Vertical(id="prompt", classes="dialog") as box:
            box.border_title = self._title
            box.border_subtitle = "enter accepts · esc closes"
            field = Input(self._value, select_on_focus=False)
            field.cursor_blink = False
            yield field
            yield Static(self._hint, id="hint", markup=False)

    @on(Input.Submitted)
    def _accept(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        problem = self._check(text)
        hint = self.query_one("#hint", Static)
        hint.set_class(bool(problem), "-problem")
        if problem:
            hint.update(clean(problem))
        else:
            self.dismiss(text)
