"""View 2: which calling context costs it."""

from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.binding import BindingType

from ...queries.kernels import KIND_OF_LAYER
from ...queries.layers import Hidden, layer_counts
from ...queries.metric import PRIMARY, Metric
from ...queries.node_detail import NodeDetail, node_detail
from ..export import Table
from ..keys import bindings
from ..looking import Target
from ..widgets.detail_pane import DetailPane
from ..widgets.row_list import RowList
from ..widgets.tree_table import TreeTable
from .details import of_node
from .layers import LayersScreen
from .paths_code import PathsCode

CYCLE = PRIMARY


class PathsScreen(PathsCode):
    """The call-path tree with the detail of the row under the cursor."""

    VIEW = "paths"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("paths")]

    # -------------------------------------------------------------- detail --

    @on(TreeTable.Highlighted)
    def _highlighted(self) -> None:
        self.ask_detail_soon()

    def ask_detail(self) -> None:
        if self.source_shown:
            self.ask_source()
            return
        session, tree, source = self.session, self._tree, self._source
        if session is None or tree is None or source is None or not self.detail_shown:
            return
        node = self.node
        if node < 0:
            self.query_one(DetailPane).say("")  # the tree says why
            return
        context = source.view.source(node)
        device = tree.device
        self.ask(
            "detail",
            lambda: node_detail(session.trace, session.tree(device), context),
            self._show_detail,
        )

    def _show_detail(self, detail: NodeDetail) -> None:
        shown = of_node(detail)
        if self.app.scope is not None:
            shown = replace(shown, heading=f"Details of the whole trace:\n{shown.heading}")
        if self._source is not None and self._source.view.turned:
            heading = f"The heaviest of the paths in this row:\n{shown.heading}"
            shown = replace(shown, heading=heading)
        elif self._source is not None:
            row = self.row
            if row is not None and row.members > 1:
                heading = f"The heaviest of {row.members:,} paths that this row stands for:\n"
                shown = replace(shown, heading=heading + shown.heading)
        self.show_detail(shown)

    # ------------------------------------------------------ rows and panels --

    @on(TreeTable.Opened)
    def _opened(self, message: TreeTable.Opened) -> None:
        """A GPU operation leads to its kernel; any other row is folded or unfolded."""
        source = self._source
        row = None if source is None else source.row_at(message.row)
        if row is None:
            return
        kind = KIND_OF_LAYER.get(row.layer)
        if kind is not None:
            self.app.lead("kernels", Target(op=(kind, row.name)))
        else:
            self.table.action_toggle_fold()

    @on(TreeTable.Reordered)
    @on(TreeTable.Recounted)
    def _rows_changed(self) -> None:
        self._say()

    @on(RowList.Opened)
    def _lead_on(self, message: RowList.Opened) -> None:
        target = message.row.target
        if isinstance(target, Target):
            self.app.lead("kernels" if target.op is not None else "paths", target)

    # --------------------------------------------------------------- shown --

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that have no choice to offer in this trace are left out."""
        if action == "next_device":
            return len(self._devices) > 1
        if action == "next_metric":
            return len(self._metrics()) > 1
        return super().check_action(action, parameters)

    def _metrics(self) -> list[Metric]:
        available = frozenset[Metric]() if self._source is None else self._source.view.available
        return [metric for metric in CYCLE if metric in available]

    def action_hot_path(self) -> None:
        source = self._source
        if source is None:
            return
        node = source.view.hot_path(self.node if self.node >= 0 else None)
        if node >= 0:
            self.select(node)
            self._say()

    def action_next_metric(self) -> None:
        """Order and shares by the next of GPU time, host time and samples."""
        source = self._source
        if source is None:
            return
        choices = self._metrics()
        now = source.view.share_metric
        at = choices.index(now) if now in choices else -1
        metric = choices[(at + 1) % len(choices)]
        if source.view.turned and self._shown is not None:
            self._turn_over(source, self._shown, metric)
        else:
            source.sort_by(metric.value, True)
            node = self.table.cursor_node
            if node >= 0 and not source.view.table.values[metric][node]:
                self.table.select(source.view.node_at(0))  # nothing of the metric down there
            else:
                self.table.reload()
            self._say()
            self.view_changed()

    def action_next_device(self) -> None:
        tree = self._tree
        if tree is None:
            return
        choices: list[int | None] = [None, *(device.device for device in self._devices)]
        self._load_tree(choices[(choices.index(tree.device) + 1) % len(choices)])

    def rank_set(self) -> None:
        device = None if self._tree is None else self._tree.device
        rank = self.app.rank
        if rank is not None and device not in rank.devices:
            device = None
        self._load_tree(device)

    def action_layers(self) -> None:
        tree = self._tree
        if tree is not None:
            counts = layer_counts(tree)
            self.app.push_screen(LayersScreen(counts, self.app.hidden_layers, self._layers_chosen))

    def _layers_chosen(self, hidden: Hidden) -> None:
        self.app.hidden_layers = hidden
        self._load_tree(None if self._tree is None else self._tree.device)

    # ---------------------------------------------------------- take along --

    def action_copy(self) -> None:
        tree, source = self._tree, self._source
        if tree is not None and source is not None and self.node >= 0:
            self.copy(" > ".join(tree.names(source.view.source(self.node))))

    @property
    def exportable(self) -> bool:
        return self._source is not None

    def export_table(self) -> Table:
        assert self._source is not None
        return self._source.table()
