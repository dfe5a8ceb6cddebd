"""How long a flame graph of a large tree takes: to lay out (in a worker) and to draw (on the UI
thread), at several sizes of the terminal. Drawing is working out the frames and painting every
line; sending it to a terminal is not in it."""

import asyncio
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from textual.app import App, ComposeResult

from dctx.ingest.model import Layer
from dctx.queries.metric import Metric
from dctx.queries.paths import CostTree, cost_columns
from dctx.queries.pathview import Frames, PathTable
from dctx.tui.screens.paths_flame import PathFlame
from dctx.tui.widgets.flame_graph import FlameGraph

from .results import Figure

NODES = 200_000
DRAW_MS = 50.0
_NAMES = 2_000
_SIZES = ((80, 24), (200, 60), (250, 70))
_SEED = 7


def run(repeats: int) -> list[Figure]:
    """Figures of a tree of 200,000 contexts, most of them a few tens of levels deep."""
    view = _tree(NODES).top_down()
    view.filter("frame 1")
    label = f"Flame graph, {NODES:,} contexts"
    laid = _median_ms(lambda: PathFlame(view), max(repeats, 5))
    figures = [Figure(f"{label}: layout, in a worker", laid, "ms")]
    source = PathFlame(view)
    for size in _SIZES:
        drawn = asyncio.run(_drawn(source, size, max(repeats, 5)))
        for what, spent in drawn.items():
            name = f"{label}: {what} at {size[0]}x{size[1]}"
            figures.append(Figure(name, spent, "ms", at_most=DRAW_MS))
    return figures


def _tree(nodes: int) -> CostTree:
    """Random, in pre-order, the same each time: a node goes one level down or some levels up."""
    random = np.random.default_rng(_SEED)
    parent = np.empty(nodes, np.int32)
    depth = np.zeros(nodes, np.int16)
    way: list[int] = []
    up = random.geometric(0.5, nodes) - 1
    for node in range(nodes):
        del way[max(1, len(way) - int(up[node]) - int(len(way) > 40)) :]
        parent[node] = way[-1] if way else -1
        depth[node] = len(way)
        way.append(node)
    own = {Metric.GPU: random.pareto(1.2, nodes).astype(np.int64) * 1_000 + 1}
    frames = Frames(
        layers=[Layer.PYTHON] * _NAMES,
        names=[f"frame {number} of the model" for number in range(_NAMES)],
        files=["/src/model.py"] * _NAMES,
        lines=list(range(_NAMES)),
    )
    frame = random.integers(0, _NAMES, nodes, np.int32)
    ids = np.arange(nodes, dtype=np.int32)
    return CostTree(PathTable(parent, depth, frame, ids, cost_columns(parent, own), frames), own)


class _Shown(App[None]):
    def __init__(self, source: PathFlame) -> None:
        super().__init__()
        self._source = source

    def compose(self) -> ComposeResult:
        yield FlameGraph(self._source)


async def _drawn(source: PathFlame, size: tuple[int, int], repeats: int) -> dict[str, float]:
    """Median ms of drawing all, one frame zoomed, and after a move of the cursor."""
    async with _Shown(source).run_test(size=size) as pilot:
        graph = pilot.app.query_one(FlameGraph)

        def paint() -> None:
            for y in range(size[1]):
                graph.render_line(y)

        def all_of_it() -> None:
            graph.set_source(source)
            paint()

        def zoomed() -> None:
            graph.action_zoom_in()
            paint()
            graph.action_zoom_reset()

        return {
            "draw": _median_ms(all_of_it, repeats),
            "zoom and draw": _median_ms(zoomed, repeats),
        }


def _median_ms(work: Callable[[], object], repeats: int) -> float:
    """CPU time: the machine may be busy with other things."""
    spent: list[float] = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append((time.process_time() - start) * 1e3)
    return median(spent)
