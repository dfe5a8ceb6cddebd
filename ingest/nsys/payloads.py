"""Payloads that NVTX events carry as numbers or as binary data, as JSON texts.

Events share few distinct payloads: each is put into words once."""

import json
from collections.abc import Callable
from typing import Final

import numpy as np

from ...native import ColumnKind, StringPool, TextColumn, intern_rows
from ..account import count
from ..arrays import I32, I64, NULL64, Mask
from ..model import Severity
from .payload_schemas import PayloadError, PayloadSchemas, read_schemas
from .reader import Rows, TableReader

_INTEGERS: Final = ("int64Value", "uint64Value", "int32Value", "uint32Value")
_REALS: Final = ("doubleValue", "floatValue")
_BINARY: Final = "binaryData"
_MOST_DISTINCT: Final = 100_000
"""About a second of work; the payloads beyond are counted."""
_UNSIGNED: Final = {"uint64Value": (1 << 64) - 1, "uint32Value": (1 << 32) - 1}
_REASONS: Final = {
    "no_schema": "no registered schema",
    "layout": "a layout that is not known",
    "unsupported_schema": "a schema of a kind that is not supported",
    "too_many": f"over {_MOST_DISTINCT} different ones",
}


def read_payloads(reader: TableReader, table: str, pool: StringPool) -> I32 | None:
    """By row of the table: pool id of the payload as JSON, -1 where there is none. None when no
    row has one. What cannot be decoded is counted, and told in a note."""
    columns: dict[str, ColumnKind] = {
        **dict.fromkeys(_INTEGERS, "i64"),
        **dict.fromkeys(_REALS, "f64"),
        _BINARY: "hex",
    }
    columns = {name: kind for name, kind in columns.items() if reader.has_column(table, name)}
    if not columns:
        return None
    payloads = _Payloads(reader, table, pool)
    found: I32 | None = None
    first = 0
    for rows in reader.shares(table, columns):
        part = payloads.of(rows)
        if part is not None:
            if found is None:
                found = np.full(reader.row_count(table), -1, np.int32)
            found[first : first + rows.count] = part
        first += rows.count
    payloads.tell()
    return found


class _Payloads:
    """Payloads of one share after the other."""

    def __init__(self, reader: TableReader, table: str, pool: StringPool) -> None:
        self._reader = reader
        self._table = table
        self._pool = pool
        self._schemas: PayloadSchemas | None = None
        self._worded: dict[str, int | str] = {}
        """By hexadecimal digits: pool id, or the reason why there is none."""
        self._lost: dict[str, int] = {}

    def of(self, rows: Rows) -> I32 | None:
        out: I32 | None = None
        binary = rows.text(_BINARY)
        if binary is not None:
            out = self._binary(binary)
        names = [name for name in (*_INTEGERS, *_REALS) if rows.has(name)]
        if not names:
            return out
        if out is None:
            out = np.full(rows.count, -1, np.int32)
        given = {name: _given(rows, name) for name in names}
        total = np.sum(list(given.values()), axis=0)
        for name in names:
            bits = _bits(rows, name)
            # Old exporters fill the members of the union that are not set with zeros.
            here = given[name] & ((bits != 0) | (total == 1)) & (out < 0)
            if here.any():
                out[here] = self._numbers(name, bits[here])
        return out

    def _binary(self, column: TextColumn) -> I32:
        digits = StringPool()
        ids = digits.intern_column(column)
        words = np.full(len(digits) + 1, -1, np.int32)  # the last stands for NULL
        counts = np.bincount(ids[ids >= 0], minlength=len(digits)).tolist()
        for index in range(len(digits)):
            word = self._worded_once(digits[index])
            if isinstance(word, str):
                self._lost[word] = self._lost.get(word, 0) + counts[index]
            else:
                words[index] = word
        return words[ids]

    def _worded_once(self, digits: str) -> int | str:
        found = self._worded.get(digits)
        if found is None:
            if len(self._worded) >= _MOST_DISTINCT:
                return "too_many"
            found = self._worded[digits] = self._decode(digits)
        return found

    def _decode(self, digits: str) -> int | str:
        if self._schemas is None:
            self._schemas = read_schemas(self._reader)
        try:
            decoded = self._schemas.decode(_stored(bytes.fromhex(digits)))
        except PayloadError as reason:
            return str(reason)
        return self._pool.intern(json.dumps(decoded, ensure_ascii=False))

    def _numbers(self, name: str, bits: I64) -> I32:
        dense, first = intern_rows([bits])
        words = np.full(len(first), -1, np.int32)
        worded = _wording(name)
        for index, value in enumerate(bits[first[:_MOST_DISTINCT]].tolist()):
            words[index] = self._pool.intern(worded(value))
        ids = words[dense]
        lost = count(ids < 0)
        if lost:
            self._lost["too_many"] = self._lost.get("too_many", 0) + lost
        return ids

    def tell(self) -> None:
        """Count and note the payloads that are not shown."""
        if not self._lost:
            return
        for reason, rows in self._lost.items():
            self._reader.account.remark(self._table, f"payload_{reason}", rows)
        parts = ", ".join(f"{rows} with {_REASONS[reason]}" for reason, rows in self._lost.items())
        text = f"{self._table}: payloads that are not shown: {parts}."
        self._reader.notes.append((Severity.INFO, "import", text))


def _given(rows: Rows, name: str) -> Mask:
    given: Mask = ~np.isnan(rows.f64(name)) if name in _REALS else rows.i64(name) != NULL64
    return given


def _bits(rows: Rows, name: str) -> I64:
    """The values as int64; those of real numbers are their bits."""
    if name in _REALS:
        return rows.f64(name).view(np.int64)
    return rows.i64(name)


def _wording(name: str) -> Callable[[int], str]:
    if name in _REALS:
        return lambda bits: repr(float(np.int64(bits).view(np.float64)))
    mask = _UNSIGNED.get(name)
    return str if mask is None else lambda bits: str(bits & mask)


def _stored(data: bytes) -> bytes:
    """Binary data may be stored as the text of its hexadecimal digits."""
    try:
        return bytes.fromhex(data.decode("ascii"))
    except ValueError:
        return data
