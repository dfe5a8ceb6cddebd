"""Is it an export at all, and which tables hold its events."""

from typing import Final

from ..errors import NotATraceError
from . import calls, counters, nvtx, samples, threads
from .gpu import event_tables
from .reader import TableReader
from .times import Clock

_SHOWN_TABLES: Final = 5
_TIMES: Final = (
    *event_tables(),
    (threads.OVERHEAD_TABLES[0], "start"),
    (threads.OVERHEAD_TABLES[1], "start"),
    (counters.MEMORY_TABLE, "start"),
    (counters.METRIC_TABLE, "timestamp"),
    (nvtx.TABLE, "start"),
    (threads.OS_TABLE, "start"),
    (samples.TABLE, "start"),
    (threads.SCHED_TABLE, "start"),
    (calls.TABLE, "start"),
)
_DESCRIPTIONS: Final = (
    "META_DATA_EXPORT",
    "EXPORT_META_DATA",
    "META_DATA_CAPTURE",
    "ANALYSIS_DETAILS",
    "TARGET_INFO_GPU",
    "TARGET_INFO_SESSION_START_TIME",
    "TARGET_INFO_SYSTEM_ENV",
    "StringIds",
)


def check_content(reader: TableReader) -> None:
    """NotATraceError when no table is one of an export."""
    if any(reader.find(table, (column,)) for table, column in _TIMES):
        return
    if sum(reader.find(table) is not None for table in _DESCRIPTIONS) > 1:
        return
    if not reader.tables and reader.notes:
        return
    names = sorted(reader.tables)
    listed = ", ".join(names[:_SHOWN_TABLES]) + (", …" if len(names) > _SHOWN_TABLES else "")
    raise NotATraceError(
        reader.path,
        f"an SQLite file, but not an nsys export (tables: {listed or 'none'}).",
        "Make one with: nsys export --type sqlite report.nsys-rep",
    )


def prepare_clock(clock: Clock, reader: TableReader) -> None:
    """Tell which kind of times the export has, from the smallest table with events."""
    clock.prepare(reader, _TIMES)
