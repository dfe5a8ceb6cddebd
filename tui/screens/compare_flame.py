"""The part of Compare that draws both traces as one flame graph."""

from textual import on
from textual.widget import AwaitMount

from ...analyzers.compare_view import CompareView
from ...analyzers.flame_costs import FlameCosts
from ...reports.compare_cells import ChangeCells, flame_sign
from ..export import Table
from ..key_model import Footer
from ..widgets.flame_graph import FlameGraph
from ..widgets.flame_layout import FlameLayout
from ..widgets.flame_source import Kind
from ..widgets.side_tree import SideTree
from ..widgets.status_line import StatusLine
from .compare_figures import FigureSource
from .compare_rows import CompareRows
from .compare_source import CompareSource, metric_title

KINDS: tuple[Kind, Kind, Kind] = ("", "more", "less")
"""By sign: 0, 1, -1."""


class ChangeFlame:
    """A `FlameSource` of rows of both traces: as wide as the mean of both, coloured by change."""

    def __init__(self, costs: FlameCosts, view: CompareView, *, ascii_only: bool) -> None:
        self._costs = costs
        self._names = view.sides.names
        self._ascii = ascii_only
        self._layout = FlameLayout(costs.parent, costs.size)
        self._needle = ""

    @property
    def layout(self) -> FlameLayout:
        return self._layout

    def search(self, text: str) -> None:
        """Mark the frames whose names contain the text."""
        self._needle = text.casefold()

    def label(self, node: int) -> str:
        return (
            f"{flame_sign(int(self._costs.sign[node]), ascii_only=self._ascii)}{self._names[node]}"
        )

    def kind(self, node: int) -> Kind:
        return KINDS[int(self._costs.sign[node])]

    def matches(self, node: int) -> bool:
        return bool(self._needle) and self._needle in self._names[node].casefold()


class CompareFlame(CompareRows):
    """`f` puts the graph in place of the tree and back; the cursor stays on its row."""

    def __init__(self) -> None:
        super().__init__()
        self._flame: ChangeFlame | None = None

    @property
    def graph(self) -> FlameGraph | None:
        """The graph, while it is shown."""
        found = self.query(FlameGraph)
        return found.first() if found and found.first().display else None

    @property
    def footer(self) -> Footer:
        return "compare" if self.graph is None else "flame"

    @property
    def node(self) -> int:
        """The row with the cursor, of the tree or of the graph; -1 without one."""
        graph, tables = self.graph, self.query(SideTree)
        if graph is not None:
            return graph.cursor
        return tables.first().cursor_node if tables else -1

    def action_flame(self) -> None:
        source = self.source
        if self.leave_flame() or self.pair is None:
            return
        if source is None or not source.is_tree:
            self.notify("The flame graph is of the call paths: P shows them.")
            return
        self._ask_flame(source)

    def _ask_flame(self, source: CompareSource) -> None:
        pair, view = self.pair, source.view
        if pair is not None:
            ascii_only = self.app.ascii_only
            self.ask(
                "flame",
                lambda: ChangeFlame(pair.flame(view), view, ascii_only=ascii_only),
                self._show_flame,
                rows=True,
            )

    def _show_flame(self, flame: ChangeFlame) -> None:
        flame.search(self._filter_text)
        self._flame = flame
        node = self.table.cursor_node
        found = self.query(FlameGraph)
        if found:
            graph = found.first()
            graph.set_source(flame)
            if not graph.display:
                self._turn(graph, node)
            self._say_rows()
        else:
            graph = FlameGraph(flame, id="pair-flame")
            self.call_next(
                self._begin_flame, self.query_one("#compare-main").mount(graph, before=0), node
            )

    async def _begin_flame(self, mounted: AwaitMount, node: int) -> None:
        await mounted
        self._turn(self.query_one(FlameGraph), node)

    def _turn(self, graph: FlameGraph, node: int) -> None:
        """Graph instead of tree."""
        graph.empty_text = "Nothing was measured by this metric. m goes on to the next."
        graph.display = True
        self.table.display = False
        graph.select(node)
        self.set_focus(graph)
        self._say_rows()
        self.refresh_bindings()

    def leave_flame(self) -> bool:
        """Zoomed out and back to the tree; False when it is the tree that is shown."""
        graph = self.graph
        if graph is None:
            return False
        node = graph.cursor
        graph.display = False
        self.table.display = True
        source = self.source
        if source is not None and node >= 0:
            source.view.reveal(node)
            self.table.select(node)
        self.set_focus(self.table)
        self._say_rows()
        self.refresh_bindings()
        return True

    @on(FlameGraph.Highlighted)
    def _frame_highlighted(self) -> None:
        self._say_rows()
        self.ask_detail_soon()

    def focus_rows(self) -> None:
        (self.graph or self.table).focus()

    def filter_changed(self, text: str) -> None:
        if self._flame is not None:
            self._flame.search(text)
        if self.graph is not None:
            self.graph.refresh()

    def rows_changed(self) -> None:
        """Metric or sides changed: the graph has other widths and signs."""
        if self.graph is not None and self.source is not None:
            self._ask_flame(self.source)

    def go_to(self, node: int) -> None:
        super().go_to(node)
        if self.graph is not None:
            self.graph.select(node)
            self._say_rows()

    def action_part(self, part: str) -> None:
        self.leave_flame()
        super().action_part(part)

    def _say_rows(self) -> None:
        super()._say_rows()
        graph, source = self.graph, self.source
        if graph is None or source is None or graph.cursor < 0:
            return
        row = source.view.row_at_node(graph.cursor)
        cells = ChangeCells(source.view.sides, source.view.metric)
        line = self.query_one("#compare-status", StatusLine)
        line.left = (
            f"{metric_title(source.view.metric)} · width: mean of both · "
            f"{cells.sentence(row)} {row.name}"
        )
        line.right = ""

    def export_rows(self) -> Table:
        """The rows as raw values. Called in a worker."""
        source = self.table.source
        if not isinstance(source, CompareSource | FigureSource):
            raise TypeError(type(source).__name__)
        return source.table()
