"""What is known about one row of two traces: texts, distributions of both, kernels of both."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import Static

from .detail_pane import SidePane
from .fit import clean_lines
from .pair_histogram import PairDistribution, PairHistogramView
from .row_list import Row, RowList


class ComparePane(SidePane):
    """Only what differs is drawn again when the row changes. The list posts `RowList.Opened`."""

    DEFAULT_CSS = """
    ComparePane {
        scrollbar-size-vertical: 1;
        & > #pair-heading { padding: 0 1; height: auto; }
        & > #pair-blocks { height: auto; }
        #pair-plots, #pair-lists { height: auto; }
        PairHistogramView { margin: 0 1; }
        RowList { border-top: solid $border; max-height: 12; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._heading = ""

    def compose(self) -> ComposeResult:
        yield Static(id="pair-heading", markup=False)
        with Container(id="pair-blocks"):
            with Container(id="pair-plots"):
                yield PairHistogramView(id="pair-steps")
                yield PairHistogramView(id="pair-durations")
            with Vertical(id="pair-lists"):
                yield RowList(id="pair-kernels")

    def show(
        self,
        heading: str,
        steps: PairDistribution | None = None,
        durations: PairDistribution | None = None,
        kernels: Sequence[Row] = (),
        kernel_heading: str = "",
    ) -> None:
        """Show a row's details."""
        if heading != self._heading:
            self._heading = heading
            self.query_one("#pair-heading", Static).update(clean_lines(heading))
        for name, distribution in (("pair-steps", steps), ("pair-durations", durations)):
            view = self.query_one(f"#{name}", PairHistogramView)
            view.display = distribution is not None
            view.show(distribution)
        rows = self.query_one(RowList)
        rows.display = bool(kernels)
        if kernels:
            rows.border_title = "GPU work below, in both"
            rows.set_rows(kernels, kernel_heading)
        self.scroll_home(animate=False)
