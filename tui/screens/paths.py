"""View 2: which calling context costs it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Container
from textual.timer import Timer
from textual.widget import AwaitMount, Widget
from textual.widgets import Input

from ...queries.capture import Device, devices
from ...queries.layers import Hidden, folded, layer_counts
from ...queries.metric import Metric
from ...queries.node_detail import NodeDetail, node_detail
from ...queries.operators import usual_arguments
from ...queries.paths import CallTree, CostTree
from ...queries.pathview import PathView
from ...reports.arguments import tensor_note
from ..app import Target
from ..editor import open_in_editor
from ..export import Table
from ..keys import bindings
from ..session import Session
from ..widgets.detail_pane import DetailPane
from ..widgets.filter_input import FilterInput
from ..widgets.fit import clean
from ..widgets.row_list import RowList
from ..widgets.status_line import StatusLine
from ..widgets.tree_table import TreeTable
from .detail_view import DetailView
from .details import of_node
from .layers import LayersScreen
from .paths_source import GPU_LAYERS, TITLES, PathSource, first_unfolded
from .prompt import PromptScreen
from .view import FILTER_DELAY_S, nothing_matches

CYCLE = (Metric.GPU, Metric.HOST, Metric.SAMPLES)


class PathsScreen(DetailView):
    """The call-path tree with the detail of the row under the cursor."""

    VIEW = "paths"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("paths")]

    def __init__(self) -> None:
        super().__init__()
        self._tree: CallTree | None = None
        self._notes: dict[int, str] = {}
        self._shown: CostTree | None = None
        """The tree without the layers that are folded away, of the rank that is looked at."""
        self._source: PathSource | None = None
        self._devices: list[Device] = []
        self._matches: int | None = None
        self._hidden = 0
        self._wanted: Target | None = None
        self._filter_timer: Timer | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield StatusLine()
        yield Container(DetailPane(id="detail"), id="main")
        yield FilterInput("part of a name")

    # ---------------------------------------------------------------- tree --

    def opened(self, session: Session) -> None:
        self.show_body()
        self._load_tree(None)

    def events_loaded(self, session: Session) -> None:
        self.ask_detail()

        def notes() -> dict[int, str]:
            return {one.node: tensor_note(one) for one in usual_arguments(session.trace)}

        self.ask("notes", notes, self._note)

    def _note(self, notes: dict[int, str]) -> None:
        """Say the shapes of operators in their rows."""
        self._notes = notes
        if self._source is not None and notes:
            self._source.notes = notes
            for table in self.query(TreeTable):
                table.reload()

    def scope_set(self) -> None:
        self._load_tree(None if self._tree is None else self._tree.device)

    def _load_tree(self, device: int | None) -> None:
        session = self.session
        if session is None:
            return

        hidden, rank, scope = self.app.hidden_layers, self.app.rank, self.app.scope
        within = None if rank is None else [rank.nodes]

        def load() -> tuple[CallTree, CostTree, list[Device]]:
            tree = session.tree(device, scope)
            found = [d for d in devices(session.trace) if rank is None or d.device in rank.devices]
            return tree, folded(tree, hidden, within), found

        self.query_one(StatusLine).left = "reading the call paths …"
        self.ask("tree", load, self._show_tree)

    def _show_tree(self, answer: tuple[CallTree, CostTree, list[Device]]) -> None:
        self._tree, tree, self._devices = answer
        old = self._source
        self._shown = tree
        source = self._source = first_unfolded(tree)
        source.notes = self._notes
        if old is None:
            table = TreeTable(source, id="tree")
            self.call_next(self._begin, self.query_one("#main").mount(table, before=0))
        else:
            self._adopt(old, source)
            if old.view.turned:
                self._turn_over(source, tree, old.view.share_metric)
        self.refresh_bindings()
        self._say()
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self.lead_to(wanted)

    async def _begin(self, mounted: AwaitMount) -> None:
        await mounted
        self.set_focus(self.table)
        self.rows_ready()

    def _adopt(self, old: PathSource, new: PathSource) -> None:
        """Show another view of the tree with the settings and the cursor of the present one."""
        table = self.table
        at = old.view.source(table.cursor_node) if table.cursor_node >= 0 else -1
        if old.view.metric in new.view.available:
            new.view.sort(old.view.metric, old.view.descending)
        self._hidden = new.view.set_limit(old.view.limit) if old.view.limit else 0
        text = old.view.filter_text
        self._matches = new.view.filter(text) if text else None
        self._source = new
        new.notes = self._notes
        node = new.view.find(at) if at >= 0 else -1
        if new.view.turned and node >= 0 and new.view.parent(node) >= 0:
            node = -1  # only a caller down there: begin at the heaviest
        if node >= 0:
            new.view.reveal(node)
        table.set_source(new, node)
        self._say()
        self.ask_detail()

    @property
    def table(self) -> TreeTable:
        return self.query_one("#tree", TreeTable)

    def lead_to(self, target: Target) -> None:
        if self._source is None:
            self._wanted = target
            return
        if target.node is None:
            return
        view = self._source.view
        if view.turned:
            self.action_bottom_up()
            view = self._source.view
        node = view.find(target.node)
        if node < 0:  # of another rank
            self._wanted = target
            self.app.look_at(None)
            return
        if view.reveal(node) < 0:  # the filter or the limit hides it
            self._clear_filter()
            self._set_limit(0.0)
            view.reveal(node)
        self.table.select(node)
        self.table.focus()

    def _say(self) -> None:
        if self._source is None:
            return
        view = self._source.view
        device = None if self._tree is None else self._tree.device
        parts = [
            TITLES[view.share_metric] + (", by own cost" if view.turned else ", inclusive"),
            "bottom-up" if view.turned else "top-down",
        ]
        if len(self._devices) > 1:
            names = {d.device: d.label for d in self._devices}
            parts.append("all GPUs" if device is None else names.get(device, f"device {device}"))
        if self._left_out():
            parts.append(f"without {', '.join(self._left_out())}")
        if self.app.scope is not None:
            parts.append(f"only {self.app.scope.label}")
        if view.limit:
            parts.append(f"without {self._hidden:,} paths under {view.limit * 100:g} %")
        if self._matches is not None:
            parts.append(f"{self._matches:,} match “{view.filter_text}”")
        for table in self.query(TreeTable):
            table.empty_text = nothing_matches(view.filter_text)
        line = self.query_one(StatusLine)
        line.left = " · ".join(parts)
        line.right = f"{view.row_count():,} rows"

    # -------------------------------------------------------------- detail --

    @on(TreeTable.Highlighted)
    def _highlighted(self) -> None:
        self.ask_detail_soon()

    def ask_detail(self) -> None:
        session, tree, source = self.session, self._tree, self._source
        if session is None or tree is None or source is None or not self.detail_shown:
            return
        node = self.table.cursor_node
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
            row = self._source.row_at(self.table.cursor)
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
        kind = GPU_LAYERS.get(row.layer)
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

    # -------------------------------------------------------------- filter --

    def action_filter(self) -> None:
        if self._source is None:
            return
        self.add_class("-filtering")
        self.query_one(FilterInput).focus()

    @on(Input.Changed)
    def _filter_typed(self) -> None:
        if self._filter_timer is not None:
            self._filter_timer.stop()
        self._filter_timer = self.set_timer(FILTER_DELAY_S, self._apply_filter)

    def _apply_filter(self) -> None:
        source = self._source
        if source is None:
            return
        text = self.query_one(FilterInput).value.strip()
        if text == source.view.filter_text:
            return
        found = source.view.filter(text)
        self._matches = found if text else None
        self.table.highlight(text)
        self.table.reload()
        if found:
            # The heaviest first: next and previous go on from there in the order of the screen.
            node = source.heaviest_match()
            if node >= 0:
                source.view.reveal(node)
                self.table.select(node)
        self._say()

    @on(FilterInput.Accepted)
    def _filter_accepted(self) -> None:
        self._apply_filter()
        self._leave_filter()

    @on(FilterInput.Cleared)
    def _filter_cleared(self) -> None:
        self._apply_filter()
        self._leave_filter()

    def _leave_filter(self) -> None:
        text = self.query_one(FilterInput).value.strip()
        self.set_class(bool(text), "-filtering")
        self.table.focus()

    def _clear_filter(self) -> None:
        self.query_one(FilterInput).value = ""
        self._apply_filter()
        self.remove_class("-filtering")

    def action_next_match(self) -> None:
        self._go_to_match(forward=True)

    def action_previous_match(self) -> None:
        self._go_to_match(forward=False)

    def _go_to_match(self, *, forward: bool) -> None:
        source = self._source
        if source is None:
            return
        if self._matches is None:
            self.notify("Type / to filter first.")
            return
        row = source.view.next_match(self.table.cursor, forward)
        if row is None:
            self.notify(f"Nothing matches “{source.view.filter_text}”.", markup=False)
            return
        self.table.select(source.view.node_at(row))

    def cancel(self) -> bool:
        if self._matches is not None or self.has_class("-filtering"):
            self._clear_filter()
            return True
        return self.close_detail()

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
        node = source.view.hot_path(self.table.cursor_node if self.table.cursor_node >= 0 else None)
        if node >= 0:
            self.table.select(node)
            self._say()

    def action_bottom_up(self) -> None:
        source, tree = self._source, self._shown
        if source is None or tree is None:
            return
        if source.view.turned:
            self._adopt(source, first_unfolded(tree))
        else:
            self._turn_over(source, tree, source.view.share_metric)

    def _turn_over(self, source: PathSource, tree: CostTree, metric: Metric) -> None:
        """Show the callers below their callees; large trees take a moment."""

        def adopt(view: PathView) -> None:
            if source is self._source:
                source.view.metric = metric
                self._adopt(source, PathSource(view))

        self.ask("turn", lambda: tree.bottom_up(metric), adopt)

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

    def _left_out(self) -> list[str]:
        """The layers of the trace that are folded away."""
        counts = {} if self._tree is None else layer_counts(self._tree)
        return [group.value for group in counts if group in self.app.hidden_layers]

    def action_limit(self) -> None:
        source = self._source
        if source is not None:
            self.app.push_screen(
                PromptScreen(
                    "Percent limit",
                    f"{source.view.limit * 100:g}",
                    "Hide paths below this share of the whole, in percent. 0 shows all.",
                    _limit_problem,
                ),
                self._limit_chosen,
            )

    def _limit_chosen(self, text: str | None) -> None:
        if text is not None:
            self._set_limit(float(text) / 100)

    def _set_limit(self, limit: float) -> None:
        source = self._source
        if source is None or limit == source.view.limit:
            return
        self._hidden = source.view.set_limit(limit)
        if self._matches is not None:
            self._matches = source.view.match_count()
        self.table.reload()
        self._say()

    # ---------------------------------------------------------- take along --

    def action_copy(self) -> None:
        tree, source = self._tree, self._source
        if tree is not None and source is not None and self.table.cursor_node >= 0:
            self.copy(" > ".join(tree.names(source.view.source(self.table.cursor_node))))

    def action_open_source(self) -> None:
        source = self._source
        row = None if source is None else source.row_at(self.table.cursor)
        if row is not None:
            problem = open_in_editor(self.app, row.file, row.line)
            if problem:
                self.notify(clean(problem), markup=False)

    @property
    def exportable(self) -> bool:
        return self._source is not None

    def export_table(self) -> Table:
        assert self._source is not None
        return self._source.table()


def _limit_problem(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return "Type a number of percent, such as 0.5."
    return "" if 0 <= value < 100 else "Type a number from 0 to below 100."
