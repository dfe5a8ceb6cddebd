"""Who waits for whom over time: a table of ranks by collectives, summed up to a width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .collective_timing import Timed


@dataclass(frozen=True, slots=True, eq=False)
class WaitMap:
    """Collectives that nobody could leave before all had come, in the order of their starts."""

    members: tuple[int, ...]
    """Rows: indexes into `Collectives.members`, by rank."""
    mean_wait_ns: NDArray[np.float64]
    """By member and piece of the order; NaN where the member takes part in none of the piece."""
    collectives: int
    """In all pieces together."""
    most_ns: float
    """The largest of `mean_wait_ns`."""
    worst: tuple[int, ...]
    """Of each member its event in the collective with the most skew, an index into the
    collectives."""
    by_duration: bool
    """Waits are told by durations, since the ranks have clocks of their own."""


def wait_map(of: Timed, pieces: int) -> WaitMap | None:
    """Waits in at most `pieces` pieces of as many collectives each; None where no collective has
    several ranks in the trace."""
    rows = np.flatnonzero(of.implicit & (of.present.sum(axis=1) > 1))
    if not len(rows):
        return None
    pieces = min(pieces, len(rows))
    piece = np.arange(len(rows)) * pieces // len(rows)
    skew = of.skew_start_ns()[rows]
    table = (of.wait_est_ns if of.several_clocks else of.wait_ns)[rows]
    members: list[int] = []
    means: list[NDArray[np.float64]] = []
    worst: list[int] = []
    for number, member in enumerate(of.found.members):
        here = of.present[rows, number]
        if member.rank is None or not here.any():
            continue
        total = np.bincount(piece[here], table[here, number].astype(np.float64), pieces)
        count = np.bincount(piece[here], minlength=pieces)
        members.append(number)
        means.append(np.where(count > 0, total / np.maximum(count, 1), np.nan))
        row = int(rows[here][skew[here].argmax()])
        worst.append(int(of.matched.event[row, number]))
    mean = np.array(means)
    return WaitMap(
        tuple(members),
        mean,
        len(rows),
        float(np.nanmax(mean)),
        tuple(worst),
        of.several_clocks,
    )
