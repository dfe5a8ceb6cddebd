"""What changed between two traces, per step: times, operations, CUDA calls, kernels.

Whole tables are compared; nothing is cut before. The baseline comes first everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from .change import Change, CompareLimits, Status, change, disagree, noise_of
from .step_table import Samples, StepTable

if TYPE_CHECKING:
    from .step_profile import StepProfile
    from .step_table import F64, I32, I64, U8, Flags


@dataclass(frozen=True, slots=True)
class TableChange:
    """Two tables of operations side by side, one row a name and place; the largest change first.

    Times are ns per step, means over ranks. All columns have one length.
    """

    names: tuple[str, ...]
    layer: U8
    other_thread: Flags
    baseline_row: I32
    """Of the baseline's table, -1 where it has none."""
    target_row: I32
    baseline_ns: F64
    """0 where the baseline has none."""
    target_ns: F64
    baseline_calls: F64
    target_calls: F64
    self_delta_ns: F64
    noise_ns: F64
    """Infinite with too few steps."""
    sure: Flags
    """Beyond floor and noise."""
    status: tuple[Status, ...]
    floor_ns: float
    baseline: StepTable
    target: StepTable

    def __len__(self) -> int:
        return len(self.names)

    @property
    def delta_ns(self) -> F64:
        return self.target_ns - self.baseline_ns

    def delta_percent(self, row: int) -> float | None:
        """None where the baseline has none."""
        before = float(self.baseline_ns[row])
        return 100 * (float(self.target_ns[row]) - before) / before if before else None

    def mark(self, row: int) -> str:
        """`+` or `-` for an unchanged row that differs beyond floor and noise."""
        if self.status[row] is not Status.UNCHANGED or not self.sure[row]:
            return ""
        return "+" if self.target_ns[row] > self.baseline_ns[row] else "-"

    def rows_of(self, *statuses: Status) -> list[int]:
        return [row for row, status in enumerate(self.status) if status in statuses]

    def place(self, row: int) -> str:
        """Where the operation runs in the target, or did in the baseline."""
        if self.target_row[row] >= 0:
            return self.target.place(int(self.target_row[row]))
        return self.baseline.place(int(self.baseline_row[row]))

    def node(self, row: int) -> tuple[int, bool]:
        """The heaviest context of the row, and whether it is one of the target's tree."""
        if self.target_row[row] >= 0:
            return int(self.target.node[self.target_row[row]]), True
        return int(self.baseline.node[self.baseline_row[row]]), False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two traces with equal work, step by step."""

    baseline: StepProfile
    target: StepProfile
    limits: CompareLimits
    wall: Change
    duration: Change
    """Of the steps that the wall is of, so that duration + gap = wall on each side."""
    gap: Change
    operations: TableChange | None
    """Annotations and operators, without the step ranges; None where a side has none."""
    calls: TableChange | None
    """CUDA calls."""
    kernels: TableChange | None
    """GPU work."""

    @property
    def explained_ns(self) -> float | None:
        """Sum of the changes of self time on the step's thread."""
        tables = [t for t in (self.operations, self.calls) if t is not None]
        if not tables:
            return None
        return sum(float(t.self_delta_ns[~t.other_thread].sum()) for t in tables)

    @property
    def unattributed_ns(self) -> float | None:
        """The part of the change of wall per step that no listed operation explains."""
        explained = self.explained_ns
        return None if explained is None else self.wall.delta - explained

    @property
    def unattributed_gap_ns(self) -> float | None:
        return _difference(self.baseline.unattributed_gap_ns, self.target.unattributed_gap_ns)

    @property
    def unattributed_step_ns(self) -> float | None:
        return _difference(self.baseline.unattributed_step_ns, self.target.unattributed_step_ns)


def compare_profiles(
    baseline: StepProfile, target: StepProfile, limits: CompareLimits | None = None
) -> Comparison | None:
    """The comparison; None when a side has no two consecutive steady steps."""
    limits = limits or CompareLimits()
    wall = change(baseline.wall, target.wall, limits)
    duration = change(baseline.duration, target.duration, limits)
    gap = change(baseline.gap, target.gap, limits)
    if wall is None or duration is None or gap is None:
        return None
    floor = limits.floor_of(wall.baseline)
    operations = calls = kernels = None
    if baseline.host is not None and target.host is not None:
        operations = compare_tables(
            baseline.host, _operations(baseline.host), target.host, _operations(target.host),
            floor, limits,
        )  # fmt: skip
        calls = compare_tables(
            baseline.host, _calls(baseline.host), target.host, _calls(target.host), floor, limits
        )
    if baseline.gpu is not None and target.gpu is not None:
        kernels = compare_tables(
            baseline.gpu, _all(baseline.gpu), target.gpu, _all(target.gpu), floor, limits
        )
    return Comparison(
        baseline=baseline,
        target=target,
        limits=limits,
        wall=wall,
        duration=duration,
        gap=gap,
        operations=operations,
        calls=calls,
        kernels=kernels,
    )


def _operations(table: StepTable) -> I64:
    return np.flatnonzero((table.layer != Layer.API) & ~table.is_step)


def _calls(table: StepTable) -> I64:
    return np.flatnonzero(table.layer == Layer.API)


def _all(table: StepTable) -> I64:
    return np.arange(len(table))


def _difference(baseline: float | None, target: float | None) -> float | None:
    return None if baseline is None or target is None else target - baseline


def compare_tables(
    baseline: StepTable,
    baseline_rows: I64,
    target: StepTable,
    target_rows: I64,
    floor_ns: float,
    limits: CompareLimits,
) -> TableChange:
    """Chosen rows of two tables, matched by layer, name and thread."""
    keys: dict[tuple[int, str, bool], int] = {}
    at: list[I32] = []
    for table, rows in ((baseline, baseline_rows), (target, target_rows)):
        numbers: list[int] = rows.tolist()
        found = [
            keys.setdefault(
                (int(table.layer[row]), table.names[row], bool(table.other_thread[row])), len(keys)
            )
            for row in numbers
        ]
        at.append(np.array(found, np.int32))
    old_row, new_row = (np.full(len(keys), -1, np.int32) for _ in at)
    old_row[at[0]] = baseline_rows
    new_row[at[1]] = target_rows
    old, new = _spread(baseline.total, old_row), _spread(target.total, new_row)
    noise = noise_of(old, new, limits)
    delta = new.mean - old.mean
    sure = (np.abs(delta) >= floor_ns) & (np.abs(delta) > noise)
    mixed = disagree(old, new, floor_ns, limits)
    status = statuses(old.mean, new.mean, old_row, new_row, sure, mixed, limits)
    self_delta = _pick(target.self_per_step_ns, new_row) - _pick(baseline.self_per_step_ns, old_row)
    layer, name, other = (list(column) for column in zip(*keys, strict=True)) if keys else ([],) * 3
    order = np.lexsort((np.array(name, dtype=object), -np.abs(delta)))
    rows_in_order: list[int] = order.tolist()
    return TableChange(
        names=tuple(name[i] for i in rows_in_order),
        layer=np.array(layer, np.uint8)[order],
        other_thread=np.array(other, np.bool_)[order],
        baseline_row=old_row[order],
        target_row=new_row[order],
        baseline_ns=old.mean[order],
        target_ns=new.mean[order],
        baseline_calls=_pick(baseline.calls_per_step, old_row)[order],
        target_calls=_pick(target.calls_per_step, new_row)[order],
        self_delta_ns=self_delta[order],
        noise_ns=noise[order],
        sure=sure[order],
        status=tuple(status[i] for i in rows_in_order),
        floor_ns=floor_ns,
        baseline=baseline,
        target=target,
    )


def statuses(
    old_ns: F64,
    new_ns: F64,
    old_row: I32,
    new_row: I32,
    sure: Flags,
    mixed: Flags,
    limits: CompareLimits,
) -> list[Status]:
    delta = new_ns - old_ns
    rules: tuple[tuple[Status, Flags], ...] = (
        (Status.RANK_DEPENDENT, mixed),
        (Status.NEW, sure & (old_row < 0)),
        (Status.REMOVED, sure & (new_row < 0)),
        (Status.REGRESSION, sure & (delta > limits.regression_percent / 100 * old_ns)),
        (Status.IMPROVED, sure & (delta < -limits.improvement_percent / 100 * old_ns)),
    )
    code = np.select([held for _, held in rules], list(range(len(rules))), len(rules))
    names = [*(status for status, _ in rules), Status.UNCHANGED]
    return [names[i] for i in code.tolist()]


def _pick(values: F64, row: I32) -> F64:
    """0 where there is no row."""
    picked: F64 = np.concatenate((values, [0.0]))[row]
    return picked


def _spread(samples: Samples, row: I32) -> Samples:
    """In the order of the compared rows; what a side lacks took 0 in every step."""
    zeros = np.zeros((1, len(samples.rank_count)))
    return Samples(
        mean=_pick(samples.mean, row),
        variance=_pick(samples.variance, row),
        count=samples.count,
        rank_mean=np.concatenate((samples.rank_mean, zeros))[row],
        rank_variance=np.concatenate((samples.rank_variance, zeros))[row],
        rank_count=samples.rank_count,
    )
