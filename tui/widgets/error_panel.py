"""A trace that cannot be read: what, where, and what to do about it."""

from typing import ClassVar

from textual import getters
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from ...ingest.errors import TraceError
from ..keys import bindings
from .fit import clean
from .host import any_app


class ErrorPanel(Widget, can_focus=True):
    """Shows a `TraceError` in place of the view; `y` copies it in one paragraph."""

    app = getters.app(any_app)

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("message")]
    DEFAULT_CSS = """
    ErrorPanel {
        height: auto;
        padding: 1 2;
        border: round $error;
        border-title-color: $text-error;
        border-title-style: bold;
    }
    """

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._error: TraceError | None = None
        self.border_title = "This trace cannot be read"

    @property
    def error(self) -> TraceError | None:
        return self._error

    def show(self, error: TraceError) -> None:
        """Show another error."""
        self._error = error
        self.refresh(layout=True)

    def render(self) -> Content:
        error = self._error
        if error is None:
            return Content("")
        lines = [Content.styled(clean(error.path), "bold")]
        if error.where:
            lines.append(Content(f"at: {clean(error.where)}"))
        lines += [Content(""), Content(clean(error.what))]
        if error.remedy:
            lines += [Content(""), Content(clean(error.remedy))]
        return Content("\n").join(lines)

    def action_copy(self) -> None:
        if self._error is not None:
            self.app.copy_to_clipboard(self._error.paragraph())
            self.notify("Copied.")
