"""How far the reading of a trace has come."""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual import getters
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from ...ingest.progress import BytesRead, Done
from ...reports.format import progress
from ..key_texts import key_name
from ..keys import bindings
from .fit import bar
from .glyphs import ascii_chosen, glyphs_of
from .host import any_app

BAR_CELLS = 40


class ProgressPanel(Widget, can_focus=True):
    """Stage, bar and elapsed seconds. Drawn when told of progress, never by a clock."""

    app = getters.app(any_app)

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("progress")]
    DEFAULT_CSS = """
    ProgressPanel {
        height: auto;
        padding: 1 2;
    }
    """

    class CancelWanted(Message):
        """The user wants the reading to stop."""

        def __init__(self, view: "ProgressPanel") -> None:
            self.view = view
            super().__init__()

        @property
        def control(self) -> "ProgressPanel":
            return self.view

    def __init__(
        self,
        *,
        clock: Callable[[], float] = monotonic,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._clock = clock
        self._started = clock()
        self._stage = ""
        self._done: Done = 0.0

    def restart(self) -> None:
        """Count the seconds from now, for another trace."""
        self._started = self._clock()
        self.update("", 0.0)

    def update(self, stage: str, done: Done) -> None:
        """Show the stage's name and how much is done: of the whole, or of a stream that nobody
        knows the end of."""
        self._stage = stage
        self._done = done
        self.refresh(layout=not self.size.height)

    def render(self) -> Content:
        elapsed_s = self._clock() - self._started
        glyphs = glyphs_of(self.app)
        drawn = ""
        if not isinstance(self._done, BytesRead):
            width = max(1, min(BAR_CELLS, self.size.width - 8))
            drawn = bar(min(max(self._done, 0.0), 1.0), width, glyphs.blocks) + " "
        escape = key_name("escape", ascii_only=ascii_chosen(self.app))
        return Content("\n").join(
            [
                Content(self._stage),
                Content.assemble((drawn, "$primary"), progress(self._done)),
                Content.styled(f"{elapsed_s:.1f} s   {escape} cancels", "dim"),
            ]
        )

    def action_cancel(self) -> None:
        self.post_message(self.CancelWanted(self))
