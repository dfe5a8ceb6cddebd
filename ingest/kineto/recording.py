"""One file as the scanner leaves it: its tables and the facts of its envelope."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from ...native import EventScan, intern_rows
from ..arrays import I32, I64, NULL64

Table = dict[str, NDArray[Any]]

_ABSOLUTE_NS: Final = 10**17
"""Times above it count from 1970: no machine runs that long."""
_FAR_NS: Final = 2**60
"""Times further from the others than that cannot be (36 years)."""
_TIMED: Final = ("op", "python", "launch", "gpu")
_LATEST_BASE_NS: Final = 2**62
"""In 2116: what is later was not recorded."""
_EVENT_TABLES: Final = (
    "op",
    "python",
    "launch",
    "gpu",
    "sync",
    "span",
    "overhead",
    "window",
    "range",
    "memory",
    "other",
    "mark",
    "flow",
    "meta",
)
"""Those with one row an event."""
_LESS_TIMED: Final = ("other", "mark", "sync", "range", "counter", "memory", "overhead")


@dataclass(slots=True)
class Recording:
    """The tables of one file. Times are as recorded until `rebase`."""

    scan: EventScan
    label: str
    tables: dict[str, Table]
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    rank: int | None = None
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """Events not used, by reason."""
    far: int = 0
    """Of them, those at a time that the scanner could read."""
    window: tuple[int, int] | None = None
    """Start and end of the recording, as the profiler says; ns from the trace's start."""
    earliest_ns: int = 0
    """Start of the first event that tells when something ran; as recorded."""

    def keep_window(self) -> None:
        """Note from when to when the profiler recorded."""
        table = self.tables.get("window")
        if table is not None:
            start, dur = table["ts_ns"], table["dur_ns"]
            self.window = int(start.min()), int(start.max()) + min(int(dur.max()), _FAR_NS)

    def release(self) -> None:
        """Let go of the columns; which tables there were is still told."""
        self.tables = {name: {} for name in self.tables}

    def table(self, name: str) -> Table | None:
        """A table that has rows."""
        return self.tables.get(name)

    @property
    def base_ns(self) -> int | None:
        """What to add to times to get ns since 1970; None when not recorded."""
        base = self.metadata.get("baseTimeNanoseconds")
        if isinstance(base, int) and 0 <= base < _LATEST_BASE_NS:
            return base
        return 0 if self.earliest_ns > _ABSOLUTE_NS else None

    def rebase(self, origin_ns: int) -> None:
        """Count times from `origin_ns`, which is in the file's own terms."""
        for table in self.tables.values():
            if "ts_ns" in table:
                table["ts_ns"] = table["ts_ns"] - origin_ns
            for name in ("begin_ns", "end_ns"):
                if name in table:
                    known = table[name] != NULL64
                    table[name] = np.where(known, table[name] - origin_ns, NULL64)


def recording(scan: EventScan, label: str) -> Recording:
    """Take the tables out of a scan; events at times that cannot be are left out and counted."""
    tables = {name: scan.take(name) for name in scan.tables() if scan.rows(name)}
    found = Recording(scan, label, tables, _metadata(scan))
    _count_unplaced(found)
    _drop_far(found)
    found.earliest_ns = _earliest(tables)
    return found


def _count_unplaced(found: Recording) -> None:
    """Events that are in no table: their time cannot be, or they are counters without a value."""
    scan, tables = found.scan, found.tables
    rows = {name: _rows(tables[name]) for name in _EVENT_TABLES if name in tables}
    told = sum(scan.report.get(reason, (0,))[0] for reason in ("no_ts", "bad_phase"))
    counters = scan.phases.get("C", 0)
    rest = scan.events - sum(rows.values()) - told - sum(scan.flows_dropped.values())
    placed = len(np.unique(tables["counter"]["seq"])) if "counter" in tables else 0
    empty = min(counters - placed, rest - placed)
    for reason, count in (
        ("counter_without_a_value", empty),
        ("bad_time", rest - placed - empty),
    ):
        if count > 0:
            found.left_out[reason] = count


def _rows(table: Table) -> int:
    """Rows of a table of the scanner."""
    return len(next(iter(table.values())))


def _earliest(tables: dict[str, Table]) -> int:
    for names in (_TIMED, _LESS_TIMED):
        starts = [int(tables[name]["ts_ns"].min()) for name in names if name in tables]
        if starts:
            return min(starts)
    return 0


def _metadata(scan: EventScan) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, text in scan.metadata.items():
        try:
            values[key] = None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            values[key] = None
    return values


def _drop_far(found: Recording) -> None:
    timed = [table["ts_ns"] for table in found.tables.values() if "ts_ns" in table]
    if not timed:
        return
    times = max(timed, key=len)
    middle = int(np.median(times[:: max(1, len(times) // 1000)]))
    for name, table in list(found.tables.items()):
        if "ts_ns" not in table:
            continue
        times = table["ts_ns"]
        low, high = max(middle - _FAR_NS, -(2**63)), min(middle + _FAR_NS, 2**63 - 1)
        far = (times < low) | (times > high)
        if far.any():
            count = int(far.sum())
            found.far += count
            found.left_out["bad_time"] = found.left_out.get("bad_time", 0) + count
            keep = ~far
            if keep.any():
                found.tables[name] = {key: column[keep] for key, column in table.items()}
            else:
                del found.tables[name]


def as_object(value: object) -> dict[str, Any]:
    """A JSON object of the envelope; empty for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A JSON list of the envelope; empty for anything else."""
    return [*cast("Sequence[Any]", value)] if isinstance(value, list) else []


def known(column: NDArray[Any]) -> bool:
    """False for a column without any value (the scanner delivers one value for all its rows)."""
    return len(column) > 0 and (len(column) == 1 or column.strides[0] != 0)


def numbers(column: NDArray[Any]) -> I64 | None:
    """An int64 column, None when no row has a value."""
    return column if known(column) and bool((column != NULL64).any()) else None


def distinct(ids: I32) -> tuple[list[int], I32]:
    """The ids that occur, and each row's place among them."""
    index, first = intern_rows([ids])
    return ids[first].tolist(), index
