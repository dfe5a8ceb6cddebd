"""Event times: nanoseconds from the session's start, with what cannot be right put right and
counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .account import RowAccount, count
from .arrays import I64, NULL64, Mask
from .reader import Rows, TableReader

_UTC_FLOOR: Final = 10**18
"""Smallest start above this: the export holds UTC times instead of times since the start."""


@dataclass(slots=True)
class Span:
    """Start and end of events. `open` marks those without an end (theirs is set later)."""

    start: I64
    end: I64
    open: Mask | None


def joined_open(spans: Sequence[Span]) -> Mask | None:
    """Marks of the events without an end, span after span; None when all have one."""
    if all(span.open is None for span in spans):
        return None
    return np.concatenate(
        [np.zeros(len(s.start), np.bool_) if s.open is None else s.open for s in spans]
    )


class Clock:
    """Turns recorded times into times since the session's start."""

    def __init__(self, account: RowAccount, session_utc_ns: int | None) -> None:
        self._account = account
        self.start_utc_ns = session_utc_ns
        self.normalised = False
        """True for an export of UTC times."""
        self.end_ns = 0
        self._base = 0

    def prepare(self, reader: TableReader, tables: Sequence[tuple[str, str]]) -> None:
        """Look at the (table, time column) pairs to tell which kind of times the export has."""
        for table, column in tables:
            lowest = _lowest(reader, table, column)
            if lowest is None:
                continue
            if lowest <= _UTC_FLOOR:
                return
            break
        else:
            return
        self.normalised = True
        if self.start_utc_ns is not None and self.start_utc_ns <= lowest:
            self._base = self.start_utc_ns
            return
        lows = [_lowest(reader, table, column) for table, column in tables]
        self._base = min(low for low in lows if low is not None and low > _UTC_FLOOR)
        self.start_utc_ns = self._base

    def beside(self) -> "Clock":
        """A clock for reading on another thread; `join` it afterwards."""
        other = Clock(self._account, self.start_utc_ns)
        other._base = self._base
        return other

    def join(self, other: "Clock") -> None:
        """Take over how far the other clock came."""
        self.end_ns = max(self.end_ns, other.end_ns)

    def points(self, rows: Rows, column: str = "start") -> I64:
        """A time column; rows without a time are left out of `rows`."""
        times = rows.i64(column)
        missing = times == NULL64
        if missing.any():
            self._account.leave_out(rows.table, "no_time", count(missing))
            rows.keep(~missing)
            times = times[~missing]
        if self._base:
            times = times - self._base
        negative = times < 0
        if negative.any():
            self._account.remark(rows.table, "bad_time", count(negative))
            times = np.maximum(times, 0)
        if len(times):
            self.end_ns = max(self.end_ns, int(times.max()))
        return times

    def spans(self, rows: Rows) -> Span:
        """Columns start and end; rows without a start are left out of `rows`."""
        start = rows.i64("start")
        missing = start == NULL64
        if missing.any():
            self._account.leave_out(rows.table, "no_time", count(missing))
            rows.keep(~missing)
            start = start[~missing]
        end = rows.i64("end")
        missing = end == NULL64
        open_ = missing if missing.any() else None
        if self._base:
            start = start - self._base
            end = end - self._base
        if open_ is not None:
            end = np.where(open_, start, end)
        bad = (end < start) | (start < 0)
        if bad.any():
            self._account.remark(rows.table, "bad_time", count(bad))
            start = np.maximum(start, 0)
            end = np.maximum(end, start)
        if len(end):
            self.end_ns = max(self.end_ns, int(end.max()))
        return Span(start, end, open_)

    def close(self, span: Span) -> None:
        """Let open events last until the end of the trace."""
        if span.open is not None:
            span.end[span.open] = np.maximum(self.end_ns, span.start[span.open])


def _lowest(reader: TableReader, table: str, column: str) -> int | None:
    found = reader.find(table, (column,))
    if found is None:
        return None
    times = reader.peek(found, {column: "i64"}).i64(column)
    times = times[times != NULL64]
    return int(times.min()) if len(times) else None
