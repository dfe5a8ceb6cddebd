"""The writer of exports: what it writes is what SQLite reads back, in every layout."""

import sqlite3
from pathlib import Path

import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.demo_data.nsys_schema import TABLES, table_columns


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_ids_follow_the_bit_layout() -> None:
    assert global_tid(4000, 4001) == 1 << 48 | 4000 << 24 | 4001
    assert global_pid(4000) == global_tid(4000, 4001) & ~0xFFFFFF
    # Hardware ids from 128 on set the sign bit of the stored integer.
    assert global_pid(1, hardware=255) + (1 << 64) == 255 << 56 | 1 << 48 | 1 << 24


@pytest.mark.parametrize("year", [2020, 2021, 2022, 2023, 2025, 2026])
def test_every_table_of_every_year_is_valid(tmp_path: Path, year: int) -> None:
    path = tmp_path / "x.sqlite"
    with ExportWriter(path, year=year) as export:
        for table in TABLES:
            export.create(table)
    assert {
        name for (name,) in rows(path, "SELECT name FROM sqlite_master WHERE type = 'table'")
    } == set(TABLES)
    for table in TABLES:
        found = [row[1] for row in rows(path, f"PRAGMA table_info({table})")]
        assert found == [c.name for c in table_columns(table, year)]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_columns_come_and_go_with_the_year() -> None:
    def has(table: str, column: str, year: int) -> bool:
        return column in {c.name for c in table_columns(table, year)}

    assert has("CUDA_GRAPH_EVENTS", "graphNodeId", 2022)
    assert not has("CUDA_GRAPH_EVENTS", "graphNodeId", 2024)
    assert has("CUDA_GRAPH_EVENTS", "graphExecId", 2024)
    assert has("PROFILER_OVERHEAD", "returnValue", 2025)
    assert not has("PROFILER_OVERHEAD", "returnValue", 2026)
    assert not has("CUPTI_ACTIVITY_KIND_KERNEL", "mangledName", 2021)


def test_texts_are_interned_and_fillers_used(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with ExportWriter(path) as export:
        export.skip_string_ids(1000)
        for name in ("gemm", "softmax", "gemm"):
            export.add(
                "CUPTI_ACTIVITY_KIND_KERNEL", start=1, end=2, shortName=name, demangledName=7
            )
    found = rows(
        path,
        "SELECT shortName, demangledName, streamId, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL",
    )
    assert found == [(1000, 7, 0, None), (1001, 7, 0, None), (1000, 7, 0, None)]
    assert rows(path, "SELECT * FROM StringIds") == [(1000, "gemm"), (1001, "softmax")]


def test_bulk_rows_equal_single_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with ExportWriter(path) as export:
        export.create("one", "start:int! end:int text:text note:text!")
        export.create("many", "start:int! end:int text:text note:text!")
        for n in range(3):
            export.add("one", end=n, text=f"t{n}")
        export.rows("many", ("end", "text"), ((n, f"t{n}") for n in range(3)))
    assert rows(path, "SELECT * FROM one") == [(0, n, f"t{n}", "") for n in range(3)]
    assert rows(path, "SELECT * FROM many") == rows(path, "SELECT * FROM one")


def test_an_unknown_column_is_refused(tmp_path: Path) -> None:
    with ExportWriter(tmp_path / "x.sqlite") as export, pytest.raises(KeyError, match="no column"):
        export.add("PROCESSES", pid=1, colour="red")


def test_layouts_can_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with ExportWriter(path) as export:
        export.create("PROCESSES", without=["pid"], extra="kernelName:text")
        export.create("StringIds", without_rowid=True)
        export.add("PROCESSES", globalPid=1, name="p", kernelName="k")
        export.string("text")
        export.execute("ALTER TABLE PROCESSES ADD COLUMN late INTEGER DEFAULT 5")
    assert rows(path, "SELECT * FROM PROCESSES") == [(1, "p", "k", 5)]
    assert rows(path, "SELECT id, value FROM StringIds") == [(0, "text")]
    with pytest.raises(sqlite3.OperationalError):
        rows(path, "SELECT rowid FROM StringIds")


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
@pytest.mark.parametrize("reserved_bytes", [0, 32])
def test_page_layouts(tmp_path: Path, page_size: int, reserved_bytes: int) -> None:
    path = tmp_path / "x.sqlite"
    with ExportWriter(path, page_size=page_size, reserved_bytes=reserved_bytes) as export:
        for n in range(200):
            export.string("x" * n * 10)
    header = path.read_bytes()[:100]
    assert int.from_bytes(header[16:18], "big") in (page_size, page_size >> 16)
    assert header[20] == reserved_bytes
    longest = "SELECT max(length(value)), count(*) FROM StringIds"
    assert rows(path, longest) == [(1990, 200)]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_encodings_and_a_log_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with ExportWriter(path, encoding="UTF-16le") as export:
        export.process(4000, "é")
    assert rows(path, "PRAGMA encoding") == [("UTF-16le",)]
    assert rows(path, "SELECT name FROM PROCESSES") == [("é",)]

    path = tmp_path / "log.sqlite"
    with ExportWriter(path, leave_wal=True) as export:
        export.process(4000, "p")
    log = tmp_path / "log.sqlite-wal"
    assert log.stat().st_size > 0
    assert path.stat().st_size < log.stat().st_size
    assert rows(path, "SELECT pid FROM PROCESSES") == [(4000,)]


def test_metadata_is_where_the_year_keeps_it(tmp_path: Path) -> None:
    for year, table in ((2021, None), (2022, "EXPORT_META_DATA"), (2026, "META_DATA_EXPORT")):
        path = tmp_path / f"{year}.sqlite"
        with ExportWriter(path, year=year) as export:
            export.describe("1.2", "3.0.0")
            export.process(1, "p")
        found = {
            n for (n,) in rows(path, "SELECT name FROM sqlite_master WHERE name LIKE '%META%'")
        }
        assert found == ({table} if table else set())
