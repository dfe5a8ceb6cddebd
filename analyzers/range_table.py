"""GPU work by the annotations (NVTX, record_function) around its launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import HostKind
from ..native import union_ns
from .op_groups import sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.report_events import Host, Work

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RangeTable:
    """One row for each text of annotations below which work of the device was launched, most GPU
    time first. A text within itself counts once, as its outermost range."""

    name: I32
    """`string.id`."""
    ranges: I64
    """With work of the device."""
    host_ns: I64
    """Durations of these ranges."""
    gpu_ns: I64
    """Union of the work launched below each range, summed over the ranges."""
    comm_ns: I64
    """The same for communication kernels."""
    direct_ns: I64
    """Union of the work for which the range is the innermost one, summed over the ranges."""
    events: I64
    """Pieces of work below the ranges."""


def range_table(work: Work, host: Host, comm: Mask) -> RangeTable:
    """Ranges that last on one thread. `comm` marks communication kernels."""
    is_range = host.kind == HostKind.ANNOTATION
    ranges, members, innermost = _below(work, host, is_range)
    rows, index = np.unique(ranges, return_inverse=True)
    group = index.astype(np.int32)
    start, end = work.start_ns[members], work.end_ns[members]
    gpu = union_ns(group, start, end, len(rows))
    only_comm = np.where(comm[members], group, -1).astype(np.int32)
    direct = np.where(innermost, group, -1).astype(np.int32)
    names, of_row = np.unique(host.name[rows], return_inverse=True)
    of_name = of_row.astype(np.int32)

    def total(values: NDArray[np.int64]) -> I64:
        return sums(of_name, values, len(names))

    table = RangeTable(
        name=names.astype(np.int32),
        ranges=np.bincount(of_name, minlength=len(names)),
        host_ns=total(host.dur_ns[rows]),
        gpu_ns=total(gpu),
        comm_ns=total(union_ns(only_comm, start, end, len(rows))),
        direct_ns=total(union_ns(direct, start, end, len(rows))),
        events=total(np.bincount(group, minlength=len(rows))),
    )
    order = np.lexsort((table.name, -table.gpu_ns))
    return RangeTable(**{field: getattr(table, field)[order] for field in RangeTable.__slots__})


def _below(work: Work, host: Host, is_range: Mask) -> tuple[I64, I64, Mask]:
    """Pairs of a range and a piece of work launched below it, and whether no other range lies
    between. Of ranges with one text around each other only the outermost is there."""
    at = np.where(work.launch >= 0, work.launch, work.op).astype(np.int64)
    event = np.flatnonzero(at >= 0)
    at = at[event]
    fresh = np.ones(len(at), bool)
    found: list[tuple[I64, I64, Mask]] = []
    while len(at):
        hit = is_range[at]
        found.append((at[hit], event[hit], fresh[hit]))
        fresh = fresh & ~hit
        at = host.parent[at].astype(np.int64)
        inside = at >= 0
        at, event, fresh = at[inside], event[inside], fresh[inside]
    if not any(len(rows) for rows, _, _ in found):
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, np.zeros(0, bool)
    ranges, events, innermost = (np.concatenate(parts) for parts in zip(*found, strict=True))
    # Found from the inside out: the last of equal (work, text) is the outermost.
    order = np.lexsort((np.arange(len(ranges)), host.name[ranges], events))
    of_name, of_event = host.name[ranges][order], events[order]
    last = np.ones(len(order), bool)
    last[:-1] = (of_name[1:] != of_name[:-1]) | (of_event[1:] != of_event[:-1])
    # Work directly below an inner range of the text is directly below the text.
    begins = np.flatnonzero(np.concatenate([[True], last[:-1]]))
    direct = np.maximum.reduceat(innermost[order].astype(np.int8), begins).astype(bool)
    kept = order[last]
    return ranges[kept], events[kept], direct
