"""How the time of a GPU splits into computation, exposed communication, exposed copies and idle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.gpu_split import gpu_class, gpu_split
from ..ingest.model import GpuClass
from ..native import IntervalSets, union_ns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.report_events import Work

    I64 = NDArray[np.int64]
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


def gpu_timeline(
    work: Work,
    comm: Mask,
    micro_idle_ns: int = 0,
    *,
    within: tuple[int, int] | None = None,
    rows: Mask | None = None,
) -> GpuTimeline:
    """Split of the work of one device, by start; `comm` marks its communication kernels. The
    classes are those of the store: `ingest.gpu_split`. Work without length adds nothing.

    `within`: of a window instead, with the work `rows` cut at its edges."""
    wanted = slice(None) if rows is None else rows
    start, end = work.start_ns[wanted], work.end_ns[wanted]
    of = gpu_class(work.kind, comm)[wanted]
    if within is not None:
        start, end = (np.clip(values, *within) for values in (start, end))
    split = gpu_split(of, start, end, within)
    computation, exposed_comm, exposed_memcpy, idle = split.tolist()
    gaps = _gaps(start, end, within)
    micro = int(gaps[gaps < micro_idle_ns].sum())
    communication, copies = (
        int(union_ns(np.where(of == code, 0, -1).astype(np.int32), start, end, 1)[0])
        for code in (GpuClass.COMM_EXPOSED, GpuClass.COPY_EXPOSED)
    )
    return GpuTimeline(
        computation_ns=computation,
        exposed_comm_ns=exposed_comm,
        exposed_memcpy_ns=exposed_memcpy,
        busy_ns=computation + exposed_comm + exposed_memcpy,
        micro_idle_ns=micro,
        macro_idle_ns=idle - micro,
        total_ns=int(split.sum()),
        comm_ns=communication,
        memcpy_ns=copies,
    )


def added(parts: Iterable[GpuTimeline]) -> GpuTimeline:
    """Times of several windows that do not overlap, together."""
    totals = [0] * len(fields(GpuTimeline))
    for part in parts:
        totals = [total + value for total, value in zip(totals, astuple(part), strict=True)]
    return GpuTimeline(*totals)


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
    of = gpu_class(work.kind, comm)
    comp, copy = of == GpuClass.COMPUTE, of == GpuClass.COPY_EXPOSED

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


def _gaps(start: I64, end: I64, within: tuple[int, int] | None) -> I64:
    """Lengths of the pauses, those at the edges of a window included. Work without length parts a
    pause."""
    if within is not None:
        start = np.concatenate([[within[0]], start, [within[1]]])
        end = np.concatenate([[within[0]], end, [within[1]]])
    gaps = start[1:] - np.maximum.accumulate(end)[:-1]
    return gaps[gaps > 0]


def _union(work: Work, mask: Mask) -> IntervalSets:
    start, end = work.start_ns[mask], work.end_ns[mask]
    return IntervalSets(np.zeros(len(start), np.int32), start, end, 1)


def _length(sets: IntervalSets) -> int:
    return int(sets.lengths()[0])
