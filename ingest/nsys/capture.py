"""Facts about the capture: versions, options, host, names. Only what is listed here is read from
tables that also hold the environment, the command line or the output of the profiled program."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ..arrays import NULL64
from ..model import Severity
from .reader import TableReader
from .strings import Strings

_META_TABLES: Final = ("META_DATA_EXPORT", "EXPORT_META_DATA")
_VERSIONS: Final = {
    "EXPORT_PRODUCT_NAME": "producer",
    "EXPORT_PRODUCT_VERSION": "producer_version",
    "EXPORT_SCHEMA_VERSION": "schema_version",
}
_OPTIONS = re.compile(
    r"(?:PROCESS_\d+:)?"
    r"(?:CUDA_GRAPH_TRACE_OPTIONS:\w+|CUDA_TRACE_SCOPE|COLLECT_\w+|RATE_HZ|CAPTURE_EVENT_TYPE)"
)
_HOST: Final = {
    "OsDescription": "host.os",
    "CpuDescription": "host.cpu",
    "CpuCores": "host.cpu_cores",
    "NvDriverVersion": "host.driver_version",
    "CudaDriverVersion": "host.cuda_version",
}
_SEVERITIES: Final = {2: Severity.WARNING, 3: Severity.ERROR}
_RANK_NAME = re.compile(r"MPI Rank (\d+)")


@dataclass(slots=True)
class Capture:
    """What is known of the capture before its events are read."""

    facts: dict[str, object] = field(default_factory=dict[str, object])
    notes: list[tuple[Severity, str, str]] = field(default_factory=list[tuple[Severity, str, str]])
    start_utc_ns: int | None = None


def read_capture(reader: TableReader) -> Capture:
    """Versions, allowed options, host, session start and diagnostics."""
    capture = Capture()
    for table in _META_TABLES:
        capture.facts.update(_pairs(reader, table, _VERSIONS.get))
    capture.facts.update(_options(reader))
    capture.facts.update(_pairs(reader, "TARGET_INFO_SYSTEM_ENV", _HOST.get))
    capture.start_utc_ns = _session_start(reader)
    capture.notes.extend(_diagnostics(reader))
    return capture


def _pairs(
    reader: TableReader, table: str, key_of: Callable[[str], str | None]
) -> dict[str, object]:
    """Values of the names that `key_of` maps to a fact; other values are not even decoded."""
    found = reader.find(table, ("name", "value"))
    if found is None:
        return {}
    rows = reader.read(found, {"name": "text", "value": "text"})
    names, values = rows.text("name"), rows.text("value")
    facts: dict[str, object] = {}
    used = 0
    for row in range(rows.count):
        name = names[row] if names is not None else None
        key = key_of(name) if name is not None else None
        if key is not None and values is not None:
            facts.setdefault(key, values[row])
            used += 1
    reader.account.leave_out(found, "not_allowed", rows.count - used)
    return facts


def _options(reader: TableReader) -> dict[str, object]:
    def option(name: str) -> str | None:
        return f"option.{name}" if _OPTIONS.fullmatch(name) else None

    return _pairs(reader, "META_DATA_CAPTURE", option)


def _session_start(reader: TableReader) -> int | None:
    found = reader.find("TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",))
    if found is None:
        return None
    starts = reader.read(found, {"utcEpochNs": "i64"}).i64("utcEpochNs").tolist()
    return next((start for start in starts if start != NULL64), None)


def _diagnostics(reader: TableReader) -> list[tuple[Severity, str, str]]:
    found = reader.find("DIAGNOSTIC_EVENT", ("severity", "text"))
    if found is None:
        return []
    rows = reader.read(found, {"severity": "i64", "text": "text"})
    texts = rows.text("text")
    notes: list[tuple[Severity, str, str]] = []
    for row, level in enumerate(rows.i64("severity").tolist()):
        text = texts[row] if texts is not None and level in _SEVERITIES else None
        if text is not None:
            notes.append((_SEVERITIES[level], "capture", text))
    reader.account.leave_out(found, "information_only", rows.count - len(notes))
    return notes


def read_process_names(reader: TableReader) -> dict[int, str]:
    """Process names by globalPid. The table lists the whole node."""
    found = reader.find("PROCESSES", ("globalPid", "name"))
    if found is None:
        return {}
    rows = reader.read(found, {"globalPid": "i64", "name": "text"})
    pairs = zip(rows.i64("globalPid").tolist(), rows.texts("name"), strict=True)
    return {key: name for key, name in pairs if key != NULL64 and name}


def read_thread_names(reader: TableReader, strings: Strings) -> dict[int, str]:
    """Thread names by globalTid. The table lists the whole node."""
    found = reader.find("ThreadNames", ("nameId", "globalTid"))
    if found is None:
        return {}
    rows = reader.read(found, {"globalTid": "i64", "nameId": "i64"})
    names: dict[int, str] = {}
    for key, string_id in rows.records("globalTid", "nameId"):
        text = strings.text(string_id) if key is not None else None
        if key is not None and text:
            names[key] = text
    return names


def read_ranks(reader: TableReader) -> dict[int, int]:
    """MPI rank by globalTid, where recorded."""
    found = reader.find("MPI_RANKS", ("globalTid", "rank"))
    if found is None:
        return {}
    rows = reader.read(found, {"globalTid": "i64", "rank": "i64"})
    return {
        key: rank
        for key, rank in rows.records("globalTid", "rank")
        if key is not None and rank is not None
    }


def rank_in(name: str) -> int | None:
    """The rank that a thread name given by MPI tells."""
    found = _RANK_NAME.fullmatch(name)
    return int(found.group(1)) if found else None
