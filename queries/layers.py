"""Layers of the call-path tree: which kinds of calling contexts are shown, which are folded."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from ..ingest.model import Layer
from ..native import PathTree, group_stats
from .metric import PRIMARY, Metric
from .paths import CallTree, CostTree, cost_columns
from .pathview import PathTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .paths import Counts
    from .pathview import Ids


class LayerGroup(Enum):
    """Layers that are switched together. Processes, threads and what is not recorded stay."""

    ANNOTATIONS = "annotations"
    PYTHON = "Python functions"
    MODULES = "modules"
    OPERATORS = "operators"
    NATIVE = "native frames"
    API = "API calls"
    GPU = "kernels and copies"

    @property
    def layers(self) -> tuple[Layer, ...]:
        return _LAYERS[self]


_LAYERS = {
    LayerGroup.ANNOTATIONS: (Layer.ANNOTATION,),
    LayerGroup.PYTHON: (Layer.PYTHON, Layer.SOURCE_LINE),
    LayerGroup.MODULES: (Layer.MODULE,),
    LayerGroup.OPERATORS: (Layer.OP, Layer.HLO, Layer.BACKWARD),
    LayerGroup.NATIVE: (Layer.NATIVE,),
    LayerGroup.API: (Layer.API,),
    LayerGroup.GPU: (Layer.KERNEL, Layer.MEMCPY, Layer.MEMSET, Layer.GRAPH),
}

Hidden = frozenset[LayerGroup]


def layer_counts(tree: CallTree) -> dict[LayerGroup, int]:
    """How many contexts each group has; groups without any are left out."""
    import numpy as np

    by_frame = np.bincount(tree.table.frame, minlength=len(tree.table.frames.layers))
    by_layer: dict[Layer, int] = {}
    for layer, count in zip(tree.table.frames.layers, by_frame.tolist(), strict=True):
        by_layer[layer] = by_layer.get(layer, 0) + count
    counts = {group: sum(by_layer.get(layer, 0) for layer in group.layers) for group in LayerGroup}
    return {group: count for group, count in counts.items() if count}


def folded(
    tree: CallTree, hidden: Hidden, within: Sequence[tuple[int, int]] | None = None
) -> CostTree:
    """The tree without the hidden groups, of the subtrees `within` (first to last node) alone.

    The children of a hidden context attach to its nearest shown ancestor, and its own costs (all
    but its calls) are that one's; contexts of one frame that come to stand below one ancestor
    are one. So every sum stays what it was. Linear, but for the sorting of what is merged.
    """
    import numpy as np

    table = tree.table
    if not len(table) or (not hidden and within is None):
        return tree
    gone = {layer for group in hidden for layer in group.layers}
    shown_frame = np.array([layer not in gone for layer in table.frames.layers], np.int8)
    fate = shown_frame[table.frame]
    if within is not None:
        outside = np.ones(len(table), np.bool_)
        for first, last in within:
            outside[first : last + 1] = False
        fate[outside] = -1
    fate[0] = 0  # the root is the root

    new = PathTree()
    frames = len(table.frames.layers)
    new.frames(np.zeros(frames, np.uint8), np.arange(frames, dtype=np.int32))
    place = new.extend_folded(table.parent, table.frame, fate)
    columns = new.columns()
    size = len(new)

    fate[0] = 1
    shown = (fate == 1) & (place >= 0)
    own: dict[Metric, Counts] = {}
    for metric, costs in tree.own.items():
        stats = group_stats(np.where(shown, place, -1) if metric is Metric.CALLS else place, costs)
        own[metric] = np.zeros(size, np.int64)
        own[metric][stats.group] = stats.sum
    source, members = _representatives(tree, place, shown, size)
    return CostTree(
        PathTable(
            parent=columns["parent"],
            depth=columns["depth"],
            frame=columns["frame"],
            source=source,
            values=cost_columns(columns["parent"], own),
            frames=table.frames,
            place=place,
            members=members,
        ),
        own,
    )


def _representatives(
    tree: CallTree, place: Ids, shown: NDArray[np.bool_], size: int
) -> tuple[Ids, Ids]:
    """The heaviest of the contexts that each row stands for, and how many those are."""
    import numpy as np

    nodes = shown.nonzero()[0]
    metric = next((m for m in PRIMARY if m in tree.table.values), None)
    weight = np.zeros(len(nodes)) if metric is None else tree.table.values[metric][nodes]
    order = np.lexsort((-nodes, weight, place[nodes]))  # the heaviest last, of equals the first
    source = np.zeros(size, np.int32)
    source[place[nodes][order]] = nodes[order]
    return source, np.bincount(place[nodes], minlength=size).astype(np.int32)
