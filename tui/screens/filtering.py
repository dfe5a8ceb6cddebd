"""A field that limits a view's rows to those whose name has a text."""

from textual import on
from textual.widgets import Input

from ..widgets.big_table import BigTable
from ..widgets.filter_input import FilterInput
from .view import ViewScreen


class FilterView(ViewScreen):
    """Opens and closes the field, and tells when its text is another one."""

    def __init__(self) -> None:
        super().__init__()
        self.filter_text = ""

    def filter_changed(self) -> None:
        """Show the rows that match `filter_text`."""
        raise NotImplementedError

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self.query_one(FilterInput).focus()

    @on(Input.Changed)
    def _filter_typed(self, event: Input.Changed) -> None:
        self._set_filter(event.value.strip())

    @on(FilterInput.Accepted)
    @on(FilterInput.Cleared)
    def _leave_filter(self) -> None:
        self.set_class(bool(self.filter_text), "-filtering")
        self.query_one("#table", BigTable).focus()

    def _set_filter(self, text: str) -> None:
        field = self.query_one(FilterInput)
        if field.value.strip() != text:
            field.value = text
        if text != self.filter_text:
            self.filter_text = text
            self.filter_changed()

    def show_all_rows(self) -> None:
        """Empty the field, which stays open when it is."""
        self._set_filter("")

    def end_filter(self) -> bool:
        """Show all rows and close the field; whether there was anything to undo."""
        if not self.filter_text and not self.has_class("-filtering"):
            return False
        self._set_filter("")
        self._leave_filter()
        return True
