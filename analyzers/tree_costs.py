"""What the contexts of a trace cost, step by step or in the whole run: sparse columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from ..native import group_stats, inclusive, name_key
from ..queries.lanes import lanes
from ..queries.metric import Metric
from ..queries.paths import CallTree
from ..queries.step_events import host_events
from .step_profile import placed_work
from .step_slots import Slots
from .step_table import I32, I64

if TYPE_CHECKING:
    from ..queries.pathview import Frames
    from ..queries.trace import Trace
    from .steps import Steps

RUN_METRICS = {
    Metric.GPU: Metric.GPU_SELF,
    Metric.HOST: Metric.HOST_SELF,
    Metric.CALLS: Metric.CALLS,
}
"""The compared metrics, and their exclusive columns in the call-path tree."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Exclusive values, of (step, node) pairs that have one. Columns of one length."""

    step: I64
    node: I64
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
    """Only metrics that were measured."""
    rank: I64
    """By step; a run is one step of one rank."""
    ranks: int

    def __len__(self) -> int:
        return len(self.parent)


def run_costs(trace: Trace) -> TreeCosts:
    """Of the whole run, all ranks together. Reads summary tables only."""
    tree = CallTree.load(trace)
    values: dict[Metric, Entries] = {}
    for metric, own in RUN_METRICS.items():
        if metric in tree.available:
            column = tree.values(own).astype(np.int64, copy=False)
            node = np.flatnonzero(column)
            values[metric] = Entries(np.zeros_like(node), node, column[node])
    table = tree.table
    return TreeCosts(
        table.parent, table.frame, table.frames, table.source, values, np.zeros(1, np.int64), 1
    )


def step_costs(trace: Trace, steps: Steps) -> TreeCosts:
    """Of the steady steps whose next one is steady too, with the ranks laid over each other.

    Contexts that cost nothing in these steps are left out. Reads events.
    """
    slots = Slots(steps)
    tree = CallTree.load(trace)
    events = host_events(trace, slots.window_ns)
    threads = {
        lane.lane: -1 if lane.process is None else lane.process
        for lane in lanes(trace)
        if lane.is_thread
    }
    place = slots.of_host(events, threads)
    work, work_place = placed_work(trace, slots, events, place)
    host_ns, host_calls = _add_up(place, events.node, events.self_ns, tree.size)
    gpu_ns, gpu_calls = _add_up(work_place, work.node, work.dur_ns, tree.size)
    live = np.zeros(tree.size, np.int64)
    for entries in (host_calls, gpu_calls):
        live[entries.node] = 1
    kept = np.flatnonzero(inclusive(tree.parent, live))
    folded, parent, first = _folded(tree, kept)
    values: dict[Metric, Entries] = {}
    if len(gpu_ns.node):
        values[Metric.GPU] = _moved(gpu_ns, folded)
    if len(host_ns.node) and not slots.on_device:
        values[Metric.HOST] = _moved(host_ns, folded)
    calls = [_moved(entries, folded) for entries in (host_calls, gpu_calls)]
    values[Metric.CALLS] = Entries(
        np.concatenate([e.step for e in calls]),
        np.concatenate([e.node for e in calls]),
        np.concatenate([e.value for e in calls]),
    )
    table = tree.table
    return TreeCosts(
        parent=parent,
        frame=table.frame[first],
        frames=table.frames,
        source=table.source[first],
        values=values,
        rank=slots.rank.astype(np.int64),
        ranks=len(slots.per_rank),
    )


def _add_up(place: I64, node: I32, value: I64, nodes: int) -> tuple[Entries, Entries]:
    """Sums and numbers of the events by step and node; those in no step are left out."""
    group = np.where(place < 0, -1, (place >> 2) * nodes + node)
    stats = group_stats(group, value)
    step, at = np.divmod(stats.group, nodes)
    return Entries(step, at, stats.sum), Entries(step, at, stats.count)


def _moved(entries: Entries, node: I64) -> Entries:
    return Entries(entries.step, node[entries.node], entries.value)


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
