"""Exports of any year and state: what is missing is told, what is there is shown."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.errors import DamagedTraceError, NotATraceError, TraceError
from dctx.ingest.registry import open_trace

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
NVTX = "NVTX_EVENTS"
TID = global_tid(1, 1)
NAMES = """SELECT s.text FROM gpu_op o JOIN string s ON s.id = o.name
           UNION ALL SELECT s.text FROM host_event h JOIN string s ON s.id = h.name"""
FACTS = "SELECT key, value FROM trace"
NOTES = "SELECT severity, text FROM note"
COUNTS = """SELECT (SELECT count(*) FROM gpu_op), (SELECT count(*) FROM host_event),
                   (SELECT count(*) FROM path_node)"""


def ask(path: Path, *questions: str, salvage: bool = False) -> list[list[tuple[Any, ...]]]:
    """The answers of a store to questions in SQL."""
    store = open_trace(path, cache=False, salvage=salvage)
    try:
        with store.cursor() as cursor:
            return [cursor.execute(question).fetchall() for question in questions]
    finally:
        store.close()


def fill(export: ExportWriter, rows: int = 1) -> None:
    """Launches of kernels inside one range."""
    for index in range(rows):
        export.add(
            RUNTIME,
            start=100 * index,
            end=100 * index + 10,
            globalTid=TID,
            nameId="cudaLaunchKernel_v7000",
            correlationId=index + 1,
        )
        export.add(
            KERNEL,
            start=100 * index + 50,
            end=100 * index + 60,
            deviceId=0,
            contextId=1,
            streamId=7,
            correlationId=index + 1,
            shortName="gemm",
            demangledName="gemm<>",
            globalPid=global_pid(1),
        )
    export.add(NVTX, start=0, end=100 * rows, eventType=59, text="all", globalTid=TID)


@pytest.mark.parametrize("year", [2021, 2022, 2023, 2024, 2025, 2026])
def test_exports_of_every_year_open(tmp_path: Path, year: int) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path, year=year) as export:
        export.describe("1.2.3", "4.5")
        fill(export)
    counts, names, facts = ask(path, COUNTS, NAMES, FACTS)
    assert counts == [(1, 2, 6)]
    assert sorted(text for (text,) in names) == ["all", "cudaLaunchKernel_v7000", "gemm"]
    known = dict(facts)
    assert known.get("producer_version") == ("1.2.3" if year > 2021 else None)
    assert known["format"] == "nsys"
    assert known["producer"] == "NVIDIA Nsight Systems"


def test_optional_columns_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.create(KERNEL, "start:int end:int deviceId:int streamId:int shortName:str")
        export.create(RUNTIME, "start:int end:int globalTid:int nameId:str")
        export.create(NVTX, "start:int eventType:int text:text")
        export.add(KERNEL, start=50, end=60, deviceId=0, streamId=7, shortName="gemm")
        export.add(RUNTIME, start=0, end=10, globalTid=TID, nameId="cudaMalloc")
        export.add(NVTX, start=5, eventType=59, text="open")
    counts, names, notes = ask(path, COUNTS, NAMES, NOTES)
    assert counts[0][:2] == (1, 2)
    assert sorted(text for (text,) in names) == ["cudaMalloc", "gemm", "open"]
    texts = [text for _, text in notes]
    assert "Calls carry no class: all are taken as runtime calls." in texts
    assert "GPU work does not name its process." in texts


@pytest.mark.parametrize(
    ("table", "column"),
    [(KERNEL, "streamId"), (KERNEL, "end"), (RUNTIME, "globalTid"), (NVTX, "eventType")],
)
def test_a_table_without_a_needed_column_counts_as_absent(
    tmp_path: Path, table: str, column: str
) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        fill(export)
        export.execute(f'ALTER TABLE {table} RENAME COLUMN "{column}" TO other')
    counts, facts = ask(path, COUNTS, FACTS)
    gone = {KERNEL: (0, 2), RUNTIME: (1, 1), NVTX: (1, 1)}[table]
    assert counts[0][:2] == gone
    assert dict(facts)[f"unused.{table}.not_read"] == "1"
    assert dict(facts)[f"used.{table}"] == "0"


def test_tables_under_a_versioned_name_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        fill(export)
        export.execute(f"ALTER TABLE {KERNEL} RENAME TO {KERNEL}_V3")
        export.execute(f"ALTER TABLE {NVTX} RENAME TO {NVTX}_V2")
    counts, facts = ask(path, COUNTS, FACTS)
    assert counts[0][:2] == (1, 2)
    assert dict(facts)[f"used.{KERNEL}_V3"] == "1"


def test_columns_indexes_and_views_of_the_user_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        fill(export)
        export.execute(f"ALTER TABLE {KERNEL} ADD COLUMN kernelName TEXT DEFAULT 'mine'")
        export.execute(f"CREATE INDEX _mine_start ON {KERNEL}(start)")
        export.execute(f"CREATE VIEW mine AS SELECT * FROM {KERNEL}")
        export.execute("CREATE TABLE notes_of_mine (text TEXT)")
        export.execute("INSERT INTO notes_of_mine VALUES ('mine')")
    counts, strings, facts = ask(path, COUNTS, "SELECT text FROM string", FACTS)
    assert counts[0][:2] == (1, 2)
    assert not any("mine" in text for (text,) in strings)
    assert dict(facts)["unused.notes_of_mine.not_read"] == "1"


def test_dangling_strings_are_shown_by_id(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        fill(export)
        export.add(RUNTIME, start=5000, end=5010, globalTid=TID, nameId=1234, correlationId=9)
        export.add(
            RUNTIME, start=6000, end=6010, globalTid=TID, nameId=2_000_000_000, correlationId=10
        )
    names, notes = ask(path, NAMES, NOTES)
    assert ("<string 1234>",) in names
    assert ("<string 2000000000>",) in names
    assert (2, "2 names are missing from the string table: shown by id.") in notes


def test_sparse_string_ids_are_found(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.skip_string_ids(3_400_000)
        fill(export)
    (names,) = ask(path, NAMES)
    assert sorted(text for (text,) in names) == ["all", "cudaLaunchKernel_v7000", "gemm"]


def test_no_string_table_at_all(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add(RUNTIME, start=0, end=10, globalTid=TID, nameId=7, correlationId=1)
    names, notes = ask(path, NAMES, NOTES)
    assert names == [("<string 7>",)]
    assert (2, "The file holds no string table: names are ids.") in notes


def test_names_of_cuda_objects_are_no_events(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for event_type in (97, 98, 99):
            export.add(NVTX, start=0, eventType=event_type, text="named", globalTid=TID)
    (facts,) = ask(path, FACTS)
    assert dict(facts)[f"unused.{NVTX}.cuda_object_name"] == "3"


def test_only_annotations(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add(NVTX, start=0, end=10, eventType=59, text="range", globalTid=TID)
    counts, times, facts = ask(path, COUNTS, "SELECT count(*) FROM device_time", FACTS)
    assert counts == [(0, 1, 4)]
    assert times == [(0,)]
    assert "gpu_window_start_ns" not in dict(facts)
    lacking = {key: value for key, value in facts if key.startswith("capability.")}
    assert lacking["capability.annotations"] == ""
    assert lacking["capability.gpu_work"].startswith("if the program did use the GPU")
    assert "--trace=cuda" in lacking["capability.launches"]
    assert "--cuda-memory-usage" in lacking["capability.memory"]


@pytest.mark.parametrize(("table", "words"), [(None, "--trace=nvtx"), (NVTX, "set no NVTX ranges")])
def test_missing_annotations_are_told(tmp_path: Path, table: str | None, words: str) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        if table is not None:
            export.create(table)
        export.add(RUNTIME, start=0, end=9, globalTid=TID, nameId="cudaLaunchKernel")
    (facts,) = ask(path, FACTS)
    known = dict(facts)
    assert words in known["capability.annotations"]
    assert known["capability.launches"] == ""
    assert known["capability.gpu_work"].startswith("CUDA was called")


def test_calls_without_gpu_work_are_a_capture_problem(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add("DIAGNOSTIC_EVENT", timestamp=1, severity=3, text="CUPTI is not permitted.")
        export.add("DIAGNOSTIC_EVENT", timestamp=1, severity=1, text="Only information.")
        export.create(KERNEL)
        export.add(
            RUNTIME, start=0, end=10, globalTid=TID, nameId="cudaLaunchKernel", correlationId=1
        )
    notes, times = ask(path, NOTES, "SELECT count(*) FROM device_time")
    assert (3, "CUPTI is not permitted.") in notes
    assert not any("Only information" in text for _, text in notes)
    assert any("No GPU work was recorded" in text for _, text in notes)
    assert times == [(0,)]


def test_only_metadata(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.describe("2024.5.1", "3.13.2")
        export.add("TARGET_INFO_GPU", id=0, cuDevice=0, name="H100")
        export.add("TARGET_INFO_SYSTEM_ENV", name="OsDescription", value="Linux 6")
        export.add("META_DATA_CAPTURE", name="RATE_HZ", value="1000")
    counts, facts, devices = ask(path, COUNTS, FACTS, "SELECT name FROM device")
    assert counts == [(0, 0, 1)]
    known = dict(facts)
    assert known["host.os"] == "Linux 6"
    assert known["option.RATE_HZ"] == "1000"
    assert devices == [("H100",)]


@pytest.mark.parametrize("table", ["META_DATA_EXPORT", "TARGET_INFO_GPU", "StringIds"])
def test_one_table_without_events_is_enough(tmp_path: Path, table: str) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.create(table)
    counts, notes = ask(path, COUNTS, NOTES)
    assert counts == [(0, 0, 1)]
    assert [text for _, text in notes if "no events" in text]


def test_an_empty_kernel_table_is_as_none(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.create(KERNEL)
        export.create("CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
        export.create("COMPOSITE_EVENTS")
        export.create("SCHED_EVENTS")
        export.create("GPU_METRICS")
        export.create("CUDA_GPU_MEMORY_USAGE_EVENTS")
        export.create("OSRT_API")
        export.create(NVTX)
        export.create(RUNTIME)
        export.create("CUDA_CALLCHAINS")
    counts, facts = ask(path, COUNTS, FACTS)
    assert counts == [(0, 0, 1)]
    assert dict(facts)[f"rows.{KERNEL}"] == "0"


def test_a_database_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE customers (name TEXT)")
        db.execute("CREATE TABLE orders (id INTEGER)")
    with pytest.raises(NotATraceError, match="not an nsys export") as caught:
        open_trace(path)
    assert "customers" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\0" * 8192, "export was interrupted"),
        (b"PK\x03\x04 something else" * 10, "zip archive is cut or damaged"),
        (b"SQLite format 3\0" + bytes(range(100, 164)), "was cut"),
    ],
    ids=["empty", "zeros", "archive", "header only"],
)
def test_what_is_no_trace_gets_its_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "t.sqlite"
    path.write_bytes(content)
    os.utime(path, (1, 1))
    with pytest.raises(TraceError, match=words) as caught:
        open_trace(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_folder_a_missing_and_a_forbidden_file(tmp_path: Path) -> None:
    with pytest.raises(NotATraceError, match="folder"):
        open_trace(tmp_path)
    with pytest.raises(TraceError, match="no such file"):
        open_trace(tmp_path / "missing.sqlite")
    path = tmp_path / "t.sqlite"
    path.write_bytes(b"SQLite format 3\0")
    path.chmod(0)
    if not os.access(path, os.R_OK):  # root reads everything
        with pytest.raises(TraceError, match="may not read"):
            open_trace(path)


def _damage(path: Path, table: str) -> None:
    """Overwrite a page in the middle of a table with noise."""
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        pages = [
            page
            for (page,) in db.execute(
                "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,)
            )
        ]
    with path.open("r+b") as file:
        file.seek((pages[len(pages) // 2] - 1) * size)
        file.write(b"\xff" * size)
    os.utime(path, (1, 1))


def test_a_damaged_table_stops_the_import_unless_salvaged(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path, page_size=512) as export:
        fill(export, rows=400)
    try:
        _damage(path, KERNEL)
    except sqlite3.OperationalError:
        pytest.skip("this SQLite library lacks dbstat")
    before = path.read_bytes()
    with pytest.raises(DamagedTraceError, match=KERNEL) as caught:
        open_trace(path)
    assert "page" in caught.value.where
    counts, notes, facts = ask(path, COUNTS, NOTES, FACTS, salvage=True)
    kernels, events, _ = counts[0]
    assert 0 < kernels < 400
    assert events == 401
    assert any(severity == 3 and KERNEL in text for severity, text in notes)
    known = dict(facts)
    assert int(known[f"rows.{KERNEL}"]) == kernels
    assert path.read_bytes() == before


def test_a_truncated_file_is_told_and_salvaged(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path, page_size=512) as export:
        fill(export, rows=400)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 // 512 * 512])
    os.utime(path, (1, 1))
    with pytest.raises(DamagedTraceError, match="still being written or was cut"):
        open_trace(path)
    counts, notes = ask(path, COUNTS, NOTES, salvage=True)
    assert sum(counts[0][:2]) > 0
    assert any(severity == 3 for severity, _ in notes)


def test_rows_only_in_the_write_ahead_log_are_read_from_a_copy(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    path = folder / "t.sqlite"
    with ExportWriter(path, leave_wal=True) as export:
        fill(export, rows=3)
    names = sorted(os.listdir(folder))
    before = {name: (folder / name).read_bytes() for name in names}
    assert "t.sqlite-wal" in names
    counts, facts = ask(path, COUNTS, FACTS)
    assert counts[0][:2] == (3, 4)
    assert "copy" in dict(facts)["reader"]
    assert {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))} == before


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_other_encodings_go_through_the_library(tmp_path: Path, encoding: Any) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path, encoding=encoding) as export:
        fill(export, rows=3)
    counts, facts = ask(path, COUNTS, FACTS)
    assert counts[0][:2] == (3, 4)
    assert dict(facts)["reader"].startswith("SQLite library")


def test_the_file_and_its_folder_stay_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    path = folder / "t.sqlite"
    with ExportWriter(path) as export:
        fill(export, rows=50)
    os.utime(path, ns=(10**18, 10**18))
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(os.listdir(folder)))
    folder.chmod(0o555)
    try:
        ask(path, COUNTS)
        ask(path, COUNTS)
        assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(os.listdir(folder))) == before
    finally:
        folder.chmod(0o755)
