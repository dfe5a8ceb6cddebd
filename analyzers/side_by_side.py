"""Rows of two traces that were paired up, and what each cost on both sides: flat columns.

A row's value is the cost of itself and of all rows below it, so that the changes of the rows
themselves sum to the change of the roots. The cost of a pair that moved stands below the nearest
common caller of its two places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ..queries.metric import Metric
from .change import CompareLimits
from .regression import statuses
from .step_table import F64, I32, I64, U8, Flags

if TYPE_CHECKING:
    from .change import Status
    from .tree_costs import TreeCosts


class Match(StrEnum):
    """How a row's two sides were found; in the order of the codes of `align_trees`."""

    BASE_ONLY = "base only"
    TARGET_ONLY = "target only"
    SAME = "same"
    NORMALISED = "same but for numbers"
    RENAMED = "renamed"
    MOVED = "moved"
    REPLACED = "other kernel"
    """Unlike kernels that do the work of the same operator."""


TIMES = (Metric.GPU, Metric.HOST)
"""The metrics that are ns; the others are numbers."""


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

    @property
    def within_noise(self) -> Flags:
        """No more than chance, whatever the size; also where nothing can tell."""
        found: Flags = np.abs(self.delta) <= self.noise
        return found

    def percent(self, row: int) -> float | None:
        """None where the base has none."""
        before = float(self.base[row])
        return 100 * float(self.delta[row]) / before if before else None

    def ratio(self, row: int) -> float | None:
        """Target over base; None where the base has none."""
        before = float(self.base[row])
        return float(self.target[row]) / before if before else None


@dataclass(frozen=True, slots=True)
class Side:
    """One trace of the two: its costs, and where they went."""

    costs: TreeCosts
    row_of: I64
    """By node of the costs: the row that counts it, -1 without one."""
    frame: I32
    """By row: its frame in `costs.frames`, -1 without one."""
    node: I32
    """By row: its node in the trace's call-path tree (of tables: the first one), -1 without."""

    def place(self, row: int) -> tuple[str | None, int | None]:
        """File and line of the row, where they are known."""
        frame = int(self.frame[row])
        if frame < 0:
            return None, None
        return self.costs.frames.files[frame], self.costs.frames.lines[frame]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Rows in pre-order; of a table all are roots. Columns of one length."""

    names: tuple[str, ...]
    """Of the target; of the base where a row is in the base only."""
    base_names: tuple[str | None, ...]
    """Where they differ."""
    layer: U8
    parent: I32
    last: I32
    """The last row below: a row's subtree is [row, last]."""
    match: tuple[Match, ...]
    metrics: Mapping[Metric, MetricChange]
    """Those measured on both sides, each worked out when first asked for."""
    missing: Mapping[Metric, str]
    """Why the others are not compared."""
    base: Side
    target: Side
    per_step: bool
    no_intervals: str | None
    """Why nothing tells a change from chance; None where the steps do."""
    lacking: str | None
    """Why there are no pairs: a trace that has no such rows; None where both have."""
    floor_ns: float
    limits: CompareLimits

    def __len__(self) -> int:
        return len(self.names)

    @property
    def base_node(self) -> I32:
        """Node of the base's call-path tree, -1 without one."""
        return self.base.node

    @property
    def target_node(self) -> I32:
        return self.target.node

    def beyond_floor(self, metric: Metric) -> Flags:
        """Rows whose change is large enough to be worth a word, chance or not."""
        size = np.abs(self.metrics[metric].delta)
        found: Flags = size >= self.floor_ns if metric in TIMES else size > 0
        return found

    def sure(self, metric: Metric) -> Flags:
        """Rows whose change is beyond floor and chance; none where nothing can tell chance."""
        found: Flags = self.beyond_floor(metric) & ~self.metrics[metric].within_noise
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

    def steps_of(self, metric: Metric, row: int) -> tuple[I64, I64]:
        """What the row and all below it cost in every single step, base and target: the values
        whose means are compared. Of a run one value each."""
        rows = np.zeros(len(self), np.bool_)
        rows[row : self.last[row] + 1] = True
        return self.steps_where(metric, rows)

    def steps_where(self, metric: Metric, rows: Flags) -> tuple[I64, I64]:
        """What the rows cost themselves in every single step, all together, base and target."""
        return _in_steps(self.base, metric, rows), _in_steps(self.target, metric, rows)


def _in_steps(side: Side, metric: Metric, rows: Flags) -> I64:
    entries = side.costs.values[metric]
    at = side.row_of[entries.node]
    inside = at >= 0
    inside[inside] = rows[at[inside]]
    found = np.zeros(len(side.costs.rank), np.int64)
    np.add.at(found, entries.step[inside], entries.value[inside])
    return found


@dataclass(frozen=True, slots=True)
class Compare:
    """Two traces side by side."""

    paths: SideBySide
    """Their call paths as one tree."""
    kernels: SideBySide
    """GPU work by name."""
    operations: SideBySide
    """Operators, modules and compiled operations by name: host time is their own, GPU time that of
    the work launched in them and in none inside, so that both sum to the whole."""
    ranges: SideBySide
    """Annotations (NVTX ranges, user annotations) by name, likewise."""
    calls: SideBySide
    """API calls by name, likewise."""
    collectives: SideBySide
    """Communication kernels by collective, type, size and group; by name where these were not
    recorded."""

    @property
    def parts(self) -> Mapping[str, SideBySide]:
        """By title, the tree first."""
        return {
            "Call paths": self.paths,
            "GPU work by name": self.kernels,
            "Operations by name": self.operations,
            "Ranges by name": self.ranges,
            "API calls by name": self.calls,
            "Collectives": self.collectives,
        }
