"""Event times: nanoseconds from the session's start, with what cannot be right put right and
counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..account import RowAccount, count
from ..arrays import I64, NULL64, Mask
from .reader import Rows, TableReader

_UTC_FLOOR: Final = 10**18
"""Most starts above this: the export holds UTC times instead of times since the start."""
_UTC_CEILING: Final = 4 * 10**18
"""The end of this century: what lies above is no time at all."""
_VOTES: Final = 64
"""So many rows tell which kind of times the export has."""
LATEST_NS: Final = 2**53
"""104 days: no capture lasts longer, and sums of so long times stay exact everywhere."""
_MOST_IN_SUM_NS: Final = 2**60
"""All durations that one clock hands out add up to less than this: no sum of them overflows."""


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
    """Turns recorded times into times since the session's start, 0 to LATEST_NS."""

    def __init__(self, account: RowAccount, session_utc_ns: int | None) -> None:
        self._account = account
        self.start_utc_ns = session_utc_ns
        self.normalised = False
        """True for an export of UTC times."""
        self.end_ns = 0
        self._base = 0
        self._left_ns = float(_MOST_IN_SUM_NS)

    def prepare(self, reader: TableReader, tables: Sequence[tuple[str, str]]) -> None:
        """Look at the (table, time column) pairs to tell which kind of times the export has."""
        rows, lowest = 0, None
        absolute = 0
        for table, column in tables:
            times = _recorded(reader, table, column)
            utc = times[(times > _UTC_FLOOR) & (times < _UTC_CEILING)]
            rows += len(times)
            absolute += len(utc)
            if len(utc):
                lowest = min(int(utc.min()), lowest or _UTC_CEILING)
            if rows >= _VOTES:
                break
        if lowest is None or 2 * absolute <= rows:
            return
        self.normalised = True
        session = self.start_utc_ns
        if session is not None and session <= lowest <= session + LATEST_NS:
            self._base = session
            return
        for table, column in tables:
            times = _recorded(reader, table, column)
            times = times[(times > _UTC_FLOOR) & (times < _UTC_CEILING)]
            if len(times):
                lowest = min(lowest, int(times.min()))
        self._base = self.start_utc_ns = lowest

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
        if self._any_impossible(times):
            bad = (times < self._base) | (times > self._base + LATEST_NS)
            self._account.remark(rows.table, "bad_time", count(bad))
            times = np.where(bad, self._base, times)
        if self._base:
            times = times - self._base
        if len(times):
            self.end_ns = max(self.end_ns, int(times.max()))
        return times

    def spans(self, rows: Rows) -> Span:
        """Columns start and end; rows without a start are left out of `rows`.

        A start that cannot be is taken as 0. An end that cannot be is taken as the start: it
        would stretch the trace, and sums with it."""
        start = rows.i64("start")
        missing = start == NULL64
        if missing.any():
            self._account.leave_out(rows.table, "no_time", count(missing))
            rows.keep(~missing)
            start = start[~missing]
        end = rows.i64("end")
        missing = end == NULL64
        open_ = missing if missing.any() else None
        if open_ is not None:
            end = np.where(open_, start, end)
        first, last = self._base, self._base + LATEST_NS
        wrong = end < start
        if wrong.any() or self._any_impossible(start) or self._any_impossible(end):
            late = (start > last) | (end > last)
            wrong |= late | (start < first)
            start = np.where((start < first) | (start > last), first, start)
            end = np.where(late | (end < start), start, end)
        if self._base:
            start = start - self._base
            end = end - self._base
        too_long = self._too_long(end - start)
        if too_long is not None:
            wrong |= too_long
            end = np.where(too_long, start, end)
        self._account.remark(rows.table, "bad_time", count(wrong))
        if len(end):
            self.end_ns = max(self.end_ns, int(end.max()))
        return Span(start, end, open_)

    def close(self, span: Span) -> None:
        """Let open events last until the end of the trace."""
        if span.open is not None:
            start = span.start[span.open]
            end = np.maximum(self.end_ns, start)
            too_long = self._too_long(end - start)
            span.end[span.open] = end if too_long is None else np.where(too_long, start, end)

    def _any_impossible(self, times: I64) -> bool:
        """Compared before the base is taken off: the difference might not be a 64-bit number."""
        if not len(times):
            return False
        return int(times.min()) < self._base or int(times.max()) > self._base + LATEST_NS

    def _too_long(self, durations: I64) -> Mask | None:
        """Durations that may not enter a sum, longest first; None when all may."""
        total = float(durations.sum(dtype=np.float64))
        if total <= self._left_ns:
            self._left_ns -= total
            return None
        most = self._left_ns / 2 / len(durations)
        self._left_ns /= 2
        return durations > most


def _recorded(reader: TableReader, table: str, column: str) -> I64:
    """The times of a table, none when it is absent."""
    found = reader.find(table, (column,))
    if found is None:
        return np.empty(0, np.int64)
    times: I64 = reader.peek(found, {column: "i64"}).i64(column)
    recorded: I64 = times[times != NULL64]
    return recorded
