"""Which rows of a call-path tree are shown, in what order, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..ingest.model import Layer
from ..native import TreeModel
from .metric import PRIMARY, Metric

if TYPE_CHECKING:  # numpy is imported by the functions that need it: starting up must not wait
    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.int32]
    Values = NDArray[np.int64] | NDArray[np.float64]

State = Literal["open", "closed", "leaf"]

GPU_LAYERS = frozenset({Layer.KERNEL, Layer.MEMCPY, Layer.MEMSET, Layer.GRAPH})
_UNCALLED_LAYERS = frozenset(
    {Layer.ROOT, Layer.PROCESS, Layer.THREAD, Layer.NATIVE, Layer.NOT_RECORDED}
)


@dataclass(frozen=True, slots=True)
class Frames:
    """What calling contexts add to their parents, by frame id."""

    layers: Sequence[Layer]
    names: Sequence[str]
    files: Sequence[str | None]
    lines: Sequence[int | None]

    def matching(self, text: str) -> list[bool]:
        """Which names contain the text, whatever the case."""
        needle = text.casefold()
        return [needle in name.casefold() for name in self.names]


@dataclass(frozen=True, slots=True)
class PathTable:
    """A tree as flat arrays, one entry a row; parents precede children (root: parent -1)."""

    parent: Ids
    depth: NDArray[np.int16]
    frame: Ids
    source: Ids
    """Node of the call-path tree that a row stands for."""
    values: Mapping[Metric, Values]
    """Metrics that were measured; the others are not in the mapping."""
    frames: Frames
    place: Ids | None = None
    """The row that holds each node of the call-path tree, -1: none; None where `source` tells."""
    members: Ids | None = None
    """How many nodes of the call-path tree a row stands for; None: one each."""

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, slots=True)
class PathRow:
    """One shown row. A value is None where it was not measured or has no meaning."""

    node: int
    """Id in the view."""
    source: int
    """Node of the call-path tree: what details are asked by."""
    depth: int
    state: State
    match: bool
    """Matches the filter."""
    layer: Layer
    name: str
    file: str | None
    line: int | None
    share: float | None
    """Of the whole, by the view's share metric."""
    gpu_ns: int | None
    gpu_self_ns: int | None
    mean_ns: float | None
    """GPU time per call."""
    host_ns: int | None
    host_self_ns: int | None
    calls: int | None
    launches: int | None
    kernels: int | None
    samples: int | None
    samples_self: int | None
    gpu_samples: int | None
    bytes: int | None
    members: int = 1
    """How many nodes of the call-path tree it stands for."""


class PathView:
    """A foldable, sortable, filterable view of a PathTable. Rows are what is visible now.

    Fast enough for the UI thread up to some 200,000 nodes; use from one thread at a time.
    """

    def __init__(self, table: PathTable, *, turned: bool = False) -> None:
        self.table = table
        self.turned = turned
        """True for a bottom-up view: roots are frames, children their callers."""
        self.metric = next((m for m in PRIMARY if m in table.values), Metric.GPU)
        self.descending = True
        self.limit = 0.0
        self.filter_text = ""
        self._match: NDArray[np.uint8] | None = None
        self._kept: Ids | None = None
        self._position: Ids | None = None
        self._preorder: Ids | None = None
        self._model = TreeModel(table.parent)
        self._order()
        if not turned and len(table):
            self._model.expand(0)

    # ------------------------------------------------------------- columns --

    @property
    def available(self) -> frozenset[Metric]:
        """The metrics the trace has; the others are n/a throughout."""
        return frozenset(self.table.values)

    @property
    def share_metric(self) -> Metric:
        """What `share`, the percent limit and the hot path go by."""
        metric = self.metric.inclusive
        if metric in self.table.values:
            return metric
        return next((m for m in PRIMARY if m in self.table.values), metric)

    @property
    def total(self) -> int | None:
        """The whole: the sum of the share metric over the roots; None when nothing is measured."""
        values = self.table.values.get(self.share_metric)
        return None if values is None else int(values[self.table.parent < 0].sum())

    # ---------------------------------------------------------------- rows --

    def row_count(self) -> int:
        return self._model.row_count()

    def rows(self, first: int, count: int) -> list[PathRow]:
        """Rows [first, first + count), fewer at the end."""
        model_ids = self._model.rows(first, count)
        if not len(model_ids):
            return []
        return self._dressed(model_ids)

    def row_at_node(self, node: int) -> PathRow:
        """What the row of a node says, in sight or not. IndexError when the limit hides it."""
        import numpy as np

        model_id = self._model_id(node)
        if model_id < 0:
            raise IndexError(node)
        return self._dressed(np.array([model_id], np.int32))[0]

    def _dressed(self, model_ids: Ids) -> list[PathRow]:
        ids = model_ids if self._kept is None else self._kept[model_ids]
        columns = {metric: values[ids].tolist() for metric, values in self.table.values.items()}
        nodes: Iterable[tuple[int, int, int, int, int]] = zip(
            ids.tolist(),
            model_ids.tolist(),
            self.table.source[ids].tolist(),
            self.table.depth[ids].tolist(),
            self.table.frame[ids].tolist(),
            strict=True,
        )
        members = None if self.table.members is None else self.table.members[ids].tolist()
        total, share = self.total, columns.get(self.share_metric)
        frames = self.table.frames
        shown: list[PathRow] = []
        for i, (node, model_id, source, depth, frame) in enumerate(nodes):
            layer = frames.layers[frame]
            get = {metric: column[i] for metric, column in columns.items()}.get
            on_gpu, uncalled = layer in GPU_LAYERS, layer in _UNCALLED_LAYERS
            shown.append(
                PathRow(
                    node=node,
                    source=source,
                    depth=depth,
                    state=self._state(model_id),
                    match=self._match is not None and bool(self._match[node]),
                    layer=layer,
                    name=frames.names[frame],
                    file=frames.files[frame],
                    line=frames.lines[frame],
                    share=share[i] / total if share is not None and total else None,
                    gpu_ns=get(Metric.GPU),
                    gpu_self_ns=get(Metric.GPU_SELF),
                    mean_ns=None if uncalled or not get(Metric.CALLS) else get(Metric.MEAN),
                    host_ns=None if on_gpu else get(Metric.HOST),
                    host_self_ns=None if on_gpu else get(Metric.HOST_SELF),
                    calls=None if uncalled else get(Metric.CALLS),
                    launches=None if on_gpu else get(Metric.LAUNCHES),
                    kernels=get(Metric.KERNELS),
                    samples=None if on_gpu else get(Metric.SAMPLES),
                    samples_self=None if on_gpu else get(Metric.SAMPLES_SELF),
                    gpu_samples=get(Metric.GPU_SAMPLES),
                    bytes=get(Metric.BYTES),
                    members=1 if members is None else members[i],
                )
            )
        return shown

    def node_at(self, row: int) -> int:
        """Id in the view of the row; IndexError when there is none."""
        if not 0 <= row < self._model.row_count():
            raise IndexError(row)
        return self._node(int(self._model.rows(row, 1)[0]))

    def row_of(self, node: int) -> int:
        """Row of a node, -1 when it is not visible."""
        model_id = self._model_id(node)
        return -1 if model_id < 0 else self._model.row_of(model_id)

    def parent(self, node: int) -> int:
        """-1 for a root."""
        return int(self.table.parent[node])

    def source(self, node: int) -> int:
        """Node of the call-path tree that the view's node stands for."""
        return int(self.table.source[node])

    def find(self, source: int) -> int:
        """The view's node that holds a node of the call-path tree, -1 when none does."""
        if self.table.place is not None:
            return int(self.table.place[source])
        found = (self.table.source == source).nonzero()[0]
        return int(found[0]) if len(found) else -1

    # ------------------------------------------------------------- folding --

    def expand(self, node: int) -> None:
        self._fold(node, self._model.expand)

    def collapse(self, node: int) -> None:
        self._fold(node, self._model.collapse)

    def toggle(self, node: int) -> None:
        model_id = self._model_id(node)
        if model_id >= 0:
            opened = self._model.is_expanded(model_id)
            (self._model.collapse if opened else self._model.expand)(model_id)

    def expand_subtree(self, node: int) -> None:
        self._fold(node, self._model.expand_subtree)

    def expand_all(self) -> None:
        self._model.expand_all()

    def collapse_all(self) -> None:
        """The root of a call-path tree stays open."""
        self._model.collapse_all()
        if not self.turned and self._model.row_count():
            self._model.expand(0)

    def reveal(self, node: int) -> int:
        """Open the ancestors; the node's row, -1 when the filter or the limit hides it."""
        model_id = self._model_id(node)
        if model_id < 0:
            return -1
        self._model.reveal(model_id)
        return self._model.row_of(model_id)

    def hot_path(self, node: int | None = None) -> int:
        """Open the way down the heaviest children, each at least half of its parent.

        Starts at the node, or at the heaviest root. Returns the node it ends at, -1 when there is
        nothing to follow.
        """
        values = self.table.values.get(self.share_metric)
        if values is None or not self._model.row_count():
            return -1
        if node is None:
            roots = (self.table.parent < 0).nonzero()[0]
            node = int(roots[values[roots].argmax()])
        model_id = self._model_id(node)
        if model_id < 0:
            return -1
        path = self._model.hot_path(model_id, self._visible(values))
        last = int(path[-1]) if len(path) else model_id
        self._model.reveal(last)
        return self._node(last)

    # ----------------------------------------------------- order and filter --

    def sort(self, metric: Metric, descending: bool = True) -> None:
        """Order siblings by a metric; what is open stays open. ValueError when it is n/a."""
        if metric not in self.table.values:
            raise ValueError(f"{metric.value} is not in this trace")
        limited = self.limit > 0 and metric.inclusive != self.share_metric
        self.metric, self.descending = metric, descending
        if limited:
            self.set_limit(self.limit)
        else:
            self._order()

    def filter(self, text: str) -> int:
        """Show contexts whose name contains the text (any case), their callers and callees.

        The ways to the matches are open while the filter is on. Returns how many match; an empty
        text shows all again, folded as before.
        """
        import numpy as np

        self.filter_text = text
        if text:
            by_frame = np.asarray(self.table.frames.matching(text), dtype=np.uint8)
            self._match = by_frame[self.table.frame]
        else:
            self._match = None
        self._apply_filter()
        return self.match_count()

    def match_count(self) -> int:
        """Nodes that match the filter and are not under the limit."""
        return 0 if self._match is None else int(self._visible_match(self._match).sum())

    def next_match(self, row: int, forward: bool = True) -> int | None:
        """Row of the nearest match after (before) the row, round the end; opens the way to it.

        Rows may move: only the returned one counts. None when nothing matches.
        """
        if self._match is None:
            return None
        order = self._full_order()
        places = self._visible_match(self._match)[order].nonzero()[0]
        if not len(places):
            return None
        here = self._model.rows(max(row, 0), 1)
        at = int((order == here[0]).nonzero()[0][0]) if len(here) else 0
        if forward:
            i = int(places.searchsorted(at, side="right")) % len(places)
        else:
            i = int(places.searchsorted(at, side="left")) - 1
        target = int(order[places[i]])
        self._model.reveal(target)
        return self._model.row_of(target)

    def set_limit(self, share: float) -> int:
        """Hide subtrees under this share (0 … 1) of the whole, by the share metric; 0 shows all.

        Returns how many nodes are hidden. What is seen to be open stays open.
        """
        import numpy as np

        self._model.set_filter(None)
        shown = self._model.rows(0, self._model.row_count())
        # Under an open node, and only there, the next row is one of its children.
        parent = self._visible_parent()
        opened = shown[:-1][parent[shown[1:]] == shown[:-1]]
        if self._kept is not None:
            opened = self._kept[opened]
        values, total = self.table.values.get(self.share_metric), self.total
        self.limit = share if values is not None and total else 0.0
        if self.limit > 0 and values is not None and total:
            # An inclusive value never exceeds its parent's: what is kept is a tree.
            kept = (values >= self.limit * total).nonzero()[0].astype(np.int32)
            position = np.full(len(self.table) + 1, -1, dtype=np.int32)  # [-1]: parent of a root
            position[kept] = np.arange(len(kept), dtype=np.int32)
            self._kept, self._position = kept, position
            self._model = TreeModel(position[self.table.parent[kept]])
        else:
            self._kept = self._position = None
            self._model = TreeModel(self.table.parent)
        self._order()
        if self._position is not None:
            opened = self._position[opened]
        # Deepest first: a node in a closed one is opened without counting rows up to the root.
        for model_id in opened[opened >= 0][::-1].tolist():
            self._model.expand(model_id)
        self._apply_filter()
        return len(self.table) - (len(self.table) if self._kept is None else len(self._kept))

    # ------------------------------------------------------------- internal --

    def _order(self) -> None:
        self._preorder = None
        values = self.table.values.get(self.metric)
        if values is not None:
            self._model.set_order(self._visible(values), self.descending)

    def _apply_filter(self) -> None:
        match = self._match
        self._model.set_filter(None if match is None else self._visible_match(match))

    def _full_order(self) -> Ids:
        """All nodes of the model in the order of a fully open tree."""
        if self._preorder is None:
            model = TreeModel(self._visible_parent())
            values = self.table.values.get(self.metric)
            if values is not None:
                model.set_order(self._visible(values), self.descending)
            model.expand_all()
            self._preorder = model.rows(0, model.row_count()).copy()
        return self._preorder

    def _visible_parent(self) -> Ids:
        if self._kept is None or self._position is None:
            return self.table.parent
        return self._position[self.table.parent[self._kept]]

    def _visible(self, values: Values) -> Values:
        return values if self._kept is None else values[self._kept]

    def _visible_match(self, match: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return match if self._kept is None else match[self._kept]

    def _fold(self, node: int, change: Callable[[int], None]) -> None:
        model_id = self._model_id(node)
        if model_id >= 0:
            change(model_id)

    def _state(self, model_id: int) -> State:
        if not self._model.has_children(model_id):
            return "leaf"
        return "open" if self._model.is_expanded(model_id) else "closed"

    def _node(self, model_id: int) -> int:
        return model_id if self._kept is None else int(self._kept[model_id])

    def _model_id(self, node: int) -> int:
        return node if self._position is None else int(self._position[node])
