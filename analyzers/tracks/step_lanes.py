"""Lanes of the steps: one for each rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .line import Line, lines_of
from .track import Sort, Track

if TYPE_CHECKING:
    from ..step_ranks import Rank
    from ..steps import Steps

FIRST_NAME = -2
"""Names of steps have ids from here downwards: those of the store are not negative."""


def step_lanes(steps: Steps, tracks: Sequence[Track]) -> Iterator[tuple[Track, list[Line]]]:
    """Ids of the events are rows of the steps; the k-th row has the name `FIRST_NAME` - k."""
    for place, rank in enumerate(steps.ranks):
        rows = np.flatnonzero(steps.rank == place).astype(np.int32)
        owner = rank.label if len(steps.ranks) > 1 else ""
        track = Track(Sort.STEPS, _process(rank, tracks), None, owner, ())
        start, end = steps.start_ns[rows], steps.end_ns[rows]
        yield track, lines_of(start, end, FIRST_NAME - rows, 0, rows)


def step_names(steps: Steps) -> Mapping[int, str]:
    """Number of each step as the trace tells it, else the place in their order."""
    numbers = np.where(steps.number < 0, steps.iteration, steps.number).tolist()
    return {FIRST_NAME - row: f"step {number}" for row, number in enumerate(numbers)}


def _process(rank: Rank, tracks: Sequence[Track]) -> int | None:
    """Where the trace does not tell it: the one whose work ran on the device of the steps."""
    if rank.process is not None:
        return rank.process
    owners = (track.process for track in tracks if track.device in rank.devices)
    return next((process for process in owners if process is not None), None)
