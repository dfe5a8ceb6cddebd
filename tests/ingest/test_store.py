"""The store's life: built once, never half, rebuilt when stale, kept small, read only."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import duckdb
import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_tid
from dctx.ingest import cache
from dctx.ingest import store as store_module
from dctx.ingest.errors import CancelledError, TraceError
from dctx.ingest.model import GpuKind, Layer
from dctx.ingest.progress import Done
from dctx.ingest.registry import import_trace, open_trace, recent_traces
from dctx.ingest.store import Store, open_store


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "t.sqlite")


def write_trace(path: Path, ranges: int = 3) -> Path:
    with ExportWriter(path) as export:
        for index in range(ranges):
            export.add(
                "NVTX_EVENTS",
                start=10 * index,
                end=10 * index + 5,
                eventType=59,
                text="range",
                globalTid=global_tid(1, 1),
            )
    return path


def ranges_in(store: Store) -> int:
    with store.cursor() as cursor:
        return int(cursor.execute("SELECT count(*) FROM host_event").fetchall()[0][0])


def cached(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "cache"
    return sorted(folder.iterdir()) if folder.exists() else []


def built(path: Path) -> bool:
    """Opens the trace; True when it had to be read for that."""
    stages: list[str] = []
    open_trace(path, progress=lambda stage, _: stages.append(stage)).close()
    return bool(stages)


def test_the_second_opening_reads_nothing(trace: Path, tmp_path: Path) -> None:
    summaries: list[int] = []
    store = open_trace(trace, on_summary=lambda early: summaries.append(early.events_ready))
    assert summaries == [False]
    assert store.events_ready
    assert ranges_in(store) == 3
    store.close()
    assert [path.suffix for path in cached(tmp_path)] == [".dctx"]
    assert not built(trace)


def test_the_summary_is_readable_while_events_are_written(trace: Path) -> None:
    seen: list[tuple[int, int]] = []

    def look(early: Store) -> None:
        with early.cursor() as cursor:
            nodes = cursor.execute("SELECT count(*) FROM path_node").fetchall()[0][0]
            events = cursor.execute("SELECT count(*) FROM host_event").fetchall()[0][0]
            seen.append((nodes, events))

    store = open_trace(trace, on_summary=look)
    assert seen == [(4, 0)]
    assert ranges_in(store) == 3
    store.close()


def test_a_reader_in_the_middle_of_a_question_is_waited_for(trace: Path) -> None:
    order: list[str] = []
    threads: list[threading.Thread] = []

    def ask_slowly(early: Store) -> None:
        asking = threading.Event()

        def read() -> None:
            with early.cursor() as cursor:
                asking.set()
                time.sleep(0.3)
                cursor.execute("SELECT count(*) FROM path_node").fetchall()
                order.append("answered")

        threads.append(threading.Thread(target=read))
        threads[0].start()
        asking.wait()

    store = open_trace(trace, on_summary=ask_slowly)
    order.append("opened")
    threads[0].join()
    assert order == ["answered", "opened"]
    assert ranges_in(store) == 3
    store.close()


def test_a_changed_file_is_read_again_and_its_old_store_removed(
    trace: Path, tmp_path: Path
) -> None:
    assert built(trace)
    first = cached(tmp_path)
    write_trace(trace, ranges=5)
    store = open_trace(trace)
    assert ranges_in(store) == 5
    store.close()
    assert len(cached(tmp_path)) == 1
    assert cached(tmp_path) != first


def test_a_touched_file_is_read_again(trace: Path) -> None:
    assert built(trace)
    os.utime(trace, ns=(1, 1))
    assert built(trace)


def test_another_name_of_the_file_shares_its_store(trace: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.sqlite"
    link.symlink_to(trace)
    assert built(trace)
    assert not built(link)


def test_a_store_of_another_version_is_rebuilt(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert built(trace)
    monkeypatch.setattr("dctx.ingest.registry.STORE_VERSION", 999)
    monkeypatch.setattr(store_module, "STORE_VERSION", 999)
    monkeypatch.setattr("dctx.ingest.writer.STORE_VERSION", 999)
    assert built(trace)
    assert not built(trace)


@pytest.mark.parametrize("damage", ["noise", "empty", "half", "unfinished"])
def test_a_store_that_does_not_open_is_rebuilt(trace: Path, tmp_path: Path, damage: str) -> None:
    assert built(trace)
    (entry,) = cached(tmp_path)
    content = entry.read_bytes()
    if damage == "noise":
        entry.write_bytes(os.urandom(len(content)))
    elif damage == "empty":
        entry.write_bytes(b"")
    elif damage == "half":
        entry.write_bytes(content[: len(content) // 2])
    else:
        with duckdb.connect(str(entry)) as connection:
            connection.execute("DELETE FROM trace WHERE key = 'complete'")
    assert built(trace)
    store = open_trace(trace)
    assert ranges_in(store) == 3
    store.close()


def test_without_cache_nothing_is_kept(trace: Path, tmp_path: Path) -> None:
    store = open_trace(trace, cache=False)
    assert store.path is None
    assert ranges_in(store) == 3
    with store.cursor() as cursor:
        assert cursor.execute("SELECT count(*) FROM note WHERE source = 'cache'").fetchall() == [
            (0,)
        ]
    store.close()
    assert cached(tmp_path) == []


def test_a_cache_that_cannot_be_written_means_memory_and_a_note(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    occupied = tmp_path / "a file"
    occupied.write_text("no folder")
    monkeypatch.setenv("DCTX_CACHE_DIR", str(occupied / "cache"))
    store = open_trace(trace)
    assert store.path is None
    assert ranges_in(store) == 3
    with store.cursor() as cursor:
        notes = cursor.execute("SELECT text FROM note WHERE source = 'cache'").fetchall()
    assert len(notes) == 1
    assert "in memory only" in notes[0][0]
    store.close()


def test_a_full_disk_means_memory(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dctx.ingest.registry._SPARE_BYTES", 2**62)
    store = open_trace(trace)
    assert store.path is None
    assert ranges_in(store) == 3
    store.close()
    assert cached(tmp_path) == []


def run(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of its own that runs `code`."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_disk_that_fills_up_while_writing_means_memory(trace: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: writes fail in the middle."""
    write_trace(trace, ranges=60_000)
    process = run(
        """
        import resource, sys
        from pathlib import Path
        from dctx.ingest.registry import open_trace
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
        summaries = []
        store = open_trace(Path(sys.argv[1]), on_summary=summaries.append)
        with store.cursor() as cursor:
            count = cursor.execute("SELECT count(*) FROM host_event").fetchall()[0][0]
            notes = cursor.execute("SELECT text FROM note WHERE source = 'cache'").fetchall()
        print(store.path, count, len(notes), len(summaries), summaries[0] is store)
        """,
        trace,
    )
    output, _ = process.communicate(timeout=240)
    assert output.split() == ["None", "60000", "1", "1", "True"]
    assert cached(tmp_path) == []


def test_a_killed_build_leaves_no_store_and_its_leftovers_go(trace: Path, tmp_path: Path) -> None:
    process = run(
        """
        import sys, time
        from pathlib import Path
        from dctx.ingest.registry import open_trace
        def stop(store):
            print("summary", flush=True)
            time.sleep(60)
        open_trace(Path(sys.argv[1]), on_summary=stop)
        """,
        trace,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "summary\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    left = cached(tmp_path)
    assert left
    assert all(".part" in path.name for path in left)
    assert built(trace)
    assert [path.suffix for path in cached(tmp_path)] == [".dctx"]


@pytest.mark.parametrize("when", [0.0, 0.2, 0.5, 0.9])
def test_a_cancelled_build_leaves_nothing(trace: Path, tmp_path: Path, when: float) -> None:
    def cancel(_: str, done: Done) -> None:
        assert isinstance(done, float)
        if done >= when:
            raise CancelledError

    with pytest.raises(CancelledError):
        open_trace(trace, progress=cancel)
    assert cached(tmp_path) == []
    assert built(trace)


def test_two_builders_of_one_trace_both_get_a_store(trace: Path, tmp_path: Path) -> None:
    write_trace(trace, ranges=20_000)
    code = """
        import sys
        from pathlib import Path
        from dctx.ingest.registry import open_trace
        store = open_trace(Path(sys.argv[1]))
        with store.cursor() as cursor:
            print(cursor.execute("SELECT count(*) FROM host_event").fetchall()[0][0])
        """
    processes = [run(code, trace) for _ in range(3)]
    assert [process.communicate(timeout=240)[0].strip() for process in processes] == ["20000"] * 3
    assert [path.suffix for path in cached(tmp_path)] == [".dctx"]


def test_the_cache_is_capped_least_recently_used_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write_trace(tmp_path / f"{name}.sqlite") for name in "abc"]
    assert built(paths[0])
    (entry,) = cached(tmp_path)
    os.utime(entry, (1, 1))
    assert built(paths[1])
    size = entry.stat().st_size
    monkeypatch.setattr(cache, "LIMIT_BYTES", size * 5 // 2)
    assert built(paths[2])
    assert len(cached(tmp_path)) == 2
    assert not built(paths[1])
    assert not built(paths[2])
    assert built(paths[0])


def test_spill_folders_of_dead_processes_go(trace: Path, tmp_path: Path) -> None:
    mine = cache.spill_path()
    other = mine.with_name(mine.name.replace(str(os.getpid()), "999999999"))
    for folder in (mine, other):
        folder.mkdir(parents=True)
        (folder / "block.tmp").write_bytes(b"data")
    assert built(trace)
    assert mine.exists()
    assert not other.exists()


def test_a_question_larger_than_memory_spills_into_the_cache(trace: Path, tmp_path: Path) -> None:
    write_trace(trace, ranges=10)
    store = open_trace(trace)
    with store.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE t AS SELECT i, hash(i) AS h FROM range(9000000) r(i)")
        assert cache.spill_path().exists()
    store.close()
    assert [path.suffix for path in cached(tmp_path)] == [".dctx"]


def test_an_imported_store_opens_by_itself(trace: Path, tmp_path: Path) -> None:
    output = tmp_path / "kept.dctx"
    import_trace(trace, output)
    trace.unlink()
    before = output.read_bytes()
    store = open_trace(output)
    assert store.events_ready
    assert store.source == trace
    assert ranges_in(store) == 3
    store.close()
    assert output.read_bytes() == before
    assert sorted(path.name for path in tmp_path.glob("kept*")) == ["kept.dctx"]


def test_an_import_that_fails_leaves_no_output(trace: Path, tmp_path: Path) -> None:
    output = tmp_path / "kept.dctx"

    def cancel(_: str, done: Done) -> None:
        assert isinstance(done, float)
        if done > 0.5:
            raise CancelledError

    with pytest.raises(CancelledError):
        import_trace(trace, output, progress=cancel)
    with pytest.raises(TraceError, match="no directory"):
        import_trace(trace, tmp_path / "no such folder" / "kept.dctx")
    assert list(tmp_path.glob("kept*")) == []


def test_a_store_is_not_imported_twice(trace: Path, tmp_path: Path) -> None:
    output = tmp_path / "kept.dctx"
    import_trace(trace, output)
    with pytest.raises(TraceError, match="store already"):
        import_trace(output, tmp_path / "again.dctx")


def test_a_foreign_or_old_database_is_told(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.dctx"
    with duckdb.connect(str(foreign)) as connection:
        connection.execute("CREATE TABLE t (i INTEGER)")
    with pytest.raises(TraceError, match="not a store of dctx"):
        open_store(foreign)
    old = tmp_path / "old.dctx"
    with duckdb.connect(str(old)) as connection:
        connection.execute("CREATE TABLE trace (key VARCHAR, value VARCHAR)")
        connection.execute("INSERT INTO trace VALUES ('store_version', '0'), ('complete', '1')")
    with pytest.raises(TraceError, match="version 0"):
        open_trace(old)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine (i INTEGER)",
        "DELETE FROM trace",
        "COPY trace TO '{folder}/out.csv'",
        "ATTACH '{folder}/other.db'",
        "SELECT * FROM read_text('{folder}/t.sqlite')",
        "SET enable_external_access = true",
        "INSTALL httpfs",
    ],
)
def test_questions_change_nothing_and_reach_nothing(
    trace: Path, tmp_path: Path, statement: str
) -> None:
    store = open_trace(trace)
    with store.cursor() as cursor, pytest.raises(duckdb.Error):
        cursor.execute(statement.format(folder=tmp_path))
    assert ranges_in(store) == 3
    store.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "state", "t.sqlite"]


def test_opened_traces_are_remembered_latest_first(tmp_path: Path) -> None:
    paths = [write_trace(tmp_path / f"{name}.sqlite") for name in "ab"]
    for path in (*paths, paths[0]):
        open_trace(path).close()
    assert [recent.paths for recent in recent_traces()] == [(path,) for path in paths]
    assert recent_traces()[0].size == paths[0].stat().st_size
    paths[1].unlink()
    assert [recent.paths for recent in recent_traces()] == [(paths[0],)]
    (tmp_path / "state" / "recent.json").write_text("not json")
    assert recent_traces() == []


def test_codes_have_names_in_the_store(trace: Path) -> None:
    store = open_trace(trace)
    with store.cursor() as cursor:
        kinds = cursor.execute("SELECT name FROM gpu_kind_name ORDER BY code").fetchall()
        layers = cursor.execute("SELECT count(*) FROM layer_name").fetchall()
    store.close()
    assert [name for (name,) in kinds] == [kind.name.lower() for kind in GpuKind]
    assert layers == [(len(Layer),)]


def test_what_a_killed_import_left_beside_its_output_goes_with_the_next_one(
    trace: Path, tmp_path: Path
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    output = tmp_path / "kept.dctx"
    left, alive = (
        cache.temporary_path(output).name.replace(f"-{os.getpid()}-", f"-{pid}-")
        for pid in (ended.pid, os.getpid())
    )
    for name in (left, left + ".wal", alive, "other.dctx.part"):
        (tmp_path / name).touch()
    import_trace(trace, output)
    names = {entry.name for entry in tmp_path.iterdir()} - {"cache"}
    assert names >= {"kept.dctx", alive, "other.dctx.part"}
    assert not {left, left + ".wal"} & names
