"""Reads the tables of an SQLite trace: which there are, with which columns, and how many rows."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnKind, TextColumn
from .account import RowAccount
from .arrays import I32, I64, NULL32, NULL64, Mask
from .model import Severity
from .sqlite import SqliteSource
from .sqlite_library import TableColumns

_SHARE_ROWS: Final = 131_072
"""About as many rows of a large table are held with all their columns at a time."""


class Rows:
    """Columns of one table. A column the file lacks, or that is NULL in every row, is absent."""

    def __init__(self, table: str, result: TableColumns, missing: Sequence[str]) -> None:
        self.table = table
        self.total = result.rows
        self.count = result.rows
        self._result = result
        self._missing = set(missing)
        self._keep: Mask | None = None

    def keep(self, mask: Mask) -> None:
        """Of the rows handed out until now, hand out only those where `mask` is true."""
        if self._keep is None:
            self._keep = mask
        else:
            self._keep = self._keep.copy()
            self._keep[self._keep] = mask
        self.count = int(np.count_nonzero(mask))

    def _column(self, name: str) -> NDArray[Any]:
        column = self._result.array(name)
        return column if self._keep is None else column[self._keep]

    def has(self, name: str) -> bool:
        """True when the column was asked for, exists, and has a value in some row."""
        if name in self._missing or name not in self._result.names():
            return False
        return self.total == 0 or self._result.null_count(name) < self.total

    def i64(self, name: str) -> I64:
        """An int64 column, NULL64 where NULL or absent."""
        if name in self._missing:
            return np.full(self.count, NULL64, np.int64)
        return self._column(name)

    def i32(self, name: str) -> I32:
        """An int32 column, NULL32 where NULL or absent. Larger values keep their low 32 bits."""
        if name in self._missing:
            return np.full(self.count, NULL32, np.int32)
        return self._column(name)

    def f64(self, name: str) -> NDArray[np.float64]:
        """A float column, NaN where NULL or absent."""
        if name in self._missing:
            return np.full(self.count, np.nan)
        return self._column(name)

    def text(self, name: str) -> TextColumn | None:
        """A text column; None when the file lacks it or it is NULL throughout."""
        return self._result.text(name) if self.has(name) else None

    def kept_rows(self) -> I64:
        """Row numbers in a text column of the rows handed out."""
        return np.arange(self.total) if self._keep is None else np.flatnonzero(self._keep)

    def texts(self, name: str) -> list[str | None]:
        """A text column of a small table as Python strings."""
        column = self.text(name)
        if column is None:
            return [None] * self.count
        return [column[row] for row in self.kept_rows().tolist()]

    def records(self, *names: str) -> list[tuple[int | None, ...]]:
        """int64 columns of a small table as tuples of Python integers."""
        columns = [
            [None if value == NULL64 else value for value in self.i64(name).tolist()]
            for name in names
        ]
        return list(zip(*columns, strict=True))


class TableReader:
    """A file, table by table. Rows are entered in `account`, damage in `notes`."""

    def __init__(self, path: Path, *, salvage: bool, suffixes: Sequence[str] = ("",)) -> None:
        """`suffixes`: what the name of a table may end in, best first."""
        self.path = path
        self._suffixes = suffixes
        self.account = RowAccount()
        self.notes: list[tuple[Severity, str, str]] = []
        self._source = SqliteSource(path, salvage)
        self._damaged: set[str] = set()
        self._columns = {
            table: {column.lower(): column for column in columns}
            for table, columns in self._source.tables.items()
        }
        if self._source.damaged is not None:
            self._damage(f"The list of tables is damaged: {self._source.damaged}")

    @property
    def tables(self) -> list[str]:
        """Names of all tables of the file."""
        return list(self._columns)

    @property
    def reader_name(self) -> str:
        """How the file is read, for people."""
        return self._source.reader

    def find(self, table: str, required: Sequence[str] = ()) -> str | None:
        """The name under which the file holds `table`; None when it, or a required column, is
        absent."""
        for suffix in self._suffixes:
            columns = self._columns.get(table + suffix)
            if columns is not None and all(name.lower() in columns for name in required):
                return table + suffix
        return None

    def has_column(self, table: str, column: str) -> bool:
        """True when the (found) table has the column."""
        return column.lower() in self._columns[table]

    def read(self, table: str, columns: Mapping[str, ColumnKind]) -> Rows:
        """Read columns of a table named as `find` told. Absent columns are NULL."""
        rows = self.peek(table, columns)
        self.account.rows[table] = rows.total
        self.account.read.add(table)
        return rows

    def peek(self, table: str, columns: Mapping[str, ColumnKind]) -> Rows:
        """As `read`, without counting the rows as used."""
        known = self._columns[table]
        missing = [name for name in columns if name.lower() not in known]
        wanted: dict[str, ColumnKind] = {
            name: kind for name, kind in columns.items() if name not in missing
        }
        result = self._source.read(table, wanted)
        if result.damaged is not None:
            self._note_damage(table, result.damaged, result.rows)
        return Rows(table, result, missing)

    def row_count(self, table: str) -> int:
        """Rows of a table named as `find` told."""
        return self._source.row_count(table)

    def shares(self, table: str, columns: Mapping[str, ColumnKind]) -> Iterator[Rows]:
        """Read columns of a large table share by share. See `read`."""
        known = self._columns[table]
        missing = [name for name in columns if name.lower() not in known]
        wanted: dict[str, ColumnKind] = {
            name: kind for name, kind in columns.items() if name not in missing
        }
        count = 1 + self.row_count(table) // _SHARE_ROWS
        self.account.rows[table] = 0
        self.account.read.add(table)
        for index in range(count):
            result = self._source.read(table, wanted, share=(index, count))
            self.account.rows[table] += result.rows
            yield Rows(table, result, missing)
            if result.damaged is not None:
                self._note_damage(table, result.damaged, self.account.rows[table])
                return

    def _note_damage(self, table: str, reason: str, rows: int) -> None:
        if table not in self._damaged:
            self._damaged.add(table)
            text = f"{table} is damaged; {rows} rows before the damage are shown: {reason}"
            self._damage(text)

    def _damage(self, text: str) -> None:
        self.notes.append((Severity.ERROR, "import", text))

    def count_unread(self) -> None:
        """Enter the tables that nothing asked for in the account, with the reason."""
        for table in self._columns:
            if table not in self.account.rows:
                rows = self.account.rows[table] = self._source.row_count(table)
                self.account.leave_out(table, self.unread_reason(table), rows)
                self.account.read.add(table)

    def unread_reason(self, table: str) -> str:
        """Why a table that nothing asked for is not used."""
        del table
        return "not_read"

    def check_unchanged(self) -> None:
        """TraceError when the file was written to since it was opened."""
        self._source.check_unchanged()

    def close(self) -> None:
        """Let go of the file."""
        self._source.close()
