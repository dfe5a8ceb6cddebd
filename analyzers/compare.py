"""Two traces side by side: their call paths as one tree; kernels, operators, ranges, API calls
and collectives as tables of names that were paired up in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from ..native import MergedTree, TextColumn, align_trees, inclusive
from ..queries.metric import Metric
from ..queries.pathview import GPU_LAYERS
from .change import CompareLimits, noise_of
from .collective_costs import collective_costs
from .identity import NodeKind, identity, node_kind
from .lazy import Lazy
from .name_pairs import Names, pair_names
from .row_samples import row_samples, welch_interval
from .side_by_side import Compare, Match, MetricChange, Side, SideBySide
from .step_table import I32, I64, Flags
from .tree_costs import COMPARED, TreeCosts, run_costs, step_costs

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .pairing import Compared
    from .step_places import StepPlaces

_GPU = tuple(sorted(GPU_LAYERS))
_OPERATIONS = (Layer.OP, Layer.HLO, Layer.MODULE)
_RANGES = (Layer.ANNOTATION,)
_CALLS = (Layer.API,)

_MATCHES = tuple(Match)


def compare_costs(
    baseline: Trace, target: Trace, compared: Compared, limits: CompareLimits | None = None
) -> Compare:
    """Per step where the traces' steps can be compared, else of the whole runs."""
    limits = limits or CompareLimits()
    comparison = compared.comparison
    floor, why = limits.floor_ns, None
    if comparison is None:
        why = f"the whole runs are compared: {compared.not_comparable}"
    else:
        floor = limits.floor_of(comparison.wall.baseline)
    places = compared.places or (None, None)
    with ThreadPoolExecutor(2) as pool:
        (old, old_collectives), (new, new_collectives) = pool.map(
            _costs, (baseline, target), places
        )
    sides = CostMerge(old, new, limits, floor, why)
    exchanged = CostMerge(old_collectives, new_collectives, limits, floor, why, renamed=False)
    return Compare(
        paths=sides.tree(),
        kernels=sides.table(_GPU, "GPU work"),
        operations=sides.table(_OPERATIONS, "operators"),
        ranges=sides.table(_RANGES, "ranges"),
        calls=sides.table(_CALLS, "API calls"),
        collectives=exchanged.tree("communication kernels"),
    )


def _costs(trace: Trace, places: StepPlaces | None) -> tuple[TreeCosts, TreeCosts]:
    """Of all contexts, and of the collectives."""
    costs = run_costs(trace) if places is None else step_costs(places)
    return costs, collective_costs(trace, places)


class _Named:
    """One trace, and the numbers its frames have in common with the other one."""

    def __init__(self, costs: TreeCosts) -> None:
        self.costs = costs
        frames = costs.frames
        used: list[int] = np.unique(costs.frame).tolist()
        self.key: dict[int, tuple[int, str, str, int]] = {}
        self.name: dict[int, tuple[int, str]] = {}
        for frame in used:
            layer, text = int(frames.layers[frame]), frames.names[frame]
            line = frames.lines[frame]
            self.key[frame] = (layer, text, frames.files[frame] or "", -1 if line is None else line)
            above_all = layer in (Layer.ROOT, Layer.PROCESS)
            name = "" if above_all else identity(text, layer=Layer(layer))
            self.name[frame] = (layer, name)
        self.layer = np.array([int(layer) for layer in frames.layers], np.uint8)[costs.frame]


class CostMerge:
    """Two trees of costs, and the rows they make. `why`: why there are no steps, if so; `renamed`:
    whether what has another name may be the same."""

    def __init__(
        self,
        old: TreeCosts,
        new: TreeCosts,
        limits: CompareLimits,
        floor_ns: float,
        why: str | None,
        *,
        renamed: bool = True,
    ) -> None:
        self._sides = (_Named(old), _Named(new))
        self._limits, self._floor_ns = limits, floor_ns
        few = [
            f"the {name} has {len(costs.rank)} steps to compare, {limits.steps} are needed"
            for name, costs in (("base", old), ("target", new))
            if len(costs.rank) < limits.steps
        ]
        self._no_intervals = why or "; ".join(few) or None
        # Sorted: the numbers must not depend on which trace is the base.
        keys = sorted({key for side in self._sides for key in side.key.values()})
        names = sorted({name for side in self._sides for name in side.name.values()})
        self._key = {key: number for number, key in enumerate(keys)}
        self._name = {name: number for number, name in enumerate(names)}
        self._texts = TextColumn.from_list([text for _, text in names])
        self._layers = np.array([layer for layer, _ in names], np.uint8)
        kinds = [node_kind(Layer(layer)) if renamed else NodeKind.FIXED for layer, _ in names]
        self._kinds = np.array(kinds, np.uint8)

    def tree(self, what: str = "calling contexts") -> SideBySide:
        merged = self._merged
        nodes = [np.arange(len(side.costs), dtype=np.int64) for side in self._sides]
        kinds: list[int] = merged.kind.tolist()
        match = [_MATCHES[kind] for kind in kinds]
        at = (merged.base, merged.target)
        return self._rows(at, merged.parent, match, nodes, nodes, what)

    @cached_property
    def _merged(self) -> MergedTree:
        old, new = (
            (side.costs.parent, *self._numbers(side, side.costs.frame)) for side in self._sides
        )
        return align_trees(old, new, self._texts, self._layers, self._kinds)

    def _numbers(self, side: _Named, frame: I32) -> tuple[I32, I32]:
        """Of keys and names, by entry."""
        frames: list[int] = frame.tolist()
        key = np.array([self._key[side.key[f]] for f in frames], np.int32)
        name = np.array([self._name[side.name[f]] for f in frames], np.int32)
        return key, name

    def table(self, layers: tuple[Layer, ...], what: str) -> SideBySide:
        """By frame name, without the tree; GPU time goes to the nearest such context above."""
        named: list[Names] = []
        first: list[I64] = []
        entry_of: list[I64] = []
        for side in self._sides:
            costs = side.costs
            chosen = np.isin(side.layer, layers)
            holder = _nearest(costs.parent, chosen)
            key_of = {frame: (key[0], key[1]) for frame, key in side.key.items()}
            numbers = {key: n for n, key in enumerate(sorted(set(key_of.values())))}
            by_frame = np.full(len(costs.frames.names) + 1, -1, np.int64)
            for frame, key in key_of.items():
                by_frame[frame] = numbers[key]
            group = by_frame[costs.frame]
            _, at, inverse = np.unique(group[chosen], return_index=True, return_inverse=True)
            entry = np.full(len(costs) + 1, -1, np.int64)
            entry[np.flatnonzero(chosen)] = inverse
            at = np.flatnonzero(chosen)[at]
            named.append(Names(*self._numbers(side, costs.frame[at]), entry[:-1].copy()))
            on_gpu = np.isin(side.layer, _GPU)
            entry[:-1] = np.where(chosen, entry[:-1], np.where(on_gpu, entry[holder], -1))
            entry_of.append(entry[:-1])
            first.append(at)
        pairs = pair_names(named[0], named[1], self._merged)
        roots = np.full(len(pairs.match), -1, np.int32)
        return self._rows((pairs.base, pairs.target), roots, pairs.match, first, entry_of, what)

    def _rows(
        self,
        entries: tuple[I32, I32],
        parent: I32,
        match: Sequence[Match],
        nodes: list[I64],
        entry_of: list[I64],
        what: str,
    ) -> SideBySide:
        """`entries`: of both sides, by row, -1 without one; `nodes`: of the costs, by entry;
        `entry_of`: the way back."""
        sides = [
            _side(named.costs, node, entry, at)
            for named, node, entry, at in zip(self._sides, nodes, entry_of, entries, strict=True)
        ]
        names: list[str] = []
        base_names: list[str | None] = []
        layers: list[int] = []
        old, new = (side.costs.frames for side in sides)
        base_frames: list[int] = sides[0].frame.tolist()
        target_frames: list[int] = sides[1].frame.tolist()
        for before, after in zip(base_frames, target_frames, strict=True):
            text = new.names[after] if after >= 0 else old.names[before]
            names.append(text)
            was = old.names[before] if before >= 0 else text
            base_names.append(None if was == text else was)
            layers.append(int(new.layers[after] if after >= 0 else old.layers[before]))
        rows = len(names)
        last = np.arange(rows) + inclusive(parent, np.ones(rows, np.int64)) - 1
        return SideBySide(
            names=tuple(names),
            base_names=tuple(base_names),
            layer=np.array(layers, np.uint8),
            parent=parent,
            last=last.astype(np.int32),
            match=tuple(match),
            metrics=Lazy(
                tuple(m for m in COMPARED if all(m in side.costs.values for side in sides)),
                lambda metric: self._change(metric, parent, sides),
            ),
            missing=_missing(sides),
            base=sides[0],
            target=sides[1],
            per_step=sides[0].costs.per_step,
            no_intervals=self._no_intervals,
            lacking=_lacking([len(node) for node in nodes], what),
            floor_ns=self._floor_ns,
            limits=self._limits,
        )

    def _change(self, metric: Metric, parent: I32, sides: list[Side]) -> MetricChange:
        (old_self, old), (new_self, new) = (
            row_samples(side.costs, side.costs.values[metric], side.row_of, parent)
            for side in sides
        )
        return MetricChange(
            base=old.mean,
            target=new.mean,
            base_self=old_self,
            target_self=new_self,
            noise=noise_of(old, new, self._limits),
            interval=welch_interval(old, new),
        )


def _side(costs: TreeCosts, node: I64, entry: I64, at: I32) -> Side:
    """`at`: by row the entry of the aligned tree, -1 without one."""
    row_of = np.full(len(node) + 1, -1, np.int64)
    row_of[at[at >= 0]] = np.flatnonzero(at >= 0)
    return Side(
        costs=costs,
        row_of=row_of[entry],
        frame=np.append(costs.frame[node], np.int32(-1))[at],
        node=np.append(costs.source[node], np.int32(-1))[at].astype(np.int32),
    )


def _lacking(rows: list[int], what: str) -> str | None:
    old, new = rows
    if not old and not new:
        return f"neither trace has {what}"
    return None if old and new else f"the {'target' if old else 'base'} has no {what}"


def _missing(sides: list[Side]) -> dict[Metric, str]:
    found: dict[Metric, str] = {}
    for metric in COMPARED:
        old, new = (side.costs.missing.get(metric) for side in sides)
        if old is not None and new is not None:
            found[metric] = old if old == new else f"base: {old}; target: {new}"
        elif old is not None or new is not None:
            found[metric] = f"base: {old}" if old is not None else f"target: {new}"
    return found


def _nearest(parent: I32, chosen: Flags) -> I64:
    """By node: the nearest chosen one above, -1 without one."""
    found = parent.astype(np.int64)
    while True:
        wrong = (found >= 0) & ~chosen[found]
        if not wrong.any():
            return found
        found = np.where(wrong, parent[found], found)
