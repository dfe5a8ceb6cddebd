"""Which compared step of which rank an event belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .step_table import I32, I64, Series

if TYPE_CHECKING:
    from ..queries.step_events import CpuSamples, HostEvents, Place
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
        self.rows = rows
        """Of `steps`."""
        self.start_ns = steps.start_ns[rows]
        self.end_ns = steps.end_ns[rows]
        self.next_ns = steps.start_ns[rows + 1]
        self.rank = steps.rank[rows]
        self.per_rank = np.array([len(r) for r in rows_by_rank], np.int64)
        ends = np.cumsum(self.per_rank)
        self.ranks = [slice(int(e - n), int(e)) for e, n in zip(ends, self.per_rank, strict=True)]
        self.on_device = any(rank.lane is None for rank in steps.ranks)
        """True: the steps were found on the GPU, and no thread is known to run them."""

    @property
    def count(self) -> int:
        return len(self.start_ns)

    @property
    def window_ns(self) -> tuple[int, int]:
        """From the first start to the last next start; only with at least one step."""
        return int(self.start_ns.min()), int(self.next_ns.max())

    def of_host(self, events: HostEvents | CpuSamples, process_of: dict[int, int]) -> I32:
        """For each event 2 * slot, + 1 where it begins in the gap; -1 outside all steps.

        A thread that runs no steps belongs to the first rank of its process. Where the steps are
        start-end ranges, which no thread carries, all threads of the process run them.
        """
        place = np.full(len(events.lane), -1, np.int32)
        own = {rank.lane: i for i, rank in enumerate(self.steps.ranks)}
        first: dict[int, int] = {}
        for i, known in enumerate(self.steps.ranks):
            if known.process is not None:
                first.setdefault(known.process, i)
        for lane, low, high in _runs(events):
            rank = own.get(lane, first.get(process_of.get(lane, -1), -1))
            if rank >= 0:
                other = lane not in own and self.steps.ranks[rank].lane in process_of
                place[low:high] = self._of_run(events.start_ns[low:high], rank, other=other)
        return place

    def _of_run(self, start_ns: I64, rank: int, *, other: bool) -> I32:
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
        place: I32 = np.repeat(np.concatenate(([-1], codes)).astype(np.int32), counts)
        return place

    def of_devices(self, work: Place) -> I32:
        """The same for GPU work by where and when it ran, for steps that were found on the GPU."""
        found = np.full(len(work.launch), -1, np.int32)
        for i, rank in enumerate(self.steps.ranks):
            rows = np.flatnonzero(np.isin(work.device, rank.devices))
            order = rows[np.argsort(work.start_ns[rows], kind="stable")]
            found[order] = self._of_run(work.start_ns[order], i, other=False)
        return found

    def series(self, slot: I32 | I64, value: I64, *, others: bool = False) -> Series:
        """Sum of `value` by step; slot < 0 is left out, `others`: with the other threads."""
        chosen = slot >= 0 if others else (slot >= 0) & ((slot & 1) == 0)
        values = np.zeros(self.count, np.int64)
        np.add.at(values, slot[chosen] >> 1, value[chosen])
        return Series(tuple(values[r] for r in self.ranks))


def _runs(events: HostEvents | CpuSamples) -> Iterator[tuple[int, int, int]]:
    """(lane, first row, last row + 1) of each stretch of one lane that is sorted by start."""
    if not len(events.lane):
        return
    change = (np.diff(events.lane) != 0) | (np.diff(events.start_ns) < 0)
    cuts = [0, *(np.flatnonzero(change) + 1).tolist(), len(events.lane)]
    for low, high in pairwise(cuts):
        yield int(events.lane[low]), low, high
