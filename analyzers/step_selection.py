"""Some steps of a trace: their times one after the other, and what belongs to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .steps import Label, Steps

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Selection:
    """Iterations `first` to `last`, both included."""

    first: int
    last: int
    rank: int | None = None
    """Index into the ranks of the steps; None: all of them."""

    @property
    def count(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True, eq=False)
class StepSeries:
    """One entry an iteration, in order of time. Of several ranks: the mean of their times."""

    iteration: I32
    number: I64
    """As the text of the step says, -1 where it does not."""
    context: I32
    """Requests, -1 not known."""
    generation: I32
    phase: U8
    label: U8
    start_ns: I64
    """Of the rank that is first."""
    duration_ns: I64
    gap_ns: I64
    """To the rank's next step; negative where steps overlap, 0 where there is no next one."""
    has_next: Flags
    """The next step of the same run is known for every rank counted."""

    def __len__(self) -> int:
        return len(self.iteration)

    @property
    def wall_ns(self) -> I64:
        return self.duration_ns + self.gap_ns


def step_series(steps: Steps, rank: int | None = None) -> StepSeries:
    """Times of the iterations of one rank, or of all ranks together."""
    rows = np.arange(len(steps)) if rank is None else np.flatnonzero(steps.rank == rank)
    order = rows[np.lexsort((steps.rank[rows], steps.iteration[rows]))]
    iteration = steps.iteration[order]
    first = np.flatnonzero(np.diff(iteration, prepend=-1) != 0)
    many = np.diff(np.append(first, len(order)))
    follows = _follows(steps)
    gap = np.where(follows, steps.next_ns - steps.end_ns, 0)[order]
    duration = (steps.end_ns - steps.start_ns)[order]

    def mean(values: I64) -> I64:
        if not len(first):
            return values
        return np.add.reduceat(values, first) // many

    def least(values: I64) -> I64:
        return np.minimum.reduceat(values, first) if len(first) else values

    lead = order[first] if len(first) else order
    return StepSeries(
        iteration=steps.iteration[lead],
        number=steps.number[lead],
        context=steps.context[lead],
        generation=steps.generation[lead],
        phase=steps.phase[lead],
        label=steps.label[lead],
        start_ns=least(steps.start_ns[order]),
        duration_ns=mean(duration),
        gap_ns=mean(gap),
        has_next=least(follows[order].astype(np.int64)).astype(np.bool_),
    )


def rows_of(steps: Steps, selection: Selection) -> I64:
    """Rows of the steps that are selected."""
    inside = (steps.iteration >= selection.first) & (steps.iteration <= selection.last)
    if selection.rank is not None:
        inside &= steps.rank == selection.rank
    return np.flatnonzero(inside)


def narrowed(steps: Steps, selection: Selection) -> Steps:
    """The same steps, of which only the selected ones (and the next, which ends the last one's
    window) count as steady: per-step figures are then those of the selection."""
    rows = rows_of(steps, selection)
    label = np.full(len(steps), Label.OTHER, np.uint8)
    label[rows] = Label.STEADY
    after = rows[(rows + 1) < len(steps)] + 1
    after = after[steps.rank[after] == steps.rank[after - 1]]
    label[after] = Label.STEADY
    return replace(steps, label=label)


def span_ns(steps: Steps, selection: Selection) -> tuple[int, int] | None:
    """From the first start to the start of the step after the last one; None without rows."""
    rows = rows_of(steps, selection)
    if not len(rows):
        return None
    return int(steps.start_ns[rows].min()), int(steps.next_ns[rows].max())


def windows_of(steps: Steps, selection: Selection) -> tuple[tuple[int | None, int, int], ...]:
    """(process, start, end) of each rank: from its first selected step to the start of the step
    after its last one. Process None: it is not known, so the window holds for all."""
    rows = rows_of(steps, selection)
    found: dict[int | None, tuple[int, int]] = {}
    present: list[int] = np.unique(steps.rank[rows]).tolist()
    for index in present:
        own = rows[steps.rank[rows] == index]
        process = steps.ranks[index].process
        start, end = int(steps.start_ns[own].min()), int(steps.next_ns[own].max())
        if process in found:
            start, end = min(start, found[process][0]), max(end, found[process][1])
        found[process] = start, end
    return tuple((process, start, end) for process, (start, end) in found.items())


@dataclass(frozen=True, slots=True)
class MeanTimes:
    """Means over step ranges, in ns: of those whose next step is known, so that duration and gap
    sum to the wall time; where none is, of all."""

    iterations: int
    """All of them."""
    duration_ns: float
    gap_ns: float | None
    """None where no next step is known."""


def mean_times(steps: Steps, rows: I64) -> MeanTimes:
    """Of at least one row."""
    linked = rows[_follows(steps)[rows]]
    counted = linked if len(linked) else rows
    return MeanTimes(
        iterations=len(np.unique(steps.iteration[rows])),
        duration_ns=float((steps.end_ns - steps.start_ns)[counted].mean()),
        gap_ns=float((steps.next_ns - steps.end_ns)[linked].mean()) if len(linked) else None,
    )


def _follows(steps: Steps) -> Flags:
    """Which rows are followed by one of the same rank and run."""
    follows = np.zeros(len(steps), np.bool_)
    if len(steps) > 1:
        follows[:-1] = (steps.rank[1:] == steps.rank[:-1]) & (steps.run[1:] == steps.run[:-1])
    return follows
