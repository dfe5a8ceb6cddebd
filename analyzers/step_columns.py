"""Steps as they are found, in columns, and how ranges become them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..queries.ranges import Ranges
from .distinct import distinct
from .markers import StepText
from .quantities import plural

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Steps as found; columns of one length."""

    lane: I32
    """Lane of the ranges, or device where GPU work tells the steps; numbered ranks later."""
    start_ns: I64
    end_ns: I64
    number: I64
    context: I32
    generation: I32
    name: I32
    partial: NDArray[np.bool_]
    """The end was not recorded."""
    common: NDArray[np.bool_]
    """Has the size that most have (all-reduce groups; else all)."""

    def taken(self, order: NDArray[np.intp], lane: I32) -> Found:
        """The rows in another order, with other lanes."""
        return Found(
            lane,
            self.start_ns[order],
            self.end_ns[order],
            self.number[order],
            self.context[order],
            self.generation[order],
            self.name[order],
            self.partial[order],
            self.common[order],
        )


def selected(ranges: Ranges, rows: NDArray[np.bool_]) -> Ranges:
    return Ranges(
        ranges.lane[rows],
        ranges.name[rows],
        ranges.start_ns[rows],
        ranges.end_ns[rows],
        ranges.open[rows],
    )


def outermost(ranges: Ranges) -> Ranges:
    """Without the ranges that lie inside another one of their lane: one step, marked twice."""
    inside = np.zeros(len(ranges.lane), np.bool_)
    for lane in distinct(ranges.lane).tolist():
        rows = np.flatnonzero(ranges.lane == lane)
        reach = np.maximum.accumulate(ranges.end_ns[rows])
        inside[rows[1:]] = ranges.end_ns[rows[1:]] <= reach[:-1]
    return selected(ranges, ~inside)


def by_name(names: I32, value_of: Mapping[int, int]) -> I64:
    """Value of each name; every name has one."""
    known = np.array(sorted(value_of), np.int64)
    values = np.array([value_of[name] for name in known.tolist()], np.int64)
    return values[np.searchsorted(known, names)] if len(known) else np.zeros(0, np.int64)


def as_steps(ranges: Ranges, said: Mapping[int, StepText]) -> Found:
    number = by_name(ranges.name, {name: text.number for name, text in said.items()})
    if not _numbers_rise(ranges.lane, number):
        number = np.full(len(number), -1, np.int64)
    return Found(
        lane=ranges.lane,
        start_ns=ranges.start_ns,
        end_ns=ranges.end_ns,
        number=number,
        context=by_name(ranges.name, {n: t.context for n, t in said.items()}).astype(np.int32),
        generation=by_name(ranges.name, {n: t.generation for n, t in said.items()}).astype(
            np.int32
        ),
        name=ranges.name,
        partial=ranges.open,
        common=np.ones(len(ranges.lane), np.bool_),
    )


def _numbers_rise(lane: I32, number: I64) -> bool:
    """False where the numbers are missing or do not tell the order: `batch 32` is a size."""
    if not len(number) or bool((number < 0).any()):
        return False
    same = lane[1:] == lane[:-1]
    falls = (np.diff(number) <= 0) & same
    # A new run may count from the start again; a number that keeps coming back tells nothing.
    return int(falls.sum()) <= 0.2 * max(int(same.sum()), 1)


def unnamed(lane: I32, start: I64, end: I64, common: NDArray[np.bool_] | None = None) -> Found:
    rows = len(start)
    unknown = np.full(rows, -1, np.int32)
    return Found(
        lane=lane.astype(np.int32),
        start_ns=start,
        end_ns=end,
        number=unknown.astype(np.int64),
        context=unknown,
        generation=unknown,
        name=unknown,
        partial=np.zeros(rows, np.bool_),
        common=np.ones(rows, np.bool_) if common is None else common,
    )


def nothing() -> Found:
    return unnamed(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))


def counted(found: Found) -> str:
    lanes = len(distinct(found.lane))
    threads = f" on {lanes:,} threads" if lanes > 1 else ""
    return plural(len(found.start_ns), "range") + threads
