"""Tables read through the SQLite library: slower, for what the page reader does not do.

Values are converted exactly as the page reader converts them.
"""

import os
import re
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnKind, TextColumn

_CHUNK_ROWS: Final = 20_000
_INTEGER: Final = re.compile(r"[ \t-\r]*([+-]?[0-9]+)[ \t-\r]*")
_REAL: Final = re.compile(
    r"[ \t-\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[ \t-\r]*"
)
_INT64: Final = range(-(2**63), 2**63)
_INT32_BITS: Final = range(-(2**31), 2**32)

Stored = int | float | str | bytes | None


class TableColumns(Protocol):
    """Columns of one table, all of length `rows`, in rowid order; whichever reader made them."""

    @property
    def rows(self) -> int: ...
    @property
    def damaged(self) -> str | None:
        """Why and where reading stopped (salvage only); None when complete."""
        ...

    @property
    def converted(self) -> int:
        """Values whose stored type was not the asked one."""
        ...

    def names(self) -> list[str]: ...
    def array(self, name: str) -> NDArray[Any]:
        """i64 → int64, i32 → int32, f64 → float64. NULL is the column's `null` value."""
        ...

    def text(self, name: str) -> TextColumn: ...
    def null_count(self, name: str) -> int: ...


class _Column:
    """One column being collected, chunk by chunk."""

    def __init__(self, kind: ColumnKind, null: int | None) -> None:
        self.kind: ColumnKind = kind
        self.nulls = 0
        self.converted = 0
        self._arrays: list[NDArray[Any]] = []
        self._texts: list[str | None] = []
        self._null: int | float
        if kind == "f64":
            self._null = float("nan") if null is None else float(null)
        else:
            self._null = (-(2**31) if kind == "i32" else -(2**63)) if null is None else null

    def add(self, values: Sequence[Stored]) -> None:
        if self.kind == "text":
            self._texts.extend(map(self._to_text, values))
        elif self.kind == "hex":
            self._texts.extend(map(self._to_hex, values))
        elif self.kind == "f64":
            self._arrays.append(np.array([self._to_real(v) for v in values], np.float64))
        else:
            wide = np.array([self._to_integer(v) for v in values], np.int64)
            self._arrays.append(wide.astype(np.int32) if self.kind == "i32" else wide)

    def array(self) -> NDArray[Any]:
        dtype = {"i64": np.int64, "i32": np.int32, "f64": np.float64}[self.kind]
        joined = np.concatenate([np.empty(0, dtype), *self._arrays])
        joined.flags.writeable = False
        self._arrays = [joined]
        return joined

    def text(self) -> TextColumn:
        return TextColumn.from_list(self._texts)

    def _missing(self) -> int | float:
        self.nulls += 1
        return self._null

    def _to_text(self, value: Stored) -> str | None:
        if isinstance(value, str):
            return value
        if value is None:
            self.nulls += 1
            return None
        self.converted += 1
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return f"{value:.17g}" if isinstance(value, float) else str(value)

    def _to_hex(self, value: Stored) -> str | None:
        if isinstance(value, bytes):
            return value.hex()
        self.nulls += 1
        self.converted += value is not None
        return None

    def _to_real(self, value: Stored) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        if value is None:
            return self._missing()
        self.converted += 1
        found = _REAL.fullmatch(value) if isinstance(value, str) else None
        return self._missing() if found is None else float(found[1])

    def _to_integer(self, value: Stored) -> int | float:
        if isinstance(value, int):
            if self.kind == "i32" and value not in _INT32_BITS:
                self.converted += 1
            return value
        if value is None:
            return self._missing()
        number: int | None = None
        if isinstance(value, float):
            if value.is_integer() and int(value) in _INT64:
                return self._to_integer(int(value))
            if value - value == 0:  # finite
                number = int(value)
        elif isinstance(value, str):
            found = _INTEGER.fullmatch(value)
            number = None if found is None else int(found[1])
        self.converted += 1
        return self._missing() if number is None or number not in _INT64 else number


class LibraryTable:
    """A `TableColumns` of the SQLite library."""

    def __init__(
        self,
        columns: Mapping[str, ColumnKind],
        nulls: Mapping[str, int],
    ) -> None:
        self.rows = 0
        self.damaged: str | None = None
        self._columns = {n: _Column(kind, nulls.get(n)) for n, kind in columns.items()}

    @property
    def converted(self) -> int:
        return sum(column.converted for column in self._columns.values())

    def add(self, rows: Sequence[Sequence[Stored]]) -> None:
        """Append rows whose values stand in the order of the columns."""
        self.rows += len(rows)
        width = max(len(self._columns), 1)
        flat = list(chain.from_iterable(rows))
        for i, column in enumerate(self._columns.values()):
            column.add(flat[i::width])

    def names(self) -> list[str]:
        return list(self._columns)

    def array(self, name: str) -> NDArray[Any]:
        column = self._columns[name]
        if column.kind in ("text", "hex"):
            raise TypeError(f"column {name} is a text column")
        return column.array()

    def text(self, name: str) -> TextColumn:
        column = self._columns[name]
        if column.kind not in ("text", "hex"):
            raise TypeError(f"column {name} holds no texts")
        return column.text()

    def null_count(self, name: str) -> int:
        return self._columns[name].nulls


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _selected(name: str, kind: ColumnKind) -> str:
    """A text in a hex column is wanted as the bytes that are stored, be they UTF-8 or not."""
    column = _quoted(name)
    if kind != "hex":
        return column
    return f"CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) ELSE {column} END"


class LibraryReader:
    """An SQLite file opened through the library, for reading only, without locks.

    Nothing is created beside the file: it is taken as one that nobody writes.
    Methods raise sqlite3.Error when the file is damaged.
    """

    def __init__(self, path: Path) -> None:
        uri = f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self._connection.text_factory = _decoded

    def close(self) -> None:
        self._connection.close()

    def _execute(self, sql: str) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql)
        except UnicodeDecodeError as error:  # a message that quotes a damaged statement
            raise sqlite3.DatabaseError("malformed database schema") from error

    def tables(self) -> list[str]:
        """Names of the tables, in schema order."""
        sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
        return [name for (name,) in self._execute(sql)]

    def columns(self, table: str) -> tuple[str, ...]:
        """Names of the columns, the generated ones too."""
        rows = self._execute(f"PRAGMA table_xinfo({_quoted(table)})")
        return tuple(row[1] for row in rows if row[6] != 1)

    def row_count(self, table: str) -> int:
        (count,) = self._execute(f"SELECT count(*) FROM {_quoted(table)} NOT INDEXED").fetchone()
        return int(count)

    def read(
        self,
        table: str,
        columns: Mapping[str, ColumnKind],
        *,
        nulls: Mapping[str, int],
        salvage: bool,
        empty: bool = False,
    ) -> LibraryTable:
        """The asked columns; they must exist. With `salvage` damage ends the rows. `empty`: the
        columns without a row, for the later shares of a table that is read in one."""
        out = LibraryTable(columns, nulls)
        if empty:
            return out
        names = ", ".join(map(_selected, columns, columns.values())) or "NULL"
        # An index that covers the columns would give the rows in its own order.
        sql = f"SELECT {names} FROM {_quoted(table)} NOT INDEXED"
        try:
            cursor = self._execute(sql)
            # Row by row where damage is to be met: a chunk that fails gives none of its rows.
            while rows := cursor.fetchmany(1 if salvage else _CHUNK_ROWS):
                out.add(rows)
        except sqlite3.DatabaseError as error:
            if not salvage:
                raise
            out.damaged = str(error)
        return out
