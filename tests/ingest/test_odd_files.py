"""Files that are no ordinary files, odd names, rights, and files that change while read."""

import gzip
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_tid
from dctx.ingest.errors import DamagedTraceError, NotATraceError, TraceError
from dctx.ingest.registry import import_trace, open_trace, recent_traces
from dctx.ingest.store import Store

NVTX = "NVTX_EVENTS"
ODD_NAME = os.fsdecode(b"bad\xff\xfe.sqlite")


def write_trace(path: Path, ranges: int = 3, leave_wal: bool = False) -> Path:
    thread = global_tid(1, 1)
    with ExportWriter(path, leave_wal=leave_wal) as export:
        export.create(NVTX)
        export.rows(
            NVTX,
            ("start", "end", "eventType", "text", "globalTid"),
            ((10 * i, 10 * i + 5, 59, f"range {i}", thread) for i in range(ranges)),
        )
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "t.sqlite")


def ranges_in(store: Store) -> int:
    with store.cursor() as cursor:
        return int(cursor.execute("SELECT count(*) FROM host_event").fetchall()[0][0])


def opened_ranges(path: Path) -> int:
    store = open_trace(path)
    try:
        return ranges_in(store)
    finally:
        store.close()


def cached(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# ---------------------------------------------------------------------- no files --


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.sqlite"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path)[-100:] if len(str(path)) < 100 else os.path.relpath(path))
    with pytest.raises(NotATraceError, match="Save it to a file first"):
        open_trace(path)


# ---------------------------------------------------------------------- odd names --


def test_a_name_that_is_not_utf8_is_opened_and_shown(tmp_path: Path) -> None:
    path = write_trace(tmp_path / ODD_NAME)
    assert opened_ranges(path) == 3
    store = open_trace(path)  # from the cache
    with store.cursor() as cursor:
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
        names = cursor.execute("SELECT text FROM string").fetchall()
    store.close()
    assert facts["source_path"] == str(tmp_path / "bad\ufffd\ufffd.sqlite")
    assert ("bad\ufffd\ufffd.sqlite",) in names
    assert [recent.paths for recent in recent_traces()] == [(path,)]


def test_messages_about_odd_names_can_be_printed(tmp_path: Path) -> None:
    with pytest.raises(TraceError) as caught:
        open_trace(tmp_path / ODD_NAME)
    str(caught.value).encode()
    store = tmp_path / os.fsdecode(b"\xff.dctx")
    with pytest.raises(TraceError) as caught:
        import_trace(write_trace(tmp_path / "t.sqlite"), store)
    str(caught.value).encode()
    assert not list(tmp_path.glob("*.part*"))


def test_a_cache_directory_that_is_not_utf8_means_memory(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "kept.dctx"
    import_trace(trace, output)
    monkeypatch.setenv("DCTX_CACHE_DIR", str(tmp_path / os.fsdecode(b"cache\xff")))
    store = open_trace(trace)
    assert store.path is None
    assert ranges_in(store) == 3
    store.close()
    assert opened_ranges(output) == 3


# ------------------------------------------------------------------------- rights --


def test_the_cache_is_for_its_owner_only(trace: Path, tmp_path: Path) -> None:
    modes: set[int] = set()

    def look(*_: object) -> None:
        folder = tmp_path / "cache"
        if folder.exists():
            modes.update(mode(path) for path in folder.iterdir())

    trace.chmod(0o644)
    store = open_trace(trace, on_summary=look)
    store.close()
    look()
    assert modes == {0o600}
    assert mode(tmp_path / "cache") == 0o700
    assert mode(tmp_path / "state" / "recent.json") == 0o600


@pytest.mark.parametrize(("rights", "expected"), [(0o600, 0o600), (0o640, 0o640), (0o666, 0o644)])
def test_an_imported_store_is_read_by_no_one_who_may_not_read_the_trace(
    trace: Path, tmp_path: Path, rights: int, expected: int
) -> None:
    trace.chmod(rights)
    output = tmp_path / "kept.dctx"
    before = os.umask(0o022)
    try:
        import_trace(trace, output)
    finally:
        os.umask(before)
    assert mode(output) == expected


def test_a_missing_directory_of_an_import_is_named(trace: Path, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="there is no directory"):
        import_trace(trace, tmp_path / "nodir" / "x.dctx")


# ------------------------------------------------------------------ damaged stores --


ALL = "SELECT sum(dur_ns), max(name), max(depth), max(self_ns) FROM host_event"
_BLOCK = 262_144


def _damage_an_event(path: Path) -> None:
    """Overwrite the first block that only questions about events read."""
    whole = path.read_bytes()
    for block in range(12288, len(whole), _BLOCK):
        damaged = whole[:block] + b"\xa5" * _BLOCK + whole[block + _BLOCK :]
        path.write_bytes(damaged[: len(whole)])
        try:
            with duckdb.connect(path, read_only=True) as connection:
                connection.execute("SELECT key, value FROM trace").fetchall()
                try:
                    connection.execute(ALL).fetchall()
                except duckdb.Error:
                    return
        except duckdb.Error:
            continue
    pytest.fail("no such block")


def test_damage_found_by_a_question_is_told(tmp_path: Path) -> None:
    output = tmp_path / "kept.dctx"
    import_trace(write_trace(tmp_path / "t.sqlite", 200_000), output)
    _damage_an_event(output)
    store = open_trace(output)
    with pytest.raises(DamagedTraceError, match="store is damaged"), store.cursor() as cursor:
        cursor.execute(ALL).fetchall()
    store.close()
    assert output.exists()
    output.write_bytes(output.read_bytes()[: 2 * _BLOCK] + bytes(4 * _BLOCK))
    with pytest.raises(TraceError, match=r"Import the trace again"):
        open_trace(output)


def test_a_damaged_cache_entry_is_removed_and_built_again(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t.sqlite", 200_000)
    open_trace(path).close()
    (entry,) = cached(tmp_path)
    _damage_an_event(entry)
    store = open_trace(path)
    with pytest.raises(DamagedTraceError, match="Open the trace again"), store.cursor() as cursor:
        cursor.execute(ALL).fetchall()
    store.close()
    assert not entry.exists()
    assert opened_ranges(path) == 200_000


def test_other_errors_of_a_question_stay_what_they_are(trace: Path) -> None:
    store = open_trace(trace)
    with pytest.raises(duckdb.CatalogException), store.cursor() as cursor:
        cursor.execute("SELECT * FROM nothing")
    store.close()


# ------------------------------------------------------- files that change meanwhile --


def test_a_log_that_appears_later_is_read(tmp_path: Path) -> None:
    later = write_trace(tmp_path / "later.sqlite", 5, leave_wal=True)
    path = tmp_path / "t.sqlite"
    shutil.copy(later, path)
    log = Path(f"{later}-wal")
    assert log.stat().st_size
    with pytest.raises(TraceError):
        open_trace(path)
    shutil.copy(log, f"{path}-wal")
    assert opened_ranges(path) == 5


def test_the_log_is_part_of_the_cache_key(trace: Path, tmp_path: Path) -> None:
    open_trace(trace).close()
    (entry,) = cached(tmp_path)
    Path(f"{trace}-wal").write_bytes(b"")  # an empty one says nothing
    open_trace(trace).close()
    assert cached(tmp_path) == [entry]
    Path(f"{trace}-wal").write_bytes(b"\0" * 32)
    open_trace(trace).close()
    assert entry not in cached(tmp_path)


@pytest.mark.parametrize("how", ["replaced", "grown"])
def test_a_file_that_changes_while_read_is_told(trace: Path, tmp_path: Path, how: str) -> None:
    other = write_trace(tmp_path / "other.sqlite", 50)
    done: list[bool] = []

    def change(*_: object) -> None:
        if done:
            return
        done.append(True)
        if how == "replaced":
            other.replace(trace)
        else:
            with trace.open("ab") as file:
                file.write(bytes(4096))

    with pytest.raises(TraceError, match="file changed while reading"):
        open_trace(trace, progress=change)
    assert not list((tmp_path / "cache").glob("*.dctx"))
    assert not list((tmp_path / "cache").glob("*.part*"))


def test_two_processes_open_the_same_new_trace(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t.sqlite", 20_000)
    code = textwrap.dedent("""
        import sys
        from pathlib import Path
        from dctx.ingest.registry import open_trace
        store = open_trace(Path(sys.argv[1]))
        with store.cursor() as cursor:
            print(cursor.execute("SELECT count(*) FROM host_event").fetchall()[0][0])
        store.close()
    """)
    command = [sys.executable, "-c", code, str(path)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    said = [process.communicate(timeout=240) for process in running]
    assert said == [(b"20000\n", b"")] * 2
    assert [entry.suffix for entry in cached(tmp_path)] == [".dctx"]


def test_a_killed_load_is_done_again(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t.sqlite", 20_000)
    code = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from dctx.ingest.registry import open_trace
        def stop(stage, fraction):
            if fraction > 0.7:
                os.kill(os.getpid(), signal.SIGKILL)
        open_trace(Path(sys.argv[1]), progress=stop)
    """)
    killed = subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=240)
    assert killed.returncode == -signal.SIGKILL
    assert any(".part" in entry.name for entry in cached(tmp_path))
    assert opened_ranges(path) == 20_000
    assert [entry.suffix for entry in cached(tmp_path)] == [".dctx"]


def test_read_only_folders(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o500)
    trace.parent.chmod(0o500)
    try:
        if os.access(trace.parent, os.W_OK):
            pytest.skip("this user writes everywhere")
        store = open_trace(trace)
        assert store.path is None
        assert ranges_in(store) == 3
        store.close()
    finally:
        trace.parent.chmod(0o700)


def test_a_damaged_database_that_was_packed_is_told_by_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite.gz"
    path.write_bytes(gzip.compress(b"SQLite format 3\0" + bytes(5000)))
    with pytest.raises(TraceError, match=r"t\.sqlite\.gz.*: .*SQLite header") as failed:
        open_trace(path)
    assert "dctx-" not in str(failed.value)


def test_too_little_memory_is_told_as_such(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_left(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("dctx.ingest.nsys.load", nothing_left)
    with pytest.raises(TraceError, match=r"not enough memory for it .*use a larger machine"):
        open_trace(trace)
