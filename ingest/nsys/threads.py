"""What else happened on host threads: OS calls, profiler overhead, scheduling."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import sort_order
from ..arrays import I32, I64, Mask
from ..model import HostKind
from .identity import Identity
from .names import OVERHEAD_TYPES
from .reader import Rows, TableReader
from .strings import Strings
from .times import Clock, Span

OS_TABLE: Final = "OSRT_API"
OVERHEAD_TABLES: Final = ("CUPTI_ACTIVITY_KIND_OVERHEAD", "PROFILER_OVERHEAD")
SCHED_TABLE: Final = "SCHED_EVENTS"
REQUIRED: Final = ("start", "end")
SCHED_REQUIRED: Final = ("start", "cpu", "isSchedIn", "globalTid")


@dataclass(slots=True)
class ThreadEvents:
    """Host events outside the call tree. `name` is an id of the pool."""

    kind: HostKind
    span: Span
    lane: I32
    name: I32
    result: I32 | None = None
    correlation: I32 | None = None

    def __len__(self) -> int:
        return len(self.lane)


@dataclass(slots=True)
class Intervals:
    """When threads were on a core. `cpu` NULL32 where not recorded."""

    lane: I32
    start: I64
    dur: I64
    cpu: I32

    def __len__(self) -> int:
        return len(self.lane)


def _named(names: I32, strings: Strings) -> I32:
    if (names < 0).any():
        return np.where(names < 0, strings.pool.intern("<name not recorded>"), names)
    return names


def read_os_calls(
    reader: TableReader, strings: Strings, identity: Identity, clock: Clock
) -> ThreadEvents | None:
    """Calls of the C library that may wait (poll, futex, read …)."""
    table = reader.find(OS_TABLE, (*REQUIRED, "globalTid", "nameId"))
    if table is None:
        return None
    rows = reader.read(
        table,
        {"start": "i64", "end": "i64", "globalTid": "i64", "nameId": "i32", "returnValue": "i32"},
    )
    span = clock.spans(rows)
    return ThreadEvents(
        HostKind.OS,
        span,
        identity.thread_column(rows.i64("globalTid")),
        _named(strings.resolve(rows.i32("nameId")), strings),
        rows.i32("returnValue") if rows.has("returnValue") else None,
    )


def read_overhead(
    reader: TableReader, table: str, strings: Strings, identity: Identity, clock: Clock
) -> ThreadEvents | None:
    """Time the profiler or the loading of code took on host threads."""
    found = reader.find(table, REQUIRED)
    if found is None:
        return None
    rows = reader.read(
        found,
        {
            "start": "i64",
            "end": "i64",
            "globalTid": "i64",
            "nameId": "i32",
            "overheadType": "i32",
            "correlationId": "i32",
        },
    )
    span = clock.spans(rows)
    return ThreadEvents(
        HostKind.OVERHEAD,
        span,
        identity.thread_column(rows.i64("globalTid")),
        _overhead_names(rows, strings),
        correlation=rows.i32("correlationId") if rows.has("correlationId") else None,
    )


def _overhead_names(rows: Rows, strings: Strings) -> I32:
    """The type's label where it says what happened, else the recorded name."""
    names = _named(strings.resolve(rows.i32("nameId")), strings)
    types = rows.i32("overheadType")
    out = names.copy()
    for code in np.unique(types).tolist():
        if code in OVERHEAD_TYPES:
            out[types == code] = strings.pool.intern(OVERHEAD_TYPES[code])
    return out


def read_schedule(reader: TableReader, identity: Identity, clock: Clock) -> Intervals | None:
    """Running intervals, from the pairs of in and out events of each thread."""
    table = reader.find(SCHED_TABLE, SCHED_REQUIRED)
    if table is None:
        return None
    rows = reader.read(
        table, {"start": "i64", "cpu": "i32", "isSchedIn": "i32", "globalTid": "i64"}
    )
    time = clock.points(rows)
    lane = identity.thread_column(rows.i64("globalTid"))
    order = sort_order([lane, time])
    lane, time, cpu = lane[order], time[order], rows.i32("cpu")[order]
    comes: Mask = rows.i32("isSchedIn")[order] > 0
    first = np.flatnonzero(comes[:-1] & ~comes[1:] & (lane[:-1] == lane[1:]))
    reader.account.leave_out(table, "unpaired", len(lane) - 2 * len(first))
    return Intervals(lane[first], time[first], time[first + 1] - time[first], cpu[first])
