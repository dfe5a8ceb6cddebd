"""Writes SQLite files laid out like exports of Nsight Systems, old and new ones.

    with ExportWriter(path) as export:
        export.describe("2026.2.1", "3.25.0")
        export.add("CUPTI_ACTIVITY_KIND_KERNEL", start=10, end=20, deviceId=0, streamId=7,
                   shortName="gemm", demangledName="gemm<float>", globalPid=global_pid(42))

Tables are created when first used. A column that is not given is NULL, or 0 or "" where the
layout says NOT NULL. Column names are the ones of the format, whatever the style of this code.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from .nsys_schema import NEWEST, Column, parse_columns, table_columns

Value = int | float | str | bytes | None
Encoding = Literal["UTF-8", "UTF-16le", "UTF-16be"]
_BATCH_ROWS = 50_000


def _signed(value: int) -> int:
    """The 64-bit pattern as SQLite stores it."""
    return value - (1 << 64) if value >= 1 << 63 else value


def global_tid(pid: int, tid: int, *, vm: int = 1, hardware: int = 0) -> int:
    """The export's 64-bit thread key: hardware 8 bits, VM 8, process 24, thread 24."""
    return _signed(hardware << 56 | vm << 48 | (pid & 0xFFFFFF) << 24 | tid & 0xFFFFFF)


def global_pid(pid: int, *, vm: int = 1, hardware: int = 0) -> int:
    """The export's process key: a thread key without the thread."""
    return global_tid(pid, 0, vm=vm, hardware=hardware)


def quote(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _seed_database(path: Path, page_size: int, reserved_bytes: int) -> None:
    """Write an empty database of one page, since only its header can ask for reserved bytes."""
    page = bytearray(page_size)
    page[0:16] = b"SQLite format 3\0"
    page[16:18] = (1 if page_size == 65536 else page_size).to_bytes(2, "big")
    page[18:24] = bytes((1, 1, reserved_bytes, 64, 32, 32))
    page[24:28] = page[28:32] = page[92:96] = (1).to_bytes(4, "big")
    page[44:48] = (4).to_bytes(4, "big")
    page[56:60] = (1).to_bytes(4, "big")
    page[96:100] = (3040001).to_bytes(4, "big")
    page[100] = 0x0D
    page[105:107] = (page_size - reserved_bytes & 0xFFFF).to_bytes(2, "big")
    path.write_bytes(bytes(page))


class ExportWriter:
    """One export file being written; an existing file is replaced.

    year: leaves out the columns that exporters of that year did not write; up to 2021 there is no
        metadata table and keys are declared `INT`, up to 2022 the table is EXPORT_META_DATA.
    page_size, reserved_bytes, encoding: of the database file.
    leave_wal: the tables stay in a `-wal` file beside the database, as a crashed writer leaves it.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        year: int = NEWEST,
        page_size: int = 4096,
        reserved_bytes: int = 0,
        encoding: Encoding = "UTF-8",
        leave_wal: bool = False,
    ) -> None:
        self.path = Path(path)
        self.year = year
        self._wal = self.path.with_name(self.path.name + "-wal")
        self._leave_wal = leave_wal
        self._strings: dict[str, int] = {}
        self._next_string = 0
        self._columns: dict[str, tuple[Column, ...]] = {}
        for leftover in (self.path, self._wal):
            leftover.unlink(missing_ok=True)
        if reserved_bytes:
            _seed_database(self.path, page_size, reserved_bytes)
        self._db = sqlite3.connect(self.path, isolation_level=None)
        self._db.execute(f"PRAGMA page_size = {page_size}")
        self._db.execute(f"PRAGMA encoding = '{encoding}'")
        if leave_wal:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA wal_autocheckpoint = 0")
        else:
            self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._db.close()

    # ------------------------------------------------------------- tables --

    def create(
        self,
        table: str,
        layout: str | None = None,
        *,
        without: Iterable[str] = (),
        extra: str = "",
        sql: str | None = None,
        without_rowid: bool = False,
    ) -> None:
        """Create a table ahead of its first row, to leave it empty or to change its layout.

        layout: columns in the notation of `nsys_schema`, needed for a table it does not list.
        without: columns to leave out; extra: columns appended, in the same notation.
        sql: a CREATE TABLE statement to use word for word; its columns must be those above.
        """
        base = parse_columns(layout) if layout is not None else table_columns(table, self.year)
        dropped = set(without)
        columns = tuple(c for c in base if c.name not in dropped) + parse_columns(extra)
        self._columns[table] = columns
        self._db.execute(sql or self._create_statement(table, columns, without_rowid))

    def _create_statement(self, table: str, columns: Sequence[Column], without_rowid: bool) -> str:
        keys = [c.name for c in columns if c.key]
        lines: list[str] = []
        for column in columns:
            declared = "INT" if column.key and self.year < 2021 else column.sql_type
            line = f"{column.name} {declared}"
            if column.not_null or self.year < 2021:
                line += " NOT NULL"
            if keys == [column.name]:
                line += " PRIMARY KEY"
            lines.append(line)
        if len(keys) > 1:
            lines.append(f"PRIMARY KEY ({', '.join(keys)})")
        tail = " WITHOUT ROWID" if without_rowid else ""
        if self.year <= 2021:
            return f"CREATE TABLE {quote(table)} ({', '.join(lines)}){tail}"
        body = ",\n    ".join(lines)
        return f"CREATE TABLE {quote(table)} (\n    -- {len(lines)} columns.\n\n    {body}\n){tail}"

    def columns(self, table: str) -> tuple[Column, ...]:
        """The columns of a table, created on the way when need be."""
        if table not in self._columns:
            self.create(table)
        return self._columns[table]

    # --------------------------------------------------------------- rows --

    def string(self, text: str) -> int:
        """The id of a text in StringIds, the same for the same text."""
        found = self._strings.get(text)
        if found is None:
            found = self._strings[text] = self._next_string
            self._next_string += 1
        return found

    def skip_string_ids(self, count: int) -> None:
        """Leave ids unused, as files do from which rows were removed."""
        self._next_string += count

    def add(self, table: str, **values: Value) -> None:
        """Append a row. A text given for a column of string ids is interned. KeyError for a column
        the table does not have."""
        columns = self.columns(table)
        unknown = values.keys() - {c.name for c in columns}
        if unknown:
            raise KeyError(f"{table} has no column {', '.join(sorted(unknown))}")
        row = [self._cell(column, values) for column in columns]
        marks = ", ".join("?" * len(row))
        self._db.execute(f"INSERT INTO {quote(table)} VALUES ({marks})", row)

    def _cell(self, column: Column, values: Mapping[str, Value]) -> Value:
        value = values.get(column.name, column.filler)
        if column.kind == "str" and isinstance(value, str):
            return self.string(value)
        return value

    def rows(self, table: str, names: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
        """Append many rows, each a tuple of the columns `names`, fast: texts are not interned."""
        columns = {c.name: c for c in self.columns(table)}
        fillers = {
            n: c.filler for n, c in columns.items() if c.filler is not None and n not in names
        }
        targets = ", ".join(quote(n) for n in [*names, *fillers])
        marks = ", ".join(["?"] * len(names) + [repr(v) for v in fillers.values()])
        statement = f"INSERT INTO {quote(table)} ({targets}) VALUES ({marks})"
        pending = iter(rows)
        while batch := list(islice(pending, _BATCH_ROWS)):
            self._db.executemany(statement, batch)

    def execute(self, sql: str) -> None:
        """Run a statement as it stands, for what a user or a tool does to its file (ALTER, index,
        view)."""
        self._db.execute(sql)

    # ------------------------------------------------------ common tables --

    def describe(self, product_version: str, schema_version: str) -> None:
        """State who wrote the file. Nothing for years up to 2021, which have no such table."""
        if self.year <= 2021:
            return
        table = "EXPORT_META_DATA" if self.year <= 2022 else "META_DATA_EXPORT"
        for name, value in (
            ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
            ("EXPORT_PRODUCT_VERSION", product_version),
            ("EXPORT_SCHEMA_VERSION", schema_version),
        ):
            self.add(table, name=name, value=value)

    def process(self, pid: int, name: str, *, vm: int = 1) -> int:
        """Record a process; its key is returned."""
        key = global_pid(pid, vm=vm)
        self.add("PROCESSES", globalPid=key, pid=pid, name=name)
        return key

    def thread(self, pid: int, tid: int, name: str, *, vm: int = 1) -> int:
        """Record a thread name; the thread's key is returned."""
        key = global_tid(pid, tid, vm=vm)
        self.add("ThreadNames", nameId=name, priority=20, globalTid=key)
        return key

    # ------------------------------------------------------------- ending --

    def close(self) -> None:
        """Write the string table and finish the file."""
        if self._strings and "StringIds" not in self._columns:
            self.create("StringIds")
        if self._strings:
            pairs = ((number, text) for text, number in self._strings.items())
            self.rows("StringIds", ("id", "value"), pairs)
        self._db.execute("COMMIT")
        if self._leave_wal:
            kept = self.path.read_bytes(), self._wal.read_bytes()
            self._db.close()
            self.path.write_bytes(kept[0])
            self._wal.write_bytes(kept[1])
        else:
            self._db.close()
