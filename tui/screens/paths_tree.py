"""The part of Call paths that has the tree: which one, how it is shown, and what is said of it."""

from collections.abc import Iterable

from textual.containers import Container
from textual.timer import Timer
from textual.widget import AwaitMount, Widget

from ...queries.capture import Device, devices
from ...queries.layers import folded, layer_counts
from ...queries.metric import Metric
from ...queries.operators import usual_arguments
from ...queries.paths import CallTree, CostTree
from ...queries.pathview import PathView
from ...reports.arguments import tensor_note
from ...reports.flame import TITLES
from ..looking import Target
from ..session import Session
from ..widgets.detail_pane import DetailPane
from ..widgets.filter_input import FilterInput
from ..widgets.status_line import StatusLine
from ..widgets.tree_table import TreeTable
from .detail_view import DetailView
from .paths_source import PathSource, first_unfolded
from .view import nothing_matches


class PathsTree(DetailView):
    """Loads the tree of what is looked at, and keeps cursor and settings when another one comes."""

    def __init__(self) -> None:
        super().__init__()
        self._tree: CallTree | None = None
        self._notes: dict[int, str] = {}
        self._shown: CostTree | None = None
        """The tree without the layers that are folded away, of the rank that is looked at."""
        self._source: PathSource | None = None
        self._devices: list[Device] = []
        self._regrown = False
        """The trace was read anew: its nodes have other numbers."""
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

    def reopened(self, session: Session) -> None:
        self._regrown = True
        self._load_tree(None if self._tree is None else self._tree.device)

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
        self.ask("tree", load, self._show_tree, rows=True)

    def _show_tree(self, answer: tuple[CallTree, CostTree, list[Device]]) -> None:
        old, before = self._source, self._tree
        self._tree, tree, self._devices = answer
        self._shown = tree
        source = self._source = first_unfolded(tree)
        source.notes = self._notes
        if old is None:
            table = TreeTable(source, id="tree")
            self.call_next(self._begin, self.query_one("#main").mount(table, before=0))
        else:
            self._adopt(old, source, before)
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

    def _adopt(self, old: PathSource, new: PathSource, before: CallTree | None = None) -> None:
        """Show another view of the tree with the settings and the cursor of the present one.

        `before`: the tree of the present one, when the trace may have grown since."""
        table = self.table
        at = old.view.source(self.node) if self.node >= 0 else -1
        if at >= 0 and self._regrown and before is not None and self._tree is not None:
            at = self._tree.node_like(before, at)
        self._regrown = False
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
        self.view_changed()

    @property
    def table(self) -> TreeTable:
        return self.query_one("#tree", TreeTable)

    @property
    def node(self) -> int:
        """The view's node under the cursor, -1 without one."""
        return self.table.cursor_node

    def focus_rows(self) -> None:
        self.table.focus()

    def view_changed(self) -> None:
        """Another tree is shown, or by another metric or limit."""

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

        self.ask("turn", lambda: tree.bottom_up(metric), adopt, rows=True)

    def _left_out(self) -> list[str]:
        """The layers of the trace that are folded away."""
        counts = {} if self._tree is None else layer_counts(self._tree)
        return [group.value for group in counts if group in self.app.hidden_layers]
