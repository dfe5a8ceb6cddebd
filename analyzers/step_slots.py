"""Which compared step of which rank an event belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..native import group_stats
from .step_table import I64, Series

if TYPE_CHECKING:
    from ..queries.step_events import GpuWork, HostEvents
    from .steps import Steps


def by_rank(steps: Steps, rows: I64) -> list[I64]:
    return [rows[steps.rank[rows] == rank] for rank in range(len(steps.ranks))]


class Slots:
    """Numbers for (rank, compared step, on another thread). Columns of the compared steps are
    sorted by rank and start; slot = 2 * row, + 1 on another thread."""

    def __init__(self, steps: Steps) -> None:
        rows_by_rank = by_rank(steps, steps.pairs)
        rows = np.concatenate([*rows_by_rank, np.empty(0, np.int64)])
        self.steps = steps
        self.start_ns = steps.start_ns[rows]
        self.end_ns = steps.end_ns[rows]
        self.next_ns = steps.start_ns[rows + 1]
        self.rank = steps.rank[rows]
        self.per_rank = np.array([len(r) for r in rows_by_rank], np.int64)
        ends = np.cumsum(self.per_rank)
        self.ranks = [slice(int(e - n), int(e)) for e, n in zip(ends, self.per_rank, strict=True)]
        self.by_thread = all(rank.lane is not None for rank in steps.ranks)

    @property
    def count(self) -> int:
        return len(self.start_ns)

    def of_host(self, events: HostEvents, process_of: dict[int, int]) -> I64:
        """For each event 2 * slot, + 1 where it begins in the gap; -1 outside all steps.

        A thread that runs no steps belongs to the first rank of its process.
        """
        place = np.full(len(events.id), -1, np.int64)
        own = {rank.lane: i for i, rank in enumerate(self.steps.ranks)}
        first: dict[int, int] = {}
        for i, rank in enumerate(self.steps.ranks):
            first.setdefault(rank.process, i)
        for lane, low, high in _runs(events):
            process = process_of.get(lane, -1)
            rank = own.get(lane, first.get(process, -1) if process >= 0 else -1)
            if rank >= 0:
                other = lane not in own
                place[low:high] = self._of_run(events.start_ns[low:high], rank, other=other)
        return place

    def _of_run(self, start_ns: I64, rank: int, *, other: bool) -> I64:
        window = self.ranks[rank]
        # Start, end and next start of each step in turn divide the sorted events.
        edges = np.stack(
            (
                self.start_ns[window],
                np.minimum(self.end_ns[window], self.next_ns[window]),
                self.next_ns[window],
            ),
            axis=1,
        ).ravel()
        steps = len(edges) // 3
        slot = 2 * (window.start + np.arange(steps)) + other
        codes = np.stack((2 * slot, 2 * slot + 1, np.full(steps, -1)), axis=1).ravel()
        cuts = np.searchsorted(start_ns, edges)
        counts = np.diff(np.concatenate(([0], cuts, [len(start_ns)])))
        place: I64 = np.repeat(np.concatenate(([-1], codes)).astype(np.int64), counts)
        return place

    def of_gpu(self, work: GpuWork, events: HostEvents, place: I64) -> I64:
        """For each GPU operation as `of_host` of its launch, or of itself where no thread runs the
        steps; -1 outside all steps."""
        if self.by_thread:
            size = int(max(work.launch.max(initial=0), events.id.max(initial=0))) + 2
            place_of = np.full(size, -1, np.int64)  # the last one stands for no launch
            place_of[events.id] = place
            return place_of[work.launch]
        found = np.full(len(work.launch), -1, np.int64)
        for i, rank in enumerate(self.steps.ranks):
            rows = np.flatnonzero(np.isin(work.device, rank.devices))
            order = rows[np.argsort(work.start_ns[rows], kind="stable")]
            found[order] = self._of_run(work.start_ns[order], i, other=False)
        return found

    def series(self, slot: I64, weight: I64 | None = None, *, others: bool = False) -> Series:
        """Sum of `weight` (or the number) of the rows of each step; slot < 0 is left out."""
        chosen = slot >= 0 if others else (slot >= 0) & ((slot & 1) == 0)
        row = slot[chosen] >> 1
        if weight is None:
            weight = np.ones(len(slot), np.int64)
        stats = group_stats(row, np.ascontiguousarray(weight[chosen]))
        values = np.zeros(self.count, np.int64)
        values[stats.group] = stats.sum
        return Series(tuple(values[r] for r in self.ranks))


def _runs(events: HostEvents) -> Iterator[tuple[int, int, int]]:
    """(lane, first row, last row + 1) of each stretch of one kind and lane: sorted by start."""
    if not len(events.id):
        return
    change = (np.diff(events.lane) != 0) | (np.diff(events.kind) != 0)
    cuts = [0, *(np.flatnonzero(change) + 1).tolist(), len(events.id)]
    for low, high in pairwise(cuts):
        yield int(events.lane[low]), low, high
