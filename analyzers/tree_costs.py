"""What the contexts of a trace cost, step by step or in the whole run: sparse columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from ..native import PlaceSums, inclusive, name_key
from ..queries.metric import Metric
from ..queries.paths import CallTree
from ..queries.step_events import cpu_samples, gpu_rows, launch_nodes, sized_work
from .lazy import Lazy
from .step_table import I32, I64, Flags

if TYPE_CHECKING:
    from ..queries.pathview import Frames
    from ..queries.trace import Trace
    from .step_places import StepPlaces

_WHY_NOT = {
    Metric.GPU: "no GPU work was recorded",
    Metric.HOST: "no host time was recorded",
    Metric.CALLS: "neither calls nor GPU work were recorded",
    Metric.LAUNCHES: "no launches were recorded",
    Metric.KERNELS: "no kernels were recorded",
    Metric.SAMPLES: "no CPU samples were recorded",
    Metric.BYTES: "no sizes of copies were recorded",
}
COMPARED = tuple(_WHY_NOT)
"""The metrics that are compared."""
_ON_GPU = (Metric.GPU, Metric.KERNELS, Metric.BYTES)


@dataclass(frozen=True, slots=True)
class Entries:
    """Exclusive values, of steps and nodes that have one; those of a pair add up. Columns of one
    length."""

    step: I32
    node: I32
    value: I64


@dataclass(frozen=True, slots=True)
class TreeCosts:
    """A tree and what it cost. Parents precede children."""

    parent: I32
    frame: I32
    frames: Frames
    source: I32
    """Node of the trace's call-path tree; the first one where ranks share a node."""
    values: Mapping[Metric, Entries]
    """Only metrics that were measured; of steps each is worked out when first asked for."""
    missing: Mapping[Metric, str]
    """Why the others are not known."""
    node_of: I64
    """By node of the trace's call-path tree: the node here that holds it, -1 without one."""
    rank: I64
    """By step; a run is one step of one rank."""
    ranks: int
    per_step: bool

    def __len__(self) -> int:
        return len(self.parent)


def run_costs(trace: Trace) -> TreeCosts:
    """Of the whole run, all ranks together. Reads summary tables only."""
    tree = CallTree.load(trace)
    values: dict[Metric, Entries] = {}
    measured = _measured(tree)
    for metric in COMPARED:
        if metric in measured:
            column = tree.own[metric]
            node = np.flatnonzero(column).astype(np.int32)
            values[metric] = Entries(np.zeros_like(node), node, column[node])
    table = tree.table
    return TreeCosts(
        parent=table.parent,
        frame=table.frame,
        frames=table.frames,
        source=table.source,
        values=values,
        missing={m: why for m, why in _WHY_NOT.items() if m not in values},
        node_of=np.arange(tree.size, dtype=np.int64),
        rank=np.zeros(1, np.int64),
        ranks=1,
        per_step=False,
    )


def _measured(tree: CallTree) -> frozenset[Metric]:
    """A trace without any sample was not sampled: its zeros are no measurement."""
    sampled = Metric.SAMPLES in tree.own and tree.own[Metric.SAMPLES].any()
    return tree.measured if sampled else tree.measured - {Metric.SAMPLES}


def step_costs(found: StepPlaces) -> TreeCosts:
    """Of the steady steps whose next one is steady too, with the ranks laid over each other.

    Contexts that cost nothing in these steps are left out. Reads events.
    """
    slots, tree = found.slots, CallTree.load(found.trace)
    measured = _measured(tree)
    entries = _StepEntries(found, tree, measured)
    kept = np.flatnonzero(inclusive(tree.parent, entries.live()))
    folded, parent, first = _folded(tree, kept)
    missing = {m: why for m, why in _WHY_NOT.items() if m not in entries.metrics}
    for metric in missing:
        if metric in measured and metric in _ON_GPU:
            missing[metric] = (
                "the launches of the GPU work are not in the trace, so it belongs to no step"
            )
        elif metric in measured:
            missing[metric] = "the steps were found on the GPU: no thread is known to run them"
    table = tree.table
    return TreeCosts(
        parent=parent,
        frame=table.frame[first],
        frames=table.frames,
        source=table.source[first],
        values=Lazy(entries.metrics, lambda metric: _moved(entries.of(metric), folded)),
        missing=missing,
        node_of=folded,
        rank=slots.rank.astype(np.int64),
        ranks=len(slots.per_rank),
        per_step=True,
    )


class _StepEntries:
    """By step and node of the trace's tree."""

    def __init__(self, of: StepPlaces, tree: CallTree, measured: frozenset[Metric]) -> None:
        self._host, self._work = of.host, of.work
        self._size = size = tree.size
        trace, slots = of.trace, of.slots
        self._launch = np.zeros(size, np.bool_)
        self._launch[launch_nodes(trace)] = True
        layers = np.array([int(layer) for layer in tree.table.frames.layers], np.uint8)
        self._kernel: Flags = layers[tree.table.frame] == Layer.KERNEL
        self._others: dict[Metric, Entries] = {}
        if Metric.SAMPLES in measured:
            seen = cpu_samples(trace, slots.window_ns)
            _, self._others[Metric.SAMPLES] = add_up(
                of.of_samples(seen), seen.node, np.zeros(len(seen.node), np.int64), size
            )
        if Metric.BYTES in measured:
            copies, copied, node = sized_work(trace, slots.window_ns[0])
            self._others[Metric.BYTES], _ = add_up(of.of(copies), node, copied, size)
        # No GPU work in the steps is 0, work that cannot be told to be theirs is not known.
        unlinked = not len(self._work.node) and gpu_rows(trace, slots.window_ns)[0] > 0
        self.metrics = tuple(
            metric
            for metric in COMPARED
            if (metric in measured or self._occurs(metric))
            and not (unlinked and metric in _ON_GPU)
            and not (slots.on_device and metric in (Metric.HOST, Metric.SAMPLES, Metric.LAUNCHES))
        )

    def _occurs(self, metric: Metric) -> bool:
        host, work = self._host.node, self._work.node
        return {
            Metric.GPU: len(work) > 0,
            Metric.HOST: len(host) > 0,
            Metric.CALLS: len(host) > 0 or len(work) > 0,
            Metric.LAUNCHES: bool(self._launch[host].any()),
            Metric.KERNELS: bool(self._kernel[work].any()),
        }.get(metric, False)

    def live(self) -> I64:
        """By node: 1 where it costs something itself."""
        found = np.zeros(self._size, np.int64)
        others = [e.node for metric, e in self._others.items() if metric in self.metrics]
        for node in (self._host.node, self._work.node, *others):
            found[node] = 1
        return found

    def of(self, metric: Metric) -> Entries:
        """Of one of the metrics."""
        host, work = self._host, self._work
        match metric:
            case Metric.GPU:
                return _entries(work.place, work.node, work.total_ns)
            case Metric.HOST:
                return _entries(host.place, host.node, host.self_ns)
            case Metric.CALLS:
                return _entries(
                    np.concatenate([host.place, work.place]),
                    np.concatenate([host.node, work.node]),
                    np.concatenate([host.count, work.count]),
                )
            case Metric.LAUNCHES:
                rows = self._launch[host.node]
                return _entries(host.place[rows], host.node[rows], host.count[rows])
            case Metric.KERNELS:
                rows = self._kernel[work.node]
                return _entries(work.place[rows], work.node[rows], work.count[rows])
            case _:
                return self._others[metric]


def add_up(place: I32, node: I32, value: I64, nodes: int) -> tuple[Entries, Entries]:
    """Sums and numbers of the events by step and node; those in no step are left out."""
    sums = PlaceSums(nodes, 1)
    sums.add(place, node, (value,))
    at, found, count, (total,) = sums.take()
    return _entries(at, found, total), _entries(at, found, count)


def _entries(place: I32, node: I32, value: I64) -> Entries:
    step: I32 = place >> 2
    return Entries(step, node, value)


def _moved(entries: Entries, node_of: I64) -> Entries:
    return Entries(entries.step, node_of.astype(np.int32)[entries.node], entries.value)


def _folded(tree: CallTree, kept: I64) -> tuple[I64, I32, I64]:
    """Processes laid over each other: the new node of each, the new parents, and first nodes."""
    frames, table = tree.table.frames, tree.table
    key = np.empty(len(frames.names), np.int64)
    known: dict[tuple[Layer, str], int] = {}
    for frame, (layer, name) in enumerate(zip(frames.layers, frames.names, strict=True)):
        if layer in (Layer.PROCESS, Layer.THREAD):
            shared = "" if layer is Layer.PROCESS else name_key(name)
            key[frame] = known.setdefault((layer, shared), frame)
        else:
            key[frame] = frame
    node_of = np.full(tree.size, -1, np.int64)
    parents: list[I64] = []
    firsts: list[I64] = []
    count = 0
    depth = table.depth[kept]
    order = np.argsort(depth, kind="stable")
    cuts = np.flatnonzero(np.diff(depth[order])) + 1
    for level in np.split(kept[order], cuts):
        above = table.parent[level]
        above = np.where(above < 0, -1, node_of[above])
        code = (above + 1) * len(key) + key[table.frame[level]]
        found, first, inverse = np.unique(code, return_index=True, return_inverse=True)
        place = np.empty(len(found), np.int64)
        place[np.argsort(first)] = np.arange(len(found))
        node_of[level] = count + place[inverse]
        at = np.sort(first)
        parents.append(above[at])
        firsts.append(level[at])
        count += len(found)
    empty = [np.empty(0, np.int64)]
    return (
        node_of,
        np.concatenate(parents or empty).astype(np.int32),
        np.concatenate(firsts or empty),
    )
