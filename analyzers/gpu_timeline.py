"""How the time of a GPU splits into computation, exposed communication, exposed copies and idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import GpuKind
from ..native import IntervalSets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.report_events import Work

    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GpuTimeline:
    """Times of one device in ns. computation + exposed communication + exposed copies = busy;
    busy + idle = total, exactly."""

    computation_ns: int
    exposed_comm_ns: int
    exposed_memcpy_ns: int
    busy_ns: int
    micro_idle_ns: int
    """Of the gaps shorter than the limit; 0 without one."""
    macro_idle_ns: int
    total_ns: int
    """From the first start to the last end."""
    comm_ns: int
    """Overlapped part included, here and in the next."""
    memcpy_ns: int

    @property
    def idle_ns(self) -> int:
        return self.micro_idle_ns + self.macro_idle_ns


def gpu_timeline(work: Work, comm: Mask, micro_idle_ns: int = 0) -> GpuTimeline:
    """Split of the work of one device, by start; `comm` marks its communication kernels.

    Where classes overlap, computation takes the instant before communication, and that before
    copies. Memory sets and whole graph replays are computation. Work without length adds nothing.
    """
    copy = (work.kind == GpuKind.MEMCPY) & ~comm
    comp, communication, copies, everything = (
        _union(work, mask) for mask in (~(comm | copy), comm, copy, np.ones_like(comm))
    )
    busy = _length(everything)
    gaps, total = _gaps(work)
    micro = int(gaps[gaps < micro_idle_ns].sum())
    return GpuTimeline(
        computation_ns=_length(comp),
        exposed_comm_ns=_length(communication - comp),
        exposed_memcpy_ns=_length(copies - comp - communication),
        busy_ns=busy,
        micro_idle_ns=micro,
        macro_idle_ns=int(gaps.sum()) - micro,
        total_ns=total,
        comm_ns=_length(communication),
        memcpy_ns=_length(copies),
    )


@dataclass(frozen=True, slots=True)
class PartTimes:
    """What of each time only some of the work explains, in ns: nothing else of the class covers
    it."""

    computation_ns: int
    exposed_comm_ns: int
    exposed_memcpy_ns: int
    busy_ns: int
    comm_ns: int
    memcpy_ns: int


def recompute_times(work: Work, comm: Mask, marked: Mask) -> PartTimes:
    """The part of the marked work. Classes overlap as in `gpu_timeline`."""
    copy = (work.kind == GpuKind.MEMCPY) & ~comm
    comp = ~(comm | copy)

    def alone(of: Mask, covered: Mask) -> int:
        # |(marked - other) - covered| = |all or covered| - |other or covered|
        return _length(_union(work, of | covered)) - _length(_union(work, of & ~marked | covered))

    none, everything = np.zeros_like(comm), np.ones_like(comm)
    return PartTimes(
        computation_ns=alone(comp, none),
        exposed_comm_ns=alone(comm, comp),
        exposed_memcpy_ns=alone(copy, comp | comm),
        busy_ns=alone(everything, none),
        comm_ns=alone(comm, none),
        memcpy_ns=alone(copy, none),
    )


def _gaps(work: Work) -> tuple[NDArray[np.int64], int]:
    """Lengths of the pauses, and the time from the first start to the last end. Work without
    length parts a pause."""
    if not len(work.id):
        return np.zeros(0, np.int64), 0
    reached = np.maximum.accumulate(work.end_ns)
    gaps = work.start_ns[1:] - reached[:-1]
    return gaps[gaps > 0], int(reached[-1] - work.start_ns[0])


def _union(work: Work, mask: Mask) -> IntervalSets:
    start, end = work.start_ns[mask], work.end_ns[mask]
    return IntervalSets(np.zeros(len(start), np.int32), start, end, 1)


def _length(sets: IntervalSets) -> int:
    return int(sets.lengths()[0])
