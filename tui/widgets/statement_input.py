"""Where an SQL statement is typed."""

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widgets import TextArea

from ..keys import bindings


class StatementInput(TextArea):
    """Several lines. `Run` wants the statement run, `Left` the rows back; `Recalled` asks for a
    statement of before (-1) or after (1)."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("statement")]
    DEFAULT_CSS = """
    StatementInput {
        height: 5;
        border: none;
        border-bottom: solid $border;
        padding: 0 1;
        background: $background;
        &:focus { border: none; border-bottom: solid $primary; }
    }
    """

    class Run(Message):
        """The statement is to be run."""

    class Left(Message):
        """The rows want the focus."""

    class Recalled(Message):
        """Another statement of the history is wanted."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, soft_wrap=True, tab_behavior="focus", compact=True)
        # A blinking cursor writes to the terminal for ever.
        self.cursor_blink = False

    def action_run(self) -> None:
        self.post_message(self.Run())

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_older(self) -> None:
        self.post_message(self.Recalled(-1))

    def action_newer(self) -> None:
        self.post_message(self.Recalled(1))
