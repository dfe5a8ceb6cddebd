"""The line that `/` opens: what is typed narrows the rows."""

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from ..keys import bindings


class FilterInput(Input):
    """One line. Typing posts `Input.Changed`; Enter keeps the filter, Esc clears it.

    Both give the focus back to the rows: the view does so on `Accepted` and `Cleared`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("filter")]
    DEFAULT_CSS = """
    FilterInput {
        height: 1;
        border: none;
        padding: 0 1;
        &:focus { border: none; }
    }
    """

    class Accepted(Message):
        """The filter stays; the rows want the focus."""

        def __init__(self, view: "FilterInput") -> None:
            self.view = view
            super().__init__()

        @property
        def control(self) -> "FilterInput":
            return self.view

    class Cleared(Message):
        """The filter is empty again; the rows want the focus."""

        def __init__(self, view: "FilterInput") -> None:
            self.view = view
            super().__init__()

        @property
        def control(self) -> "FilterInput":
            return self.view

    def __init__(
        self,
        placeholder: str = "",
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(
            placeholder=placeholder, compact=True, select_on_focus=False, id=id, classes=classes
        )
        # A blinking cursor writes to the terminal for ever.
        self.cursor_blink = False

    def action_accept(self) -> None:
        self.post_message(self.Accepted(self))

    def action_cancel(self) -> None:
        self.value = ""
        self.post_message(self.Cleared(self))
