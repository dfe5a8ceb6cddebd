"""Which reader opens a file, what is said when none can, and that the file stays as it is."""

import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dctx.ingest.errors import DamagedTraceError, NotATraceError, TraceError
from dctx.ingest.sqlite import SqliteSource
from dctx.native import TextColumn

ROWS = 2000


def age(path: Path) -> None:
    """Let the file look finished long ago."""
    os.utime(path, (1_700_000_000, 1_700_000_000))


def make(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=OFF")
    for statement in statements:
        connection.execute(statement)
    connection.execute("CREATE TABLE events (start INTEGER, name TEXT, load REAL)")
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO events VALUES (?, ?, ?)", ((i, f"event {i}", i / 4) for i in range(ROWS))
    )
    connection.execute("COMMIT")
    connection.close()
    age(path)
    return path


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(p.relative_to(folder)): (
            hashlib.sha256(p.read_bytes()).hexdigest(),
            p.stat().st_mtime_ns,
        )
        for p in folder.rglob("*")
        if p.is_file()
    }


def texts(column: TextColumn) -> list[str | None]:
    return [column[row] for row in range(len(column))]


def read_names(source: SqliteSource) -> list[str | None]:
    return texts(source.read("events", {"name": "text"}).text("name"))


EXPECTED = [f"event {i}" for i in range(ROWS)]


def test_an_ordinary_file(tmp_path: Path) -> None:
    path = make(tmp_path / "a trace?.sqlite")
    before = snapshot(tmp_path)
    with SqliteSource(path) as source:
        assert source.reader == "page reader"
        assert source.tables == {"events": ("start", "name", "load")}
        assert source.row_count("events") == ROWS
        columns = source.read(
            "events", {"name": "text", "start": "i32", "load": "f64"}, nulls={"start": -1}
        )
        assert columns.names() == ["name", "start", "load"]
        assert columns.rows == ROWS
        assert columns.damaged is None
        assert columns.array("start").tolist() == list(range(ROWS))
        assert columns.array("load").tolist() == [i / 4 for i in range(ROWS)]
        assert texts(columns.text("name")) == EXPECTED
        assert not columns.array("start").flags.writeable
        with pytest.raises(KeyError):
            source.read("events", {"missing": "i64"})
        with pytest.raises(KeyError):
            source.read("missing", {})
        with pytest.raises(KeyError):
            source.row_count("missing")
        source.check_unchanged()
    assert snapshot(tmp_path) == before


def test_wal_mode_without_a_log_needs_no_copy(tmp_path: Path) -> None:
    path = make(tmp_path / "t.sqlite", "PRAGMA journal_mode=WAL")
    before = snapshot(tmp_path)
    assert list(before) == ["t.sqlite"]
    with SqliteSource(path) as source:
        assert source.reader == "page reader"
        assert read_names(source) == EXPECTED
    assert snapshot(tmp_path) == before


def with_log(tmp_path: Path) -> Path:
    """A file whose newest rows are only in the log beside it."""
    live = make(tmp_path / "live.sqlite", "PRAGMA journal_mode=WAL")
    connection = sqlite3.connect(live, isolation_level=None)
    connection.execute("INSERT INTO events VALUES (-1, 'only in the log', 0)")
    folder = tmp_path / "given"
    folder.mkdir()
    for name in ("live.sqlite", "live.sqlite-wal"):
        shutil.copyfile(tmp_path / name, folder / name)
        age(folder / name)
    connection.close()
    return folder / "live.sqlite"


def copies() -> set[str]:
    return {p.name for p in Path(tempfile.gettempdir()).glob("dctx-*")}


def test_a_log_is_merged_into_a_private_copy(tmp_path: Path) -> None:
    path = with_log(tmp_path)
    before, there = snapshot(path.parent), copies()
    source = SqliteSource(path)
    assert "page reader" in source.reader
    assert "live.sqlite-wal" in source.reader
    assert "MiB" in source.reader
    assert read_names(source) == [*EXPECTED, "only in the log"]
    assert source.unchanged()
    assert copies() - there
    source.close()
    assert copies() == there
    assert snapshot(path.parent) == before


def test_a_log_that_grows_is_a_change(tmp_path: Path) -> None:
    path = with_log(tmp_path)
    with SqliteSource(path) as source:
        with path.with_name("live.sqlite-wal").open("ab") as file:
            file.write(b"more")
        with pytest.raises(TraceError, match="file changed while reading"):
            source.check_unchanged()


def test_no_copy_above_the_limit(tmp_path: Path) -> None:
    path = with_log(tmp_path)
    there = copies()
    with pytest.raises(TraceError, match=r"live\.sqlite-wal.*above the limit of 0\.0 MiB"):
        SqliteSource(path, copy_limit_bytes=1000)
    assert copies() == there


def test_an_open_journal_is_rolled_back_in_a_copy(tmp_path: Path) -> None:
    live = make(tmp_path / "live.sqlite")
    connection = sqlite3.connect(live, isolation_level=None)
    connection.execute("PRAGMA cache_size=2")
    connection.execute("BEGIN")
    connection.execute("UPDATE events SET name = 'half done'")
    folder = tmp_path / "given"
    folder.mkdir()
    for name in ("live.sqlite", "live.sqlite-journal"):
        shutil.copyfile(tmp_path / name, folder / name)
        age(folder / name)
    connection.execute("ROLLBACK")
    connection.close()
    assert b"half done" in (folder / "live.sqlite").read_bytes()
    before = snapshot(folder)
    with SqliteSource(folder / "live.sqlite") as source:
        assert "live.sqlite-journal" in source.reader
        assert read_names(source) == EXPECTED
    assert snapshot(folder) == before


def test_a_closed_journal_needs_no_copy(tmp_path: Path) -> None:
    path = make(tmp_path / "t.sqlite", "PRAGMA journal_mode=PERSIST")
    assert (tmp_path / "t.sqlite-journal").stat().st_size > 0
    before = snapshot(tmp_path)
    with SqliteSource(path) as source:
        assert source.reader == "page reader"
        assert read_names(source) == EXPECTED
    assert snapshot(tmp_path) == before


def test_utf16_goes_through_the_library(tmp_path: Path) -> None:
    path = make(tmp_path / "t.sqlite", "PRAGMA encoding='UTF-16'")
    before = snapshot(tmp_path)
    with SqliteSource(path) as source:
        assert source.reader == "SQLite library, because its texts are UTF-16"
        assert source.tables == {"events": ("start", "name", "load")}
        assert source.row_count("events") == ROWS
        assert read_names(source) == EXPECTED
        assert source.read("events", {"start": "i64"}).array("start").tolist() == list(range(ROWS))
        source.check_unchanged()
    assert snapshot(tmp_path) == before


def test_single_tables_go_through_the_library(tmp_path: Path) -> None:
    path = make(
        tmp_path / "t.sqlite",
        "CREATE TABLE keyed (name TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID",
        "INSERT INTO keyed VALUES ('b', 2), ('a', 1)",
        "CREATE TABLE derived (n INTEGER, twice INTEGER AS (2 * n))",
        "CREATE INDEX other ON derived (twice, n DESC)",
        "INSERT INTO derived VALUES (5), (3)",
        "CREATE VIEW seen AS SELECT * FROM keyed",
    )
    with SqliteSource(path) as source:
        assert set(source.tables) == {"keyed", "derived", "events"}
        assert source.tables["derived"] == ("n", "twice")
        assert source.reader.startswith("page reader; SQLite library for keyed: it is a WITHOUT")
        assert texts(source.read("keyed", {"name": "text"}).text("name")) == ["a", "b"]
        derived = source.read("derived", {"twice": "i32", "n": "i64"})
        assert derived.array("twice").tolist() == [10, 6]
        assert derived.array("n").tolist() == [5, 3]
        assert source.row_count("keyed") == source.row_count("derived") == 2
        assert read_names(source) == EXPECTED


# ------------------------------------------------------------------- refusals --


def refusal(path: Path, kind: type[TraceError]) -> str:
    there = copies()
    with pytest.raises(TraceError) as caught:
        SqliteSource(path)
    assert type(caught.value) is kind
    assert str(caught.value).startswith(str(path))
    assert copies() == there
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("size", [0, 16, 5000])
def test_an_interrupted_export(tmp_path: Path, size: int) -> None:
    path = tmp_path / "t.sqlite"
    path.write_bytes(bytes(size))
    assert refusal(path, DamagedTraceError) == (
        "export was interrupted: the SQLite header is empty; export again"
    )


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    for content in (b"hello", b"PK\x03\x04" * 100, bytes(range(256)) * 16):
        path.write_bytes(content)
        text = refusal(path, NotATraceError)
        assert text.startswith("not an SQLite file (encrypted or another format)")


def test_what_the_system_refuses(tmp_path: Path) -> None:
    assert "is a directory" in refusal(tmp_path, NotATraceError)
    assert "no such file" in refusal(tmp_path / "missing.sqlite", TraceError)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = make(tmp_path / "t.sqlite")
    path.chmod(0)
    assert "permission denied" in refusal(path, TraceError)


def test_damaged_header(tmp_path: Path) -> None:
    path = make(tmp_path / "t.sqlite")
    content = bytearray(path.read_bytes())
    content[16:18] = b"\x03\x03"
    path.write_bytes(content)
    assert "header is damaged" in refusal(path, DamagedTraceError)
    path.write_bytes(content[:50])
    assert "was cut" in refusal(path, DamagedTraceError)


def test_a_cut_file(tmp_path: Path) -> None:
    path = make(tmp_path / "t.sqlite")
    pages = path.stat().st_size // 4096
    with path.open("r+b") as file:
        file.truncate(4096 * (pages // 2) + 100)
    age(path)
    text = refusal(path, DamagedTraceError)
    assert text.startswith("file is still being written or was cut")
    assert f"{pages // 2} of {pages} pages" in text
    with SqliteSource(path, salvage=True) as source:
        columns = source.read("events", {"name": "text"})
        assert 0 < columns.rows < ROWS
        assert texts(columns.text("name")) == EXPECTED[: columns.rows]
        assert columns.damaged is not None
        assert "the file ends before this page" in columns.damaged
        assert source.row_count("events") == columns.rows


def test_a_growing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / "t.sqlite")
    os.utime(path)

    def grow(_: float) -> None:
        with path.open("ab") as file:
            file.write(bytes(4096))

    monkeypatch.setattr(time, "sleep", grow)
    assert "still being written" in refusal(path, DamagedTraceError)


def damage_leaf(path: Path, row: int) -> int:
    """Break the page that holds a row; returns its number."""
    content = bytearray(path.read_bytes())
    place = content.index(f"event {row}".encode())
    page = place // 4096
    content[page * 4096] = 0x77
    path.write_bytes(content)
    age(path)
    return page + 1


def test_a_damaged_page(tmp_path: Path) -> None:
    path = make(
        tmp_path / "t.sqlite", "CREATE TABLE intact (n INTEGER)", "INSERT INTO intact VALUES (7)"
    )
    page = damage_leaf(path, 1234)
    with SqliteSource(path) as source:
        assert source.read("intact", {"n": "i64"}).array("n").tolist() == [7]
        with pytest.raises(DamagedTraceError) as caught:
            source.read("events", {"name": "text"})
        assert caught.value.where == f"table events, page {page}, offset 0"
        assert "rows before it are intact" in caught.value.what
        with pytest.raises(DamagedTraceError):
            source.row_count("events")
    with SqliteSource(path, salvage=True) as source:
        columns = source.read("events", {"name": "text"})
        assert 1000 < columns.rows <= 1234
        assert texts(columns.text("name")) == EXPECTED[: columns.rows]
        assert columns.damaged is not None
        assert f"page {page}" in columns.damaged


def test_a_damaged_page_met_by_the_library(tmp_path: Path) -> None:
    path = make(tmp_path / "t.sqlite", "PRAGMA encoding='UTF-16le'")
    content = bytearray(path.read_bytes())
    place = content.index("event 1234".encode("utf-16le"))
    content[place // 4096 * 4096] = 0x77
    path.write_bytes(content)
    age(path)
    with SqliteSource(path) as source, pytest.raises(DamagedTraceError, match="malformed"):
        read_names(source)
    with SqliteSource(path, salvage=True) as source:
        columns = source.read("events", {"name": "text"})
        assert 1000 < columns.rows <= 1234
        assert texts(columns.text("name")) == EXPECTED[: columns.rows]
        assert columns.damaged is not None


def test_a_damaged_schema(tmp_path: Path) -> None:
    path = make(tmp_path / "t.sqlite")
    content = bytearray(path.read_bytes())
    content[100] = 0x77
    path.write_bytes(content)
    age(path)
    with pytest.raises(DamagedTraceError, match="page 1"):
        SqliteSource(path)
    with SqliteSource(path, salvage=True) as source:
        assert source.tables == {}
        assert source.damaged is not None
        assert "page 1" in source.damaged


def append(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO events VALUES (1, 'late', 1)")
    connection.commit()
    connection.close()


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(8192)


@pytest.mark.parametrize("change", [append, cut, os.utime, Path.unlink])
def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    path = make(tmp_path / "t.sqlite")
    with SqliteSource(path) as source:
        assert source.unchanged()
        change(path)
        assert not source.unchanged()
        with pytest.raises(TraceError, match="file changed while reading"):
            source.check_unchanged()


def test_a_file_cut_while_it_is_open_is_damage(tmp_path: Path) -> None:
    path = make(tmp_path / "t.sqlite")
    with SqliteSource(path, salvage=True) as source:
        cut(path)
        columns = source.read("events", {"name": "text"})
        assert columns.damaged is not None
        assert texts(columns.text("name")) == EXPECTED[: columns.rows]
