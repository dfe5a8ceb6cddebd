"""One row of two traces side by side: its steps, its kernels, how it was called, its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from ..queries.ancestry import ancestries
from ..queries.capture import capture
from ..queries.kernels import kernel_durations, log_edges
from ..queries.metric import Metric
from ..queries.pathview import GPU_LAYERS
from .identity import identity
from .launch_changes import named_changes
from .row_samples import group_means

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .launch_changes import WayChange
    from .side_by_side import Side, SideBySide
    from .step_table import I64, Flags

_BUCKETS = 24
_LIBRARIES = frozenset({*GPU_LAYERS, Layer.API, Layer.NATIVE})
"""Layers whose file, if any, is no source of the program."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A row's values in single steps, all ranks: ns or numbers."""

    values: I64
    """In the order of the steps, rank after rank."""

    @property
    def mean(self) -> float:
        """Of all values together."""
        return float(self.values.mean())

    def quantile(self, q: float) -> int:
        """The value at ⌊q·count⌋ of the sorted ones."""
        return int(np.sort(self.values)[min(int(q * len(self.values)), len(self.values) - 1)])


@dataclass(frozen=True, slots=True)
class PairHistogram:
    """Durations of single kernels in the whole recordings: bucket i holds edges_ns[i] <= duration
    < edges_ns[i + 1], the same buckets on both sides."""

    edges_ns: tuple[int, ...]
    base_counts: tuple[int, ...]
    target_counts: tuple[int, ...]
    base_p50_ns: int | None
    """None on a side without kernels."""
    target_p50_ns: int | None


@dataclass(frozen=True, slots=True)
class KernelPair:
    """GPU work of one name below a row: ns and numbers, per step or of the run."""

    name: str
    """Of the target; of the base where the target has none."""
    base_name: str | None
    """Where it differs."""
    base: float
    target: float
    base_calls: float
    target_calls: float

    @property
    def delta(self) -> float:
        return self.target - self.base


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Where in the user's program a row stands: the nearest frame with a file."""

    name: str
    file: str
    line: int | None
    since_utc_ns: int | None
    """When the trace began, ns since 1970; None where it does not tell."""


@dataclass(frozen=True, slots=True)
class PairDetail:
    """What there is to say of a row; pairs are of base and target."""

    steps: tuple[Spread, Spread] | None
    """By the metric that was asked for; None: see `no_steps`."""
    no_steps: str | None
    histogram: PairHistogram | None
    """None without kernels below the row."""
    kernels: tuple[KernelPair, ...]
    """GPU work below the row, the largest change first."""
    changes: tuple[WayChange, ...]
    """What changed in how the row itself was called."""
    sources: tuple[SourcePlace | None, SourcePlace | None]
    paths: tuple[tuple[str, ...], tuple[str, ...]]
    """Names from below the root to the row; empty on a side without it."""


def pair_detail(
    base: Trace, target: Trace, sides: SideBySide, row: int, metric: Metric
) -> PairDetail:
    """Details of a row of the call paths or of a table. KeyError for a metric that was not
    measured on both sides. Reads events."""
    sides.metrics[metric]
    steps = None
    if sides.per_step:
        old, new = sides.steps_of(metric, row)
        steps = Spread(old), Spread(new)
    ends = (sides.base, sides.target)
    return PairDetail(
        steps=steps,
        no_steps=None if sides.per_step else sides.no_intervals,
        histogram=_histogram(base, target, sides, row),
        kernels=_kernels(sides, row),
        changes=named_changes(base, target, sides, [row]).get(row, ()),
        sources=(_source(base, ends[0], row), _source(target, ends[1], row)),
        paths=(_path(base, ends[0], row), _path(target, ends[1], row)),
    )


def _below(sides: SideBySide, end: Side, row: int) -> Flags:
    """By node of the costs: counted by the row or one below it."""
    found: Flags = (end.row_of >= row) & (end.row_of <= sides.last[row])
    return found


def _histogram(base: Trace, target: Trace, sides: SideBySide, row: int) -> PairHistogram | None:
    old = _durations(base, sides, sides.base, row)
    new = _durations(target, sides, sides.target, row)
    both = np.concatenate([old, new])
    if not len(both):
        return None
    edges = log_edges(int(both.min()), int(both.max()), _BUCKETS)
    counts = [tuple(np.histogram(ns, np.array(edges))[0].tolist()) for ns in (old, new)]
    return PairHistogram(edges, counts[0], counts[1], _median(old), _median(new))


def _durations(trace: Trace, sides: SideBySide, end: Side, row: int) -> I64:
    costs = end.costs
    if not len(costs.node_of):
        return np.empty(0, np.int64)
    inside = np.append(_below(sides, end, row), False)[costs.node_of]
    nodes = np.flatnonzero(inside)
    if not len(nodes):
        return np.empty(0, np.int64)
    node, ns = kernel_durations(trace, (int(nodes[0]), int(nodes[-1])))
    found: I64 = ns[inside[node]]
    return found


def _median(ns: I64) -> int | None:
    return int(np.sort(ns)[len(ns) // 2]) if len(ns) else None


def _kernels(sides: SideBySide, row: int) -> tuple[KernelPair, ...]:
    numbers: dict[tuple[Layer, str], int] = {}
    named: list[dict[int, str]] = []
    group_of: list[I64] = []
    for end in (sides.base, sides.target):
        frames = end.costs.frames
        group = np.full(len(end.costs), -1, np.int64)
        names: dict[int, str] = {}
        for node in np.flatnonzero(_below(sides, end, row)).tolist():
            frame = int(end.costs.frame[node])
            layer = frames.layers[frame]
            if layer in GPU_LAYERS:
                key = (layer, identity(frames.names[frame], layer=layer))
                group[node] = numbers.setdefault(key, len(numbers))
                names.setdefault(int(group[node]), frames.names[frame])
        group_of.append(group)
        named.append(names)
    if not numbers or Metric.GPU in sides.missing:
        return ()
    columns = [
        group_means(end.costs, end.costs.values[metric], group, len(numbers)).tolist()
        for metric in (
            Metric.GPU,
            Metric.KERNELS if Metric.CALLS in sides.missing else Metric.CALLS,
        )
        for end, group in zip((sides.base, sides.target), group_of, strict=True)
    ]
    found: list[KernelPair] = []
    for at, values in enumerate(zip(*columns, strict=True)):
        was, now = named[0].get(at), named[1].get(at)
        name = now or was or ""
        found.append(KernelPair(name, was if was != name else None, *values))
    return tuple(sorted(found, key=lambda pair: (-abs(pair.delta), pair.name)))


def _source(trace: Trace, end: Side, row: int) -> SourcePlace | None:
    frames, parent = end.costs.frames, end.costs.parent
    nodes = np.flatnonzero(end.row_of == row)
    if end.node[row] < 0 or not len(nodes):
        return None
    node = int(nodes[0])
    while node >= 0:
        frame = int(end.costs.frame[node])
        file = frames.files[frame]
        if file is not None and frames.layers[frame] not in _LIBRARIES:
            since = capture(trace).start_utc_ns
            return SourcePlace(frames.names[frame], file, frames.lines[frame], since)
        node = int(parent[node])
    return None


def _path(trace: Trace, end: Side, row: int) -> tuple[str, ...]:
    node = int(end.node[row])
    return () if node < 0 else ancestries(trace, [node])[node].names
