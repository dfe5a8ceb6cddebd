"""The call-path tree: contexts of the program and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..ingest.model import Layer
from ..native import bottom_up, inclusive
from .metric import Metric
from .pathview import Frames, PathTable, PathView
from .trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .pathview import Ids, Values

    Counts = NDArray[np.int64]

_SELF = {
    Metric.GPU: Metric.GPU_SELF,
    Metric.HOST: Metric.HOST_SELF,
    Metric.SAMPLES: Metric.SAMPLES_SELF,
}
"""The exclusive face of an inclusive metric, where both are columns."""


class CostTree:
    """Calling contexts and what they cost themselves."""

    def __init__(self, table: PathTable, own: Mapping[Metric, Counts]) -> None:
        self.table = table
        self.own = own

    def top_down(self) -> PathView:
        return PathView(self.table)

    def bottom_up(self, metric: Metric = Metric.GPU) -> PathView:
        """The tree turned over: contexts that cost something themselves, below them their callers.

        Only contexts with some of the metric are shown; every value of a row is the part of the
        frame at its top that came by way of the row. ValueError when the trace lacks the metric.
        """
        import numpy as np

        whole = next((m for m, own in _SELF.items() if own == metric), metric)
        if whole is Metric.MEAN:
            whole = Metric.GPU
        if whole not in self.own:
            raise ValueError(f"{metric.value} is not in this trace")
        order = [whole, *(m for m in self.own if m is not whole)]
        costs = self.own[whole] != 0
        turned = bottom_up(
            self.table.parent, self.table.frame, [np.where(costs, self.own[m], 0) for m in order]
        )
        # A row has at most what the row above it has: those with some of the metric are a tree.
        kept = (turned.values[0] != 0).nonzero()[0]
        position = np.full(len(turned.parent) + 1, -1, dtype=np.int32)  # [-1]: parent of a root
        position[kept] = np.arange(len(kept), dtype=np.int32)
        values: dict[Metric, Values] = {}
        for m, column in zip(order, turned.values, strict=True):
            values[m] = column[kept]
            if m in _SELF:
                values[_SELF[m]] = values[m]
        _add_mean(values)
        table = PathTable(
            parent=position[turned.parent[kept]],
            depth=turned.depth[kept],
            frame=turned.frame[kept],
            source=self.table.source[turned.source[kept]],
            values=values,
            frames=self.table.frames,
        )
        view = PathView(table, turned=True)
        view.sort(metric)
        return view


class CallTree(CostTree):
    """The call-path tree as flat arrays over node ids (pre-order: a subtree is [node, last])."""

    def __init__(
        self, table: PathTable, last: Ids, own: Mapping[Metric, Counts], device: int | None
    ) -> None:
        super().__init__(table, own)
        self.last = last
        self.device = device
        """The device whose GPU work is counted; None: all devices summed."""

    @staticmethod
    def load(trace: Trace, device: int | None = None) -> CallTree:
        """Read the tree once. Uses summary tables only."""
        columns = trace.arrays("paths.tree")
        frames = _frames(trace)
        parent = columns["parent"].astype("int32", copy=False)
        own = _exclusive(trace, len(parent), device)
        table = PathTable(
            parent=parent,
            depth=columns["depth"].astype("int16", copy=False),
            frame=columns["frame"].astype("int32", copy=False),
            source=_ids(len(parent)),
            values=cost_columns(parent, own),
            frames=frames,
        )
        return CallTree(table, columns["last"].astype("int32", copy=False), own, device)

    @property
    def size(self) -> int:
        return len(self.table)

    @property
    def parent(self) -> Ids:
        """-1 for the root."""
        return self.table.parent

    @property
    def available(self) -> frozenset[Metric]:
        """The metrics the trace has; the others are n/a throughout."""
        return frozenset(self.table.values)

    @property
    def measured(self) -> frozenset[Metric]:
        """Of them, those that events add up to."""
        return frozenset(self.own)

    def with_costs(self, own: Mapping[Metric, Counts]) -> CallTree:
        """The same tree with other exclusive costs, one value a node."""
        table = replace(self.table, values=cost_columns(self.table.parent, own))
        return CallTree(table, self.last, own, self.device)

    def values(self, metric: Metric) -> Values:
        """One value a node; KeyError when the trace lacks the metric."""
        return self.table.values[metric]

    def value(self, node: int, metric: Metric) -> int | None:
        """A whole value (not MEAN) of a node, None when the trace lacks the metric."""
        values = self.table.values.get(metric)
        return None if values is None else int(values[node])

    def layer(self, node: int) -> Layer:
        return self.table.frames.layers[int(self.table.frame[node])]

    def name(self, node: int) -> str:
        return self.table.frames.names[int(self.table.frame[node])]

    def file(self, node: int) -> str | None:
        """Source file or module."""
        return self.table.frames.files[int(self.table.frame[node])]

    def line(self, node: int) -> int | None:
        return self.table.frames.lines[int(self.table.frame[node])]

    def path(self, node: int) -> tuple[int, ...]:
        """Nodes from the root to the node."""
        path: list[int] = []
        while node >= 0:
            path.append(node)
            node = int(self.table.parent[node])
        return tuple(reversed(path))

    def node_like(self, other: CallTree, node: int) -> int:
        """The context that is at the same place here as a node of another tree there, or the
        innermost one above it that is here."""
        here = 0
        for step in other.path(node)[1:]:
            wanted = other.identity(step)
            below = (self.table.parent == here).nonzero()[0].tolist()
            found = next((child for child in below if self.identity(child) == wanted), None)
            if found is None:
                break
            here = found
        return here

    def identity(self, node: int) -> tuple[Layer, str, str | None, int | None]:
        """What tells a context from its siblings."""
        return self.layer(node), self.name(node), self.file(node), self.line(node)

    def names(self, node: int) -> tuple[str, ...]:
        """Display names from below the root to the node."""
        return tuple(self.name(n) for n in self.path(node)[1:])


def heaviest_nodes(
    trace: Trace, names: Iterable[str], nodes: tuple[int, int] | None = None
) -> dict[str, int]:
    """For each name the context of that name that costs its threads most, of equal ones the first.
    Names that no context has are left out. `nodes`: within a subtree (ids first to last). Summary
    tables only."""
    wanted = sorted(set(names))
    if not wanted:
        return {}
    first, last = nodes or (None, None)
    return dict(
        trace.rows("paths.heaviest_of_name", {"names": wanted, "first": first, "last": last})
    )


def _frames(trace: Trace) -> Frames:
    rows = trace.rows("paths.frames")
    layers = {int(layer): layer for layer in Layer}
    return Frames(
        layers=[layers[code] for code, _, _, _ in rows],
        names=[name for _, name, _, _ in rows],
        files=[file for _, _, file, _ in rows],
        lines=[line for _, _, _, line in rows],
    )


def _exclusive(trace: Trace, size: int, device: int | None) -> dict[Metric, Counts]:
    """What each node cost itself, for the metrics that were measured anywhere in the trace."""
    import numpy as np

    [(gpu, host, calls, launches, kernels, samples, size_bytes)] = trace.rows("paths.measured")
    on_host = trace.arrays("paths.host_exclusive")
    on_gpu = trace.arrays("paths.gpu_exclusive", {"device": device})

    def spread(column: str) -> Counts:
        values = np.zeros(size, dtype=np.int64)
        for table in (on_host, on_gpu):
            if column in table:
                np.add.at(values, table["node"], table[column])
        return values

    # The executions of a GPU operation are its calls; other nodes have none.
    measured = {
        Metric.GPU: ("gpu_ns", gpu),
        Metric.HOST: ("host_ns", host),
        Metric.CALLS: ("calls", calls or gpu),
        Metric.LAUNCHES: ("launches", launches),
        Metric.KERNELS: ("kernels", kernels),
        Metric.SAMPLES: ("samples", samples),
        Metric.BYTES: ("bytes", size_bytes),
    }
    own = {metric: spread(column) for metric, (column, known) in measured.items() if known}
    sampled = trace.arrays("paths.gpu_samples", {"device": device})
    if len(sampled["node"]):
        own[Metric.GPU_SAMPLES] = np.zeros(size, np.int64)
        own[Metric.GPU_SAMPLES][sampled["node"]] = sampled["samples"]
    return own


def cost_columns(parent: Ids, own: Mapping[Metric, Counts]) -> dict[Metric, Values]:
    """The columns of a tree from what each node cost itself."""
    values: dict[Metric, Values] = {}
    for metric, exclusive in own.items():
        values[metric] = exclusive if metric is Metric.CALLS else inclusive(parent, exclusive)
        if metric in _SELF:
            values[_SELF[metric]] = exclusive
    _add_mean(values)
    return values


def _add_mean(values: dict[Metric, Values]) -> None:
    import numpy as np

    if Metric.GPU in values and Metric.CALLS in values:
        values[Metric.MEAN] = values[Metric.GPU] / np.maximum(values[Metric.CALLS], 1)


def _ids(size: int) -> Ids:
    import numpy as np

    return np.arange(size, dtype=np.int32)
