"""View 8: what changed between two versions, and is it real?"""

from typing import ClassVar

from textual import on
from textual.binding import BindingType

from ...analyzers.compare_rows import CompareRow
from ...queries.kernels import KIND_OF_LAYER
from ...reports.compare_detail import KERNEL_HEADING, DetailText, PairPlot, detail_text
from ..editor import open_in_editor
from ..export import Table
from ..keys import bindings
from ..looking import Target
from ..widgets.compare_pane import ComparePane
from ..widgets.fit import clean
from ..widgets.pair_histogram import PairDistribution
from ..widgets.row_list import Row, RowList
from ..widgets.side_tree import SideTree
from ..widgets.tree_table import TreeTable
from .compare_figures import FigureSource
from .compare_flame import CompareFlame
from .compare_source import metric_title


class CompareScreen(CompareFlame):
    """Two trees side by side, tables, and the detail of the row under the cursor."""

    VIEW = "compare"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("compare")]

    # -------------------------------------------------------------- detail --

    @on(TreeTable.Highlighted)
    def _highlighted(self) -> None:
        self.ask_detail_soon()

    def ask_detail(self) -> None:
        pair, source, node = self.pair, self.source, self.node
        if pair is None or not self.detail_shown:
            return
        if source is None or node < 0:
            self.query_one(ComparePane).show("")
            return
        sides, metric, swapped = source.view.sides, source.view.metric, self._swapped

        def find() -> DetailText:
            detail = pair.detail(sides, node, metric)
            return detail_text(detail, metric, metric_title(metric), swapped=swapped)

        self.ask("detail", find, self._show_pair)

    def _show_pair(self, text: DetailText) -> None:
        self.query_one(ComparePane).show(
            text.heading,
            _distribution(text.steps),
            _distribution(text.durations),
            [Row(name, figures) for figures, name in text.kernels],
            KERNEL_HEADING,
        )

    # ---------------------------------------------------------------- rows --

    @on(TreeTable.Recounted)
    @on(TreeTable.Reordered)
    def _rows_counted(self) -> None:
        self._say_rows()

    @property
    def row(self) -> CompareRow | None:
        """The row under the cursor."""
        source = self.source
        return None if source is None or self.node < 0 else source.view.row_at_node(self.node)

    @on(TreeTable.Opened)
    def _opened(self, message: TreeTable.Opened) -> None:
        """A row leads into the target: GPU work to Kernels, the rest to Call paths."""
        row, source = self.row, self.source
        if source is None or row is None:
            self.table.action_toggle_fold()
            return
        kind = KIND_OF_LAYER.get(row.layer)
        context = int(source.view.sides.target_node[row.node])
        if context < 0:
            base = self.app.base
            where = "" if base is None else f" ({base.title})"
            self.notify(f"Only in the base{where}; the other views show the target.", markup=False)
        elif kind is not None:
            self.app.lead("kernels", Target(op=(kind, source.view.sides.names[row.node])))
        else:
            self.app.lead("paths", Target(node=context))

    @on(RowList.Edge)
    def _edge(self) -> None:
        """The list of kernels ends here."""

    # --------------------------------------------------------------- shown --

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that have no choice to offer here are left out."""
        if action == "next_rank":
            return False  # all ranks are compared together
        if action == "next_metric":
            return len(self._metrics()) > 1
        return super().check_action(action, parameters)

    def cancel(self) -> bool:
        if self._matches is not None or self.has_class("-filtering"):
            self._clear_filter()
            return True
        graph = self.graph
        if graph is not None and graph.zoom_out():
            return True
        return self.leave_flame() or self.close_detail()

    # ---------------------------------------------------------- take along --

    def action_copy(self) -> None:
        source, shown = self.source, self.query(SideTree)
        if source is not None and self.node >= 0:
            sides, node = source.view.sides, self.node
            names: list[str] = []
            while node >= 0:
                names.append(sides.names[node])
                node = int(sides.parent[node])
            self.copy(" > ".join(reversed(names)))
        elif shown and isinstance(shown.first().source, FigureSource) and shown.first().cursor_line:
            line = shown.first().cursor_line
            assert line is not None
            self.copy(f"{line.label}: {' '.join(filter(None, line.cells))}")

    def action_open_source(self) -> None:
        """The source line of the target, of a row that only the base has that one's; of a row
        without one that of its nearest caller."""
        source, node = self.source, self.node
        if source is None or node < 0:
            return
        place: tuple[str | None, int | None] = None, None
        while node >= 0 and place[0] is None:
            row = source.view.row_at_node(node)
            if row.file is not None and ".so" not in row.file:
                place = row.file, row.line
            node = int(source.view.sides.parent[node])
        problem = open_in_editor(self.app, *place, self.app.sources)
        if problem:
            self.notify(clean(problem), markup=False)

    @property
    def exportable(self) -> bool:
        return bool(self.query(SideTree))

    def export_table(self) -> Table:
        return self.export_rows()


def _distribution(plot: PairPlot | None) -> PairDistribution | None:
    if plot is None:
        return None
    return PairDistribution(
        title=plot.title,
        base=plot.counts[0],
        target=plot.counts[1],
        first_edge=plot.edges[0],
        last_edge=plot.edges[1],
        base_name="base",
        target_name="target",
        base_figures=plot.figures[0],
        target_figures=plot.figures[1],
    )
