"""The repeating kernels of a model's layers: a small pause per layer adds up over all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..queries.ops import Sequences, kernel_names, kernels_launched
from .host_overhead import HostOverhead
from .steps import Label, Steps

I64 = NDArray[np.int64]
Flags = NDArray[np.bool_]

_FEWEST_REPEATS = 3
_NEARLY_BEST = 0.9
_LONGEST_PERIOD = 4_000
_COMPARISONS = 200_000_000
"""Bounds the search in steps of millions of kernels: their layers are short beside them."""


@dataclass(frozen=True, slots=True)
class Position:
    """One kernel of the pattern; times over all repeats."""

    name: str
    node: int | None
    """Path node of its first occurrence."""
    kernel_ns: int
    gap_ns: int
    """Pauses of the device right before it."""


@dataclass(frozen=True, slots=True)
class KernelPattern:
    """The shortest sequence of kernels that repeats through most of a step."""

    device: int
    step_number: int
    """Of the step that was looked at, -1 where it has none."""
    start_ns: int
    end_ns: int
    repeats: int
    positions: tuple[Position, ...]
    coverage: float
    """Share of the step's kernels that belong to the pattern."""

    @property
    def gap_ns(self) -> int:
        """All pauses inside the pattern."""
        return sum(position.gap_ns for position in self.positions)

    def by_gap(self) -> list[Position]:
        """Positions, those with most pause first."""
        return sorted(self.positions, key=lambda position: -position.gap_ns)


def kernel_pattern(overhead: HostOverhead) -> KernelPattern | None:
    """The pattern of a typical steady step (median duration); None where there are no steps or
    their kernels do not repeat."""
    steps = overhead.steps
    row = _typical_step(steps)
    if row is None:
        return None
    rank = steps.ranks[int(steps.rank[row])]
    taking_part = {device.device for device in overhead.measured.taking_part}
    devices = [device for device in rank.devices if device in taking_part]
    if not devices:
        return None
    start, end = int(steps.start_ns[row]), int(steps.next_ns[row])
    kernels = kernels_launched(overhead.data.trace, devices[0], rank.process, start, end)
    found = repeating(kernels.name)
    if found is None:
        return None
    first, period, repeats = found
    return KernelPattern(
        device=devices[0],
        step_number=int(steps.number[row]),
        start_ns=start,
        end_ns=end,
        repeats=repeats,
        positions=_positions(overhead, kernels, first, period, repeats),
        coverage=period * repeats / len(kernels.name),
    )


def _typical_step(steps: Steps) -> int | None:
    rows = np.flatnonzero(steps.label == Label.STEADY)
    if not len(rows):
        return None
    order = np.argsort((steps.end_ns - steps.start_ns)[rows], kind="stable")
    return int(rows[order[len(rows) // 2]])


def repeating(names: NDArray[np.int32]) -> tuple[int, int, int] | None:
    """First place, length and number of repeats of the shortest sequence that repeats at least
    three times and covers nearly as much as any other; None where none does."""
    best: list[tuple[int, int, int]] = []
    longest = min(
        len(names) // _FEWEST_REPEATS, _LONGEST_PERIOD, _COMPARISONS // max(1, len(names))
    )
    for period in range(1, longest + 1):
        first, length = _longest_run(names[period:] == names[:-period])
        repeats = length // period + 1
        if repeats >= _FEWEST_REPEATS:
            best.append((first, period, repeats))
    if not best:
        return None
    most = max(period * repeats for _, period, repeats in best)
    return next(p for p in best if p[1] * p[2] >= _NEARLY_BEST * most)


def _longest_run(same: Flags) -> tuple[int, int]:
    """Start and length of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return 0, 0
    at = int(np.argmax(ends - starts))
    return int(starts[at]), int(ends[at] - starts[at])


def _positions(
    overhead: HostOverhead, kernels: Sequences, first: int, period: int, repeats: int
) -> tuple[Position, ...]:
    texts = kernel_names(overhead.data.trace)
    reach = np.maximum.accumulate(kernels.end_ns)
    before = np.concatenate([kernels.start_ns[:1], reach[:-1]])
    gap = np.maximum(kernels.start_ns - before, 0)
    rows = first + np.arange(period * repeats).reshape(repeats, period)
    kernel_ns = (kernels.end_ns - kernels.start_ns)[rows].sum(axis=0).tolist()
    gap_ns = gap[rows].sum(axis=0).tolist()
    return tuple(
        Position(
            name=texts[int(kernels.name[first + k])],
            node=int(node) if (node := kernels.node[first + k]) >= 0 else None,
            kernel_ns=kernel_ns[k],
            gap_ns=gap_ns[k],
        )
        for k in range(period)
    )
