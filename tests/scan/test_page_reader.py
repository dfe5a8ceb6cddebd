"""The page reader gives what the SQLite library gives, whatever the schema and the rows."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dctx.ingest.sqlite_library import LibraryReader, TableColumns
from dctx.native import ColumnKind, SqliteFile, TextColumn

EXAMPLES = int(os.environ.get("DCTX_EXAMPLES", "100"))

Cell = int | float | str | bytes | None


def repeated(unit: str, times: int) -> str:
    return unit * times


_integers = st.one_of(
    st.integers(-2, 2),
    st.integers(-200, 200),
    st.integers(-(2**31) - 2, 2**32 + 2),
    st.integers(-(2**63), 2**63 - 1),
)
_reals = st.floats(allow_nan=False)
_texts = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.sampled_from(["12", " -7 ", "+5", "1.5e3", "0x10", "", "none"]),
    st.builds(repeated, st.sampled_from("aä€\0"), st.integers(0, 3000)),
)
_blobs = st.one_of(st.binary(max_size=20), st.builds(bytes, st.integers(0, 2000)))
_cells: st.SearchStrategy[Cell] = st.one_of(st.none(), _integers, _reals, _texts, _blobs)

_names = st.one_of(
    st.sampled_from(["start", "end", "value", "text", "Größe", "group by", "a,b", "it's", "(x)"]),
    st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=8),
)
_types = st.sampled_from(
    ["INTEGER", "INT", "", "TEXT", "REAL", "BLOB", "VARCHAR(20)", "DECIMAL(10, 2)", "BIGINT"]
)
_suffixes = st.sampled_from(
    [
        "",
        " -- a comment, with ) and 'quotes'\n",
        " /* PRIMARY KEY, */",
        " COLLATE NOCASE",
        " CHECK (1 > 0)",
        " REFERENCES other(id)",
        " DEFAULT 7",
    ]
)
_defaults = st.sampled_from(
    [
        "",
        "DEFAULT 5",
        "DEFAULT -2.5",
        "DEFAULT 'text'",
        "DEFAULT '17'",
        "DEFAULT x'41'",
        "DEFAULT NULL",
        "DEFAULT TRUE",
        "DEFAULT 1e3",
        "DEFAULT (3)",
        "DEFAULT (CAST('5' AS INTEGER))",
    ]
)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass
class Table:
    """A table, the rows it got, and what was done to it afterwards."""

    names: list[str]
    definitions: list[str]
    key: int | None
    rows: list[list[Cell]]
    repeat: int
    step: int
    delete_every: int
    added: list[tuple[str, str]]
    later_rows: list[list[Cell]] = field(default_factory=list[list[Cell]])

    def create(self, connection: sqlite3.Connection, name: str) -> None:
        columns = [f"{quoted(n)} {d}" for n, d in zip(self.names, self.definitions, strict=True)]
        if self.key is not None:
            columns.insert(self.key, "[row key] INTEGER PRIMARY KEY")
        connection.execute(f"CREATE TABLE {quoted(name)} ({', '.join(columns)}\n)")
        self._insert(connection, name, self.rows * self.repeat, 1)
        if self.delete_every:
            connection.execute(
                f"DELETE FROM {quoted(name)} WHERE _rowid_ % ? = 0", [self.delete_every]
            )
        for column, default in self.added:
            connection.execute(f"ALTER TABLE {quoted(name)} ADD COLUMN {quoted(column)} {default}")
        self._insert(connection, name, self.later_rows, 10_000_000)

    def _insert(
        self, connection: sqlite3.Connection, name: str, rows: list[list[Cell]], first: int
    ) -> None:
        columns = ", ".join(["_rowid_", *map(quoted, self.names)])
        marks = ", ".join("?" * (len(self.names) + 1))
        values = [[first + i * self.step, *row] for i, row in enumerate(rows)]
        connection.executemany(f"INSERT INTO {quoted(name)} ({columns}) VALUES ({marks})", values)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = draw(st.lists(_names, min_size=1, max_size=6, unique_by=str.lower))
    names = [n for n in names if n.lower() not in ("_rowid_", "rowid", "oid")] or ["plain"]
    added = draw(st.lists(_names, max_size=2, unique_by=str.lower))
    taken = {n.lower() for n in names}
    row = st.lists(_cells, min_size=len(names), max_size=len(names))
    return Table(
        names=names,
        definitions=[draw(_types) + draw(_suffixes) for _ in names],
        key=draw(st.none() | st.integers(0, len(names))),
        rows=draw(st.lists(row, max_size=12)),
        repeat=draw(st.sampled_from([1, 1, 1, 30])),
        step=draw(st.sampled_from([1, 3, 1000])),
        delete_every=draw(st.sampled_from([0, 0, 2, 3])),
        added=[(n, f"{draw(_types)} {draw(_defaults)}") for n in added if n.lower() not in taken],
        later_rows=draw(st.lists(row, max_size=2)),
    )


def reserve(path: Path, size: int, page_size: int) -> None:
    """Make an empty database leave `size` bytes free at the end of each page."""
    with path.open("r+b") as file:
        file.seek(20)
        file.write(bytes([size]))
        file.seek(105)
        file.write(((page_size - size) % 65536).to_bytes(2, "big"))


def make_database(path: Path, page_size: int, reserved: int) -> sqlite3.Connection:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size={page_size}")
    connection.execute("CREATE TABLE gone (x)")
    connection.execute("DROP TABLE gone")
    connection.execute("VACUUM")
    connection.close()
    if reserved:
        reserve(path, reserved, page_size)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")
    return connection


def texts(column: TextColumn) -> list[str | None]:
    return [column[row] for row in range(len(column))]


def assert_same(pages: TableColumns, library: TableColumns, kinds: dict[str, ColumnKind]) -> None:
    assert pages.rows == library.rows
    for name, kind in kinds.items():
        assert pages.null_count(name) == library.null_count(name), (name, kind)
        if kind in ("text", "hex"):
            assert texts(pages.text(name)) == texts(library.text(name)), (name, kind)
        else:
            left, right = pages.array(name), library.array(name)
            assert left.dtype == right.dtype
            assert np.array_equal(left, right, equal_nan=kind == "f64"), (name, kind)
    assert pages.converted == library.converted


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages") / "random.sqlite"


KINDS: tuple[ColumnKind, ...] = ("i64", "i32", "f64", "text", "hex")


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    made=st.lists(tables(), min_size=1, max_size=3),
    page_size=st.sampled_from([512, 512, 1024, 4096, 65536]),
    reserved=st.sampled_from([0, 0, 8, 32]),
    data=st.data(),
)
def test_both_readers_agree(
    path: Path, made: list[Table], page_size: int, reserved: int, data: st.DataObject
) -> None:
    with closing(make_database(path, page_size, reserved)) as connection:
        for i, table in enumerate(made):
            table.create(connection, f"table {i}")
        if data.draw(st.booleans()):
            connection.execute("CREATE VIEW seen AS SELECT 1")
            name = quoted(made[0].names[0])
            connection.execute(f'CREATE INDEX found ON "table 0" ({name})')
    file = SqliteFile(path)
    with closing(LibraryReader(path)) as library:
        assert [t.name for t in file.tables()] == library.tables()
        for found in file.tables():
            names = tuple(column.name for column in found.columns)
            assert names == library.columns(found.name)
            if found.unreadable is not None:
                assert "expression" in found.unreadable
                continue
            assert file.row_count(found.name) == library.row_count(found.name)
            wanted: list[str] = data.draw(st.lists(st.sampled_from(names), unique=True))
            kinds: dict[str, ColumnKind] = {
                name: KINDS[data.draw(st.integers(0, 3))] for name in wanted
            }
            assert_same(
                file.read(
                    found.name, list(kinds.items()), threads=data.draw(st.sampled_from([1, 2]))
                ),
                library.read(found.name, kinds, nulls={}, salvage=False),
                kinds,
            )


def test_a_hex_column_holds_the_bytes_as_they_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (data TEXT)")
        rows: list[Cell] = [b"\x00\xff\x10", "aä", None, 7, b""]
        db.executemany("INSERT INTO t VALUES (?)", [(row,) for row in rows])
        db.execute("INSERT INTO t VALUES (CAST(x'ff00' AS TEXT))")
        db.commit()
    expected = ["00ff10", "61c3a4", None, "37", "", "ff00"]  # TEXT turned the number into a text
    pages = SqliteFile(path).read("t", [("data", "hex")])
    library = LibraryReader(path)
    other = library.read("t", {"data": "hex"}, nulls={}, salvage=False)
    library.close()
    for columns in (pages, other):
        assert texts(columns.text("data")) == expected
        assert columns.null_count("data") == 1
        assert columns.converted == 0


def checksums(columns: TableColumns, kinds: dict[str, ColumnKind]) -> dict[str, int]:
    return {
        name: hash(tuple(texts(columns.text(name))))
        if kind == "text"
        else hash(columns.array(name).tobytes())
        for name, kind in kinds.items()
    }


def real_traces() -> Iterator[Path]:
    folder = os.environ.get("DCTX_TRACES")
    if folder is not None:
        yield from sorted(Path(folder, "nsys").glob("*.sqlite"))


@pytest.mark.skipif("DCTX_TRACES" not in os.environ, reason="DCTX_TRACES is not set")
def test_both_readers_agree_on_real_traces() -> None:
    paths = list(real_traces())
    assert paths
    for path in paths:
        file = SqliteFile(path)
        library = LibraryReader(path)
        tables = file.tables()
        assert [t.name for t in tables] == library.tables()
        rows = 0
        for table in tables:
            assert table.unreadable is None
            kinds: dict[str, ColumnKind] = {
                column.name: "text"
                if "TEXT" in column.declared_type
                else "f64"
                if "REAL" in column.declared_type
                else "i64"
                for column in table.columns
            }
            pages = file.read(table.name, list(kinds.items()))
            other = library.read(table.name, kinds, nulls={}, salvage=False)
            assert pages.rows == other.rows == file.row_count(table.name)
            assert checksums(pages, kinds) == checksums(other, kinds), table.name
            rows += pages.rows
        assert rows > 0
        library.close()
