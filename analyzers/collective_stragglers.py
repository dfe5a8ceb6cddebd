"""Who comes late to the collectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from .straggler import LATE_NS

if TYPE_CHECKING:
    from .collective_timing import Timed

_CLEAR: Final = 0.5
"""A rank that is the last in more than this share of the collectives may stand out."""


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
    judged_wait_ns: int
    """The wait that tells who is late: `total_wait_ns`, of several clocks `wait_est_ns`."""
    late_ns: float | None
    """Median time by which it comes after the last of the others, where it is the last one; None
    where it never is."""

    @property
    def stands_out(self) -> bool:
        """It is often the last, and by more than chance orders the ranks."""
        return self.often_last and self.late_ns is not None and self.late_ns > LATE_NS

    @property
    def often_last(self) -> bool:
        """It is the last in most collectives."""
        return self.times_last > _CLEAR * self.collectives

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
    ordered = np.sort(np.where(present, waits, most), axis=1)
    late = ordered[:, 1] - ordered[:, 0] if len(rows) else np.empty(0, np.int64)
    offset = {m: clock.offset_ns for clock in of.clocks for m in clock.members}
    dur = of.found.dur_ns
    found: list[Straggler] = []
    for number, member in enumerate(of.found.members):
        if member.rank is None:
            continue
        here = present[:, number]
        total = int(of.wait_ns[rows, number][here].sum())
        by_duration = int(of.wait_est_ns[rows, number][here].sum())
        found.append(
            Straggler(
                member=number,
                rank=member.rank,
                total_wait_ns=total,
                times_last=int((last == number).sum()),
                times_first=int((first == number).sum()),
                collectives=int(here.sum()),
                total_dur_ns=int(dur[of.found.member == number].sum()),
                wait_est_ns=by_duration,
                clock_offset_ns=offset[number],
                judged_wait_ns=by_duration if of.several_clocks else total,
                late_ns=float(np.median(late[last == number])) if (last == number).any() else None,
            )
        )
    return sorted(found, key=lambda one: (one.judged_wait_ns, one.rank))
