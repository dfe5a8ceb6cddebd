"""The part of Call paths that draws the tree as a flame graph."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from textual import on
from textual.widget import AwaitMount

from ...analyzers.flame_tree import FlameTree, flame_tree
from ...queries.pathview import PathRow, PathView
from ...reports import format as fmt
from ...reports.flame import flame_title, source_place, value_text, write_folded, write_speedscope
from ...reports.flame_svg import write_svg
from ..key_model import Footer
from ..looking import Target
from ..widgets.flame_graph import FlameGraph
from ..widgets.flame_layout import FlameLayout
from ..widgets.flame_source import Kind
from ..widgets.status_line import StatusLine
from .paths_filter import PathsFilter

if TYPE_CHECKING:
    from ..export import Writer

EMPTY = "Nothing was measured by this metric. m goes on to the next."


class PathFlame:
    """A `FlameSource` of the rows of a `PathView`, by its metric."""

    def __init__(self, view: PathView) -> None:
        self.view = view
        self.tree: FlameTree = flame_tree(view)
        self._layout = FlameLayout(self.tree.parent, self.tree.size.astype(np.float64))
        self._own = self.tree.own()
        self.search(view.filter_text)

    @property
    def layout(self) -> FlameLayout:
        return self._layout

    def search(self, text: str) -> None:
        """Mark the frames whose names contain the text."""
        tree = self.tree
        by_frame = np.array(tree.frames.matching(text) if text else [], np.bool_)
        found = by_frame[tree.frame] if text else np.zeros(len(tree.frame), np.bool_)
        self._match = found & (tree.size > 0)
        self.matched = tree.matched(self._match)
        """What the frames that match cost together."""

    def own(self, node: int) -> int:
        return int(self._own[node])

    def next_match(self, node: int, *, forward: bool) -> int:
        """The next frame that matches, from the widest to the narrowest and round; -1: none."""
        found = self._match.nonzero()[0]
        if not len(found):
            return -1
        order = found[np.lexsort((found, -self.tree.size[found]))].tolist()
        at = order.index(node) if node in order else -1 if forward else 0
        return int(order[(at + (1 if forward else -1)) % len(order)])

    # -------------------------------------------------------- FlameSource --

    def label(self, node: int) -> str:
        return self.tree.frames.names[int(self.tree.frame[node])]

    def kind(self, node: int) -> Kind:
        return ""

    def matches(self, node: int) -> bool:
        return bool(self._match[node])


class PathsFlame(PathsFilter):
    """`f` puts the graph in place of the tree and back; the cursor stays on its context."""

    def __init__(self) -> None:
        super().__init__()
        self._flame: PathFlame | None = None

    @property
    def graph(self) -> FlameGraph | None:
        """The graph, while it is shown."""
        found = self.query(FlameGraph)
        return found.first() if found and found.first().display else None

    @property
    def footer(self) -> Footer:
        return "paths" if self.graph is None else "paths-flame"

    @property
    def node(self) -> int:
        graph = self.graph
        return super().node if graph is None else graph.cursor

    @property
    def row(self) -> PathRow | None:
        """The row under the cursor, of the tree or of the graph."""
        source, node = self._source, self.node
        return None if source is None or node < 0 else source.view.row_at_node(node)

    def select(self, node: int) -> None:
        """Put the cursor on a node of the view."""
        (self.graph or self.table).select(node)

    def focus_rows(self) -> None:
        (self.graph or self.table).focus()

    # ---------------------------------------------------------------- graph --

    def action_flame(self) -> None:
        if not self.leave_flame():
            self._ask_flame()

    def view_changed(self) -> None:
        if self.graph is not None:
            self._ask_flame()

    def _ask_flame(self) -> None:
        source = self._source
        if source is not None:
            view = source.view
            self.ask("flame", lambda: PathFlame(view), self._show_flame, rows=True)

    def _show_flame(self, flame: PathFlame) -> None:
        found = self.query(FlameGraph)
        old, self._flame = self._flame, flame
        if not found:
            graph = FlameGraph(flame, id="paths-flame")
            self.call_next(self._begin_flame, self.query_one("#main").mount(graph, before=0))
            return
        graph = found.first()
        same = old is not None and old.view is flame.view
        if not same:
            graph.action_zoom_reset()  # another tree: its nodes are others
        shown = graph.display
        graph.set_source(flame)
        if not shown:
            self._turn(graph)
        elif not same:
            graph.select(self.table.cursor_node)
        self._say()

    async def _begin_flame(self, mounted: AwaitMount) -> None:
        await mounted
        self._turn(self.query_one(FlameGraph))

    def _turn(self, graph: FlameGraph) -> None:
        """Graph instead of tree."""
        graph.empty_text = EMPTY
        graph.display = True
        node = self.table.cursor_node
        self.table.display = False
        if node >= 0 and graph.source.layout.size(node):
            graph.select(node)
        self.set_focus(graph)
        self._say()
        self.refresh_bindings()

    def leave_flame(self) -> bool:
        """Back to the tree; False when it is the tree that is shown."""
        graph, source = self.graph, self._source
        if graph is None:
            return False
        node = graph.cursor
        graph.display = False
        self.table.display = True
        if source is not None and node >= 0:
            if source.view.reveal(node) < 0 and source.view.filter_text:
                self._clear_filter()
                source.view.reveal(node)
            self.table.select(node)
        self.set_focus(self.table)
        self._say()
        self.refresh_bindings()
        return True

    @on(FlameGraph.Highlighted)
    def _frame_highlighted(self) -> None:
        self._say()
        self.ask_detail_soon()

    def lead_to(self, target: Target) -> None:
        if self._source is not None:
            self.leave_flame()
        super().lead_to(target)

    def cancel(self) -> bool:
        graph = self.graph
        if graph is None or self._matches is not None or self.has_class("-filtering"):
            return super().cancel()
        return graph.zoom_out() or self.leave_flame()

    # --------------------------------------------------------------- search --

    def filter_changed(self) -> None:
        flame, graph, source = self._flame, self.graph, self._source
        if flame is None or source is None or flame.view is not source.view:
            return
        flame.search(source.view.filter_text)
        if graph is not None:
            graph.refresh()
            widest = flame.next_match(-1, forward=True)
            if widest >= 0:
                graph.select(widest)

    def _go_to_match(self, *, forward: bool) -> None:
        flame, graph = self._flame, self.graph
        if flame is None or graph is None or not flame.view.filter_text:
            super()._go_to_match(forward=forward)
            return
        node = flame.next_match(graph.cursor, forward=forward)
        if node < 0:
            text = flame.view.filter_text
            self.notify(f"No frame with a width matches “{text}”.", markup=False)
        else:
            graph.select(node)

    # ----------------------------------------------------------------- said --

    def _say(self) -> None:
        super()._say()
        flame, graph = self._flame, self.graph
        row = self.row
        if flame is None or graph is None or row is None or graph.cursor < 0:
            return
        tree, node = flame.tree, graph.cursor
        if node >= len(tree.size):
            return  # of the tree before
        place = source_place(row.file, row.line)
        parts = [
            f"{fmt.share(row.share).strip()} {value_text(tree.metric, int(tree.size[node]))}",
            *([f"own {value_text(tree.metric, flame.own(node))}"] if flame.own(node) else []),
            row.name + (f" ({place})" if place else ""),
        ]
        if flame.view.filter_text and tree.total:
            matched = fmt.share(flame.matched / tree.total).strip()
            parts.insert(0, f"“{flame.view.filter_text}” {matched}")
        line = self.query_one(StatusLine)
        line.left = " · ".join(parts)
        line.right = flame_title(tree)

    # --------------------------------------------------------------- export --

    @property
    def export_name(self) -> str:
        return super().export_name if self.graph is None else "flame"

    @property
    def export_hint(self) -> str:
        if self.graph is None:
            return super().export_hint
        return "The ending chooses: .svg flame graph, .json for speedscope, .folded stacks."

    def writers(self, picture: str) -> "Mapping[str, Writer]":
        flame = self._flame
        if self.graph is None or flame is None or self.session is None:
            return super().writers(picture)
        tree, name = flame.tree, self.session.path.name

        def write(ending: str, place: Path) -> None:
            with place.open("w", encoding="utf-8") as out:
                if ending == ".svg":
                    write_svg(tree, name, out)
                elif ending == ".json":
                    write_speedscope(tree, name, out)
                else:
                    write_folded(tree, out)

        return {ending: partial(write, ending) for ending in (".svg", ".json", ".folded")}
