"""Which GPU work ran at the same time as that of an operator, on other streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..native import union_ns
from .distinct import distinct
from .op_groups import sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.report_events import Work

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    F64 = NDArray[np.float64]

LEAST_NS: Final = 1_000
"""Shorter common times are chance."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pieces of work of one device that overlap, each pair both ways round. Columns of one
    length."""

    event: I64
    """Index into the work."""
    other: I64
    start_ns: I64
    """Of the common time, as the next."""
    end_ns: I64


def overlapping(work: Work, launcher: I32) -> Pairs:
    """Work on different streams under different launchers (`host_event.id`, -1: not known, and so
    different from every other) with at least 1 µs in common."""
    lanes = [np.flatnonzero(work.lane == lane) for lane in distinct(work.lane).tolist()]
    events: list[I64] = [np.zeros(0, np.int64)]
    others: list[I64] = [np.zeros(0, np.int64)]
    for mine in lanes:
        for their in lanes:
            if mine is their:
                continue
            # By start; ends are made ascending, so that no candidate is missed.
            begin = np.searchsorted(np.maximum.accumulate(work.end_ns[their]), work.start_ns[mine])
            end = np.maximum(np.searchsorted(work.start_ns[their], work.end_ns[mine]), begin)
            count = end - begin
            first = np.cumsum(count) - count
            at = np.arange(int(count.sum())) - np.repeat(first, count) + np.repeat(begin, count)
            events.append(np.repeat(mine, count))
            others.append(their[at])
    event, other = np.concatenate(events), np.concatenate(others)
    start = np.maximum(work.start_ns[event], work.start_ns[other])
    end = np.minimum(work.end_ns[event], work.end_ns[other])
    apart = (launcher[event] != launcher[other]) | (launcher[event] < 0)
    kept = (end - start >= LEAST_NS) & apart
    return Pairs(event[kept], other[kept], start[kept], end[kept])


@dataclass(frozen=True, slots=True)
class RowOverlap:
    """By row of a table of operators."""

    names: I32
    """Index into `name_sets`."""
    name_sets: list[tuple[int, ...]]
    """`string.id` of what ran beside the row's work, ascending."""
    percent: F64
    """Overlapped time of its pieces, each by itself, of the union of its work; NaN where that is
    0."""


def row_overlap(work: Work, pairs: Pairs, below: tuple[I32, I64], time_ns: I64) -> RowOverlap:
    """`below`: pairs of a row and a piece of its work; `time_ns`: union of the work of each row."""
    rows, members = below
    each = union_ns(pairs.event.astype(np.int32), pairs.start_ns, pairs.end_ns, len(work.id))
    overlapped = sums(rows, each[members], len(time_ns))
    row, pair = beside(pairs, below)
    names: dict[int, set[int]] = {}
    for at, name in zip(row.tolist(), work.name[pairs.other[pair]].tolist(), strict=True):
        names.setdefault(at, set()).add(name)
    sets: dict[tuple[int, ...], int] = {(): 0}
    ids = np.zeros(len(time_ns), np.int32)
    for at, found in names.items():
        ids[at] = sets.setdefault(tuple(sorted(found)), len(sets))
    with np.errstate(invalid="ignore", divide="ignore"):
        percent = np.where(time_ns > 0, 100 * overlapped / time_ns, np.nan)
    return RowOverlap(ids, list(sets), percent)


def beside(pairs: Pairs, below: tuple[I32, I64]) -> tuple[I32, I64]:
    """Rows, and for each the pairs (indexes) that a piece of its work is in."""
    rows, members = below
    order = np.argsort(members, kind="stable")
    begin = np.searchsorted(members[order], pairs.event)
    count = np.searchsorted(members[order], pairs.event, "right") - begin
    first = np.cumsum(count) - count
    at = np.arange(int(count.sum())) - np.repeat(first, count) + np.repeat(begin, count)
    return rows[order[at]], np.repeat(np.arange(len(pairs.event)), count)
