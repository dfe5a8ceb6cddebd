"""Trace-event JSON in, tables of plain Python values out."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from dctx.native import EventScan, EventScanner, StringPool

_TEXTS = {
    "name", "args", "cat", "pid", "tid", "series", "id_text", "scope",
    "stack", "module", "kernel", "copy_kind", "sync_kind", "channel_type", "hsa_queue",
    "dims", "types", "strides", "concrete", "occupancy",
    "dtype", "in_split", "out_split", "pg_name", "pg_desc", "pg_id", "pg_ranks", "is_async",
    "backend", "file", "hash", "kwargs",
}  # fmt: skip
_TEXTS_OF_TABLE = {("meta", "value"), ("mark", "id"), ("counter", "id")}


class Scanned:
    """A finished scan whose tables are read as rows of dictionaries."""

    def __init__(self, strings: StringPool, scan: EventScan) -> None:
        self.strings = strings
        self.scan = scan
        self._tables: dict[str, list[dict[str, Any]]] = {}

    @property
    def report(self) -> dict[str, int]:
        return {reason: count for reason, (count, _) in self.scan.report.items()}

    def rows(self, table: str) -> list[dict[str, Any]]:
        """With texts for their ids, None for NULL, without the columns that are NULL."""
        if table not in self._tables:
            columns = self.scan.take(table)
            count = self.scan.rows(table)
            assert all(len(column) == count for column in columns.values())
            self._tables[table] = [
                {
                    name: value
                    for name, column in columns.items()
                    if (value := self._value(table, name, column[row])) is not None
                }
                for row in range(count)
            ]
        return self._tables[table]

    def names(self, table: str) -> list[str]:
        return [row["name"] for row in self.rows(table)]

    def all_rows(self) -> dict[str, list[dict[str, Any]]]:
        return {table: self.rows(table) for table in self.scan.tables()}

    def _value(self, table: str, name: str, value: Any) -> Any:
        if value.dtype == np.float64:
            return None if value != value else float(value)
        number = int(value)
        if name in _TEXTS or (table, name) in _TEXTS_OF_TABLE:
            return None if number == -1 else self.strings[number]
        if value.dtype == np.uint8:
            return number
        if number == np.iinfo(value.dtype).min:
            return None
        if number == -1 and name in ("shape", "config", "coll", "triton"):
            return None
        return number


def _pieces(data: bytes, sizes: Iterable[int] | None) -> Iterable[bytes]:
    if sizes is None:
        yield data
        return
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size
        if at >= len(data):
            return
    yield data[at:]


def scan(trace: Any, pieces: Iterable[int] | None = None, **limits: int) -> Scanned:
    """`trace`: bytes, text, or what json.dumps takes. `pieces`: sizes that it is fed in."""
    if not isinstance(trace, bytes):
        trace = (trace if isinstance(trace, str) else json.dumps(trace)).encode()
    strings = StringPool()
    scanner = EventScanner(strings, **limits)
    for piece in _pieces(trace, pieces):
        scanner.feed(piece)
    return Scanned(strings, scanner.finish())


def event(**fields: Any) -> dict[str, Any]:
    """A complete event of 2.5 µs."""
    return {"ph": "X", "name": "n", "pid": 1, "tid": 2, "ts": 10, "dur": 2.5, **fields}
