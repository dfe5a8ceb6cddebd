"""What is known about one row: a text, a distribution, and short lists that lead on."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from .histogram import Distribution, HistogramView
from .row_list import Row, RowList

MAX_SECTIONS = 3


@dataclass(frozen=True, slots=True)
class Section:
    """A titled list."""

    title: str
    rows: Sequence[Row]
    heading: str = ""


class DetailPane(VerticalScroll, can_focus=False):
    """Redrawn as a whole when the row changes. Lists post `RowList.Opened`."""

    DEFAULT_CSS = """
    DetailPane {
        scrollbar-size-vertical: 1;
        & > Static { padding: 0 1; height: auto; }
        & > HistogramView { margin: 0 1; }
        & > RowList { margin-top: 1; border-top: solid $border; }
    }
    """

    def compose(self) -> ComposeResult:
        yield Static(id="heading", markup=False)
        yield HistogramView(id="durations")
        for number in range(MAX_SECTIONS):
            yield RowList(id=f"section-{number}")

    def show(
        self, heading: str, histogram: Distribution | None, sections: Sequence[Section]
    ) -> None:
        """Show a row's details; at most `MAX_SECTIONS` sections."""
        self.query_one("#heading", Static).update(heading)
        view = self.query_one(HistogramView)
        view.display = histogram is not None
        view.show(histogram)
        for number in range(MAX_SECTIONS):
            rows = self.query_one(f"#section-{number}", RowList)
            section = sections[number] if number < len(sections) else None
            rows.display = section is not None
            if section is not None:
                rows.border_title = section.title
                rows.set_rows(section.rows, section.heading)
        self.scroll_home(animate=False)

    def say(self, text: str) -> None:
        """Nothing but a sentence."""
        self.show(text, None, ())
