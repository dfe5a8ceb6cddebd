"""Who comes late to the collectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .collective_timing import Timed


@dataclass(frozen=True, slots=True)
class Straggler:
    """How a rank comes to its collectives. The one that waits least is the one the others wait
    for."""

    member: int
    rank: int
    total_wait_ns: int
    times_last: int
    times_first: int
    collectives: int
    """That no rank could leave before all had come, with several ranks in the trace."""
    total_dur_ns: int
    """Of all its communication kernels."""
    wait_est_ns: int
    clock_offset_ns: int

    @property
    def mean_wait_ns(self) -> float | None:
        return self.total_wait_ns / self.collectives if self.collectives else None


def stragglers(of: Timed) -> list[Straggler]:
    """Every rank, the one that waits least first. Where several hosts have clocks of their own,
    waits are judged without them (`wait_est_ns`)."""
    if not of.found.members:
        return []
    rows = np.flatnonzero(of.implicit & (of.present.sum(axis=1) > 1))
    present = of.present[rows]
    waits = (of.wait_est_ns if of.several_clocks else of.wait_ns)[rows]
    most, least = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    last = np.where(present, waits, most).argmin(axis=1)
    first = np.where(present, waits, least).argmax(axis=1)
    offset = {m: clock.offset_ns for clock in of.clocks for m in clock.members}
    dur = of.found.dur_ns
    found: list[Straggler] = []
    for number, member in enumerate(of.found.members):
        if member.rank is None:
            continue
        here = present[:, number]
        found.append(
            Straggler(
                member=number,
                rank=member.rank,
                total_wait_ns=int(of.wait_ns[rows, number][here].sum()),
                times_last=int((last == number).sum()),
                times_first=int((first == number).sum()),
                collectives=int(here.sum()),
                total_dur_ns=int(dur[of.found.member == number].sum()),
                wait_est_ns=int(of.wait_est_ns[rows, number][here].sum()),
                clock_offset_ns=offset[number],
            )
        )
    by_duration = of.several_clocks

    def lateness(one: Straggler) -> tuple[int, int]:
        return one.wait_est_ns if by_duration else one.total_wait_ns, one.rank

    return sorted(found, key=lateness)
