"""Which table of rocprofv3 a CSV file holds, told by its first line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .errors import TraceError
from .model import Severity

SUMS: Final = "sums"
"""Statistics that rocprofv3 made of the other tables: nothing of them is read."""
_BOM: Final = b"\xef\xbb\xbf"
_SHOWN: Final = 4
_MOST_BYTES: Final = 2**14
_MARKS: Final = {
    "pc_sampling": {"sample_timestamp", "dispatch_id", "instruction", "correlation_id"},
    "counter_collection": {"dispatch_id", "kernel_name", "counter_name", "counter_value"},
    "kernel_trace": {"kind", "kernel_name", "start_timestamp", "end_timestamp"},
    "memory_copy_trace": {"kind", "direction", "start_timestamp", "end_timestamp"},
    "scratch_memory_trace": {"kind", "operation", "alloc_flags", "start_timestamp"},
    "memory_allocation_trace": {"kind", "operation", "allocation_size", "address"},
    "api_trace": {"domain", "function", "thread_id", "start_timestamp", "end_timestamp"},
    "agent_info": {"node_id", "agent_type", "name"},
    SUMS: {"name", "calls", "totaldurationns"},
}
"""Columns that a table has in every version; the first table that fits is it."""
_NAME: Final = re.compile(
    r"(?:(?P<run>.*)_)?(?:(?:kernel|memory_copy|memory_allocation|scratch_memory|[a-z]+_api)_trace"
    r"|counter_collection|agent_info|pc_sampling_(?:host_trap|stochastic)|[a-z]+(?:_[a-z]+)*_stats)"
    r"\.csv(?:\.[a-z0-9]+)?"
)


def unread_tables(
    refused: Sequence[TraceError],
) -> tuple[list[tuple[Severity, str, str]], list[TraceError]]:
    """What to tell of the files of a folder that are named as tables of rocprofv3 and cannot be
    taken for these, and the other ones."""
    names = [
        Path(error.path).name for error in refused if run_in_name(Path(error.path).name) is not None
    ]
    others = [error for error in refused if run_in_name(Path(error.path).name) is None]
    if not names:
        return [], others
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    text = (
        f"Not read, though named as tables of rocprofv3: {', '.join(names[:_SHOWN])}{more}: empty, "
        "or the first line lacks columns of the table. What they hold is missing here."
    )
    return [(Severity.WARNING, "import", text)], others


def run_in_name(name: str) -> str | None:
    """What rocprofv3 puts before the name of the table in that of a file: the process id, or as it
    was asked. None for other names."""
    match = _NAME.fullmatch(name)
    return None if match is None else match["run"] or ""


def csv_header(head: bytes) -> list[str] | None:
    """Names of the columns in lower case, as versions differ in it; None when the first line does
    not end in `head`."""
    line, ended, _ = head.removeprefix(_BOM)[:_MOST_BYTES].partition(b"\n")
    if not ended:
        return None
    names = line.decode("utf-8", "replace").strip().split(",")
    return [name.strip().strip('"').lower() for name in names]


def csv_table(head: bytes) -> str | None:
    """The name of the table; None where it is none of rocprofv3's."""
    columns = set(csv_header(head) or ())
    return next((table for table, marks in _MARKS.items() if marks <= columns), None)
