"""What is known about one row: a text, a distribution, and short lists that lead on."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from .fit import clean, clean_lines
from .histogram import Distribution, HistogramView
from .row_list import Row, RowList

MOST_LISTS = 7


@dataclass(frozen=True, slots=True)
class Section:
    """A titled list."""

    title: str
    rows: Sequence[Row]
    heading: str = ""


class SidePane(VerticalScroll, can_focus=False):
    """Tells when it comes to be seen: what it was about before is past."""

    class Appeared(Message):
        """There is room for the pane now, or it was asked for."""

    def on_show(self) -> None:
        self.post_message(self.Appeared())


class DetailPane(SidePane):
    """Only what differs is drawn again when the row changes. Lists post `RowList.Opened`.

    `#lists` and `#shape` stand one below the other or side by side, as the view's styles say."""

    DEFAULT_CSS = """
    DetailPane {
        scrollbar-size-vertical: 1;
        & > #heading { padding: 0 1; height: auto; }
        & > #blocks { height: auto; }
        #lists, #shape { height: auto; }
        HistogramView { margin: 0 1; }
        RowList { border-top: solid $border; max-height: 11; }
    }
    """

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._shown_heading = ""
        self._titles: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="heading", markup=False)
        with Container(id="blocks"):
            yield Vertical(*(RowList(id=f"list-{n}") for n in range(MOST_LISTS)), id="lists")
            yield Vertical(HistogramView(id="durations"), RowList(id="shapes"), id="shape")

    def show(
        self,
        heading: str,
        histogram: Distribution | None,
        lists: Sequence[Section],
        shapes: Section | None,
    ) -> None:
        """Show a row's details; at most `MOST_LISTS` lists."""
        self.head(heading)
        view = self.query_one(HistogramView)
        view.display = histogram is not None
        view.show(histogram)
        shown: dict[str, Section | None] = {f"list-{n}": None for n in range(MOST_LISTS)}
        shown |= {f"list-{n}": section for n, section in enumerate(lists)}
        for name, section in {**shown, "shapes": shapes}.items():
            rows = self.query_one(f"#{name}", RowList)
            rows.display = section is not None
            if section is not None:
                if section.title != self._titles.get(name):  # setting it redraws the list
                    self._titles[name] = section.title
                    rows.border_title = Content(clean(section.title))
                rows.set_rows(section.rows, section.heading)
        self.scroll_home(animate=False)

    def head(self, text: str) -> None:
        """Another heading above what is shown."""
        if text != self._shown_heading:
            self._shown_heading = text
            self.query_one("#heading", Static).update(clean_lines(text))

    def say(self, text: str) -> None:
        """Nothing but a sentence."""
        self.show(text, None, (), None)
