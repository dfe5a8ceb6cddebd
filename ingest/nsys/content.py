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
_DESCRIPTIONS: Final = ("ANALYSIS_DETAILS", "ANALYSIS_FILE", "EXPORT_META_DATA", "StringIds")
_DESCRIBING: Final = ("META_DATA_", "TARGET_INFO_", "CUPTI_ACTIVITY_KIND_")
"""How the names of other tables begin that only an export holds."""


def has_events(reader: TableReader) -> bool:
    """True when a table of events is there, even an empty one."""
    return any(reader.find(table, (column,)) for table, column in _TIMES)


def check_content(reader: TableReader) -> None:
    """NotATraceError when no table is one of an export."""
    if has_events(reader) or any(table.startswith(_DESCRIBING) for table in reader.tables):
        return
    if any(reader.find(table) for table in _DESCRIPTIONS):
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
