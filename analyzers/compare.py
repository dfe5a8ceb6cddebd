"""Two traces side by side: their call paths as one tree, their kernels and operators as one table.

Every row has partners found by `align_trees`; a row's value is the cost of itself and of all rows
below it, so that the changes of the rows themselves sum to the change of the root. The cost of a
pair that moved stands below the nearest common caller of its two places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from ..native import TextColumn, align_trees
from ..queries.metric import Metric
from ..queries.pathview import GPU_LAYERS
from .change import CompareLimits, noise_of
from .identity import identity
from .regression import statuses
from .row_samples import row_samples, welch_interval
from .step_table import F64, I32, I64, U8, Flags
from .tree_costs import TreeCosts, run_costs, step_costs

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .change import Status
    from .pairing import Compared

_GPU = tuple(sorted(GPU_LAYERS))
_OPERATIONS = (Layer.ANNOTATION, Layer.OP, Layer.HLO, Layer.MODULE)
_CALLS = (Layer.API, Layer.NATIVE)


class Match(StrEnum):
    """How a row's two sides were found; in the order of the codes of `align_trees`."""

    BASE_ONLY = "base only"
    TARGET_ONLY = "target only"
    SAME = "same"
    NORMALISED = "same but for numbers"
    RENAMED = "renamed"
    MOVED = "moved"


_MATCHES = tuple(Match)


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric of all rows: ns or numbers, per step (mean over ranks) or of the whole run."""

    base: F64
    """With all rows below."""
    target: F64
    base_self: F64
    """Of the row itself."""
    target_self: F64
    noise: F64
    """What a change must exceed to be more than chance; infinite in runs and with few steps."""
    interval: F64
    """Half of the 95 % confidence interval of the change (Welch); infinite likewise."""

    @property
    def delta(self) -> F64:
        return self.target - self.base

    @property
    def delta_self(self) -> F64:
        return self.target_self - self.base_self

    def percent(self, row: int) -> float | None:
        """None where the base has none."""
        before = float(self.base[row])
        return 100 * float(self.delta[row]) / before if before else None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Rows in pre-order; of a table all are roots. Columns of one length."""

    names: tuple[str, ...]
    """Of the target; of the base where a row is in the base only."""
    base_names: tuple[str | None, ...]
    """Where they differ."""
    layer: U8
    parent: I32
    base_node: I32
    """Node of the base's call-path tree (of tables: the first one), -1 without one."""
    target_node: I32
    match: tuple[Match, ...]
    metrics: Mapping[Metric, MetricChange]
    """Those measured on both sides."""
    per_step: bool
    floor_ns: float
    limits: CompareLimits

    def __len__(self) -> int:
        return len(self.names)

    def sure(self, metric: Metric) -> Flags:
        """Rows whose change is beyond floor and noise. For times."""
        change = self.metrics[metric]
        size = np.abs(change.delta)
        found: Flags = (size >= self.floor_ns) & (size > change.noise)
        return found

    def status(self, metric: Metric) -> list[Status]:
        """By the rules of operations; UNCHANGED throughout without repeated steps."""
        change = self.metrics[metric]
        return statuses(
            change.base, change.target, self.base_node, self.target_node, self.sure(metric),
            np.zeros(len(self), np.bool_), self.limits,
        )  # fmt: skip

    def ranked(self, metric: Metric) -> list[int]:
        """Rows that changed, the largest change first, ties by name."""
        size = np.abs(self.metrics[metric].delta)
        rows: list[int] = np.flatnonzero(size).tolist()
        return sorted(rows, key=lambda row: (-float(size[row]), self.names[row], row))


@dataclass(frozen=True, slots=True)
class Compare:
    """Two traces side by side."""

    paths: SideBySide
    kernels: SideBySide
    """GPU work by name."""
    operations: SideBySide
    """Annotations, operators, modules, by name: host time is their own, GPU time that of the work
    they launched themselves, so that both sum to the whole."""
    calls: SideBySide
    """API calls by name, likewise."""


def compare_costs(
    baseline: Trace, target: Trace, compared: Compared, limits: CompareLimits | None = None
) -> Compare:
    """Per step where the traces' steps can be compared, else of the whole runs."""
    limits = limits or CompareLimits()
    comparison = compared.comparison
    if comparison is None:
        sides = _Sides(run_costs(baseline), run_costs(target), limits, limits.floor_ns, False)
    else:
        floor = limits.floor_of(comparison.wall.baseline)
        old = step_costs(baseline, comparison.baseline.steps)
        new = step_costs(target, comparison.target.steps)
        sides = _Sides(old, new, limits, floor, True)
    return Compare(
        paths=sides.tree(),
        kernels=sides.table(_GPU),
        operations=sides.table(_OPERATIONS),
        calls=sides.table(_CALLS),
    )


class _Side:
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
            name = "" if above_all else identity(text, call=layer == Layer.API)
            self.name[frame] = (layer, name)
        self.layer = np.array([int(layer) for layer in frames.layers], np.uint8)[costs.frame]


class _Sides:
    def __init__(
        self, old: TreeCosts, new: TreeCosts, limits: CompareLimits, floor_ns: float, steps: bool
    ) -> None:
        self._sides = (_Side(old), _Side(new))
        self._limits, self._floor_ns, self._per_step = limits, floor_ns, steps
        # Sorted: the numbers must not depend on which trace is the base.
        keys = sorted({key for side in self._sides for key in side.key.values()})
        names = sorted({name for side in self._sides for name in side.name.values()})
        self._key = {key: number for number, key in enumerate(keys)}
        self._name = {name: number for number, name in enumerate(names)}
        self._texts = TextColumn.from_list([text for _, text in names])
        self._layers = np.array([layer for layer, _ in names], np.uint8)

    def tree(self) -> SideBySide:
        nodes = [np.arange(len(side.costs), dtype=np.int64) for side in self._sides]
        return self._aligned([side.costs.parent for side in self._sides], nodes, nodes)

    def table(self, layers: tuple[Layer, ...]) -> SideBySide:
        """By frame name, without the tree; GPU time goes to the nearest such context above."""
        parents: list[I32] = []
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
            found, at, inverse = np.unique(group[chosen], return_index=True, return_inverse=True)
            entry = np.full(len(costs) + 1, -1, np.int64)
            entry[np.flatnonzero(chosen)] = inverse
            on_gpu = np.isin(side.layer, _GPU)
            entry[:-1] = np.where(chosen, entry[:-1], np.where(on_gpu, entry[holder], -1))
            entry_of.append(entry[:-1])
            first.append(np.flatnonzero(chosen)[at])
            parents.append(np.full(len(found), -1, np.int32))
        return self._aligned(parents, first, entry_of)

    def _aligned(self, parents: list[I32], nodes: list[I64], entry_of: list[I64]) -> SideBySide:
        """`nodes`: of the costs, by entry of the tree to align; `entry_of`: the way back."""
        columns: list[tuple[I32, I32, I32]] = []
        for side, parent, node in zip(self._sides, parents, nodes, strict=True):
            frames: list[int] = side.costs.frame[node].tolist()
            key = np.array([self._key[side.key[f]] for f in frames], np.int32)
            name = np.array([self._name[side.name[f]] for f in frames], np.int32)
            columns.append((parent, key, name))
        merged = align_trees(columns[0], columns[1], self._texts, self._layers)
        rows: list[I64] = []
        frame: list[I32] = []
        source: list[I32] = []
        for side, node, entry, at in zip(
            self._sides, nodes, entry_of, (merged.base, merged.target), strict=True
        ):
            row_of = np.full(len(node) + 1, -1, np.int64)
            row_of[at[at >= 0]] = np.flatnonzero(at >= 0)
            rows.append(row_of[entry])
            costs = side.costs
            frame.append(np.append(costs.frame[node], np.int32(-1))[at])
            source.append(np.append(costs.source[node], np.int32(-1))[at].astype(np.int32))
        names: list[str] = []
        base_names: list[str | None] = []
        layers: list[int] = []
        old, new = (side.costs.frames for side in self._sides)
        base_frames: list[int] = frame[0].tolist()
        target_frames: list[int] = frame[1].tolist()
        kinds: list[int] = merged.kind.tolist()
        for before, after in zip(base_frames, target_frames, strict=True):
            text = new.names[after] if after >= 0 else old.names[before]
            names.append(text)
            was = old.names[before] if before >= 0 else text
            base_names.append(None if was == text else was)
            layers.append(int(new.layers[after] if after >= 0 else old.layers[before]))
        values = [side.costs.values for side in self._sides]
        return SideBySide(
            names=tuple(names),
            base_names=tuple(base_names),
            layer=np.array(layers, np.uint8),
            parent=merged.parent,
            base_node=source[0],
            target_node=source[1],
            match=tuple(_MATCHES[kind] for kind in kinds),
            metrics={
                metric: self._change(metric, merged.parent, rows)
                for metric in values[0]
                if metric in values[1]
            },
            per_step=self._per_step,
            floor_ns=self._floor_ns,
            limits=self._limits,
        )

    def _change(self, metric: Metric, parent: I32, rows: list[I64]) -> MetricChange:
        sides = [
            row_samples(side.costs, side.costs.values[metric], row, parent)
            for side, row in zip(self._sides, rows, strict=True)
        ]
        (old_self, old), (new_self, new) = sides
        return MetricChange(
            base=old.mean,
            target=new.mean,
            base_self=old_self,
            target_self=new_self,
            noise=noise_of(old, new, self._limits),
            interval=welch_interval(old, new),
        )


def _nearest(parent: I32, chosen: Flags) -> I64:
    """By node: the nearest chosen one above, -1 without one."""
    found = parent.astype(np.int64)
    while True:
        wrong = (found >= 0) & ~chosen[found]
        if not wrong.any():
            return found
        found = np.where(wrong, parent[found], found)
