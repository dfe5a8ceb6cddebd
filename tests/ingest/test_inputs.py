"""A file of a trace, opened: what is inside, its bytes, cuts, changes, cancelling, leftovers."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_tid
from dctx.ingest.detect import Content
from dctx.ingest.errors import CancelledError, NotATraceError, TraceError
from dctx.ingest.inputs import Source
from dctx.ingest.memory import shortage
from dctx.ingest.progress import Done
from dctx.ingest.registry import import_trace, open_trace, recent_traces

EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": f"op {i}", "pid": 1, "tid": 1, "ts": i, "dur": 1}
    for i in range(40_000)
]
TEXT = json.dumps({"schemaVersion": 1, "traceEvents": EVENTS}).encode()
SHORT = TEXT[:10_000]
"""Enough where only the packing matters."""


def plain(path: Path, data: bytes = TEXT) -> Path:
    path.write_bytes(data)
    return path


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "dctx-inflate"]


@pytest.mark.parametrize("packed", ["plain", "gzip", "xz", "gzip twice", "zip", "zip of gzip"])
def test_the_bytes_inside_are_the_same_whatever_is_around_them(tmp_path: Path, packed: str) -> None:
    path = tmp_path / "a name without an ending"
    data = gzip.compress(TEXT) if "gzip" in packed else TEXT
    if packed == "gzip twice":
        data = gzip.compress(data)
    if packed == "xz":
        data = lzma.compress(data, preset=0)
    if packed.startswith("zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("__MACOSX/._t.json", b"resource fork")
            archive.writestr("run/readme.md", b"recorded on Monday")
            archive.writestr("run/t.json", data)
    else:
        plain(path, data)
    told: list[Done] = []
    source = Source(path)
    assert source.content is Content.KINETO
    assert TEXT.startswith(source.head)
    assert len(source.head) >= 65536
    for _ in range(2):  # a second reading begins again
        assert b"".join(source.chunks(told.append)) == TEXT
    assert source.read_all() == TEXT
    assert source.cut == ""
    assert all(isinstance(done, float) and 0 <= done <= 1 for done in told)
    assert told[-1] == 1.0
    source.close()
    assert threads() == []


def test_zip_archives_without_one_trace_list_what_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rank0.json", TEXT)
        archive.writestr("rank1.json", TEXT)
    with pytest.raises(NotATraceError, match=r"2 traces \(members: rank0.json, rank1.json\)"):
        Source(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", b"\x80\x02}")
        archive.writestr("version", b"3")
    with pytest.raises(NotATraceError, match=r"no trace \(members: data.pkl, version\)"):
        Source(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(NotATraceError, match="this is a workbook, not a trace"):
        Source(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weights.pkl", b"\x80\x02}")
    with pytest.raises(NotATraceError, match="pickles are never loaded"):
        Source(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.mkdir("empty")
    with pytest.raises(NotATraceError, match="empty"):
        Source(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t.json", TEXT)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(NotATraceError, match="cut or damaged"):
        Source(path)


def test_the_trace_among_many_members_of_a_zip_archive_is_found(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(100):
            archive.writestr(f"{number}.txt", b"x")
        archive.writestr("z.json", TEXT)
    source = Source(path)
    assert source.read_all() == TEXT
    source.close()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("t.gz", gzip.compress(SHORT)[:9], "the gzip stream is cut.*; nothing of the trace can be"),
        ("t.bz2", bz2.compress(SHORT)[:60], "the bzip2 stream is cut; nothing"),
        ("t.xz", lzma.compress(SHORT)[:13] + b"x" * 60, "the xz stream is damaged.*; nothing"),
        ("t.gz", gzip.compress(b""), "there is nothing inside the gzip file.*Record it again"),
        ("t.zip", b"PK\x05\x06" + bytes(18), "the zip archive is empty"),
    ],
    ids=["cut gz", "cut bz2", "damaged xz", "empty gz", "empty zip"],
)
def test_packed_files_of_which_nothing_can_be_read_are_not_called_empty(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    with pytest.raises(NotATraceError, match=words):
        Source(plain(tmp_path / name, data))


def test_what_does_not_fit_into_memory_is_told_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(plain(tmp_path / "t.json.gz", gzip.compress(TEXT + b" " * 2**27, 1)))
    monkeypatch.setattr("dctx.ingest.inputs.shortage", lambda: (3 * 2**30, 2**29))
    words = r"t.json.gz: it does not fit into memory: 3.0 GiB are in use after \d+ % of the file, "
    with pytest.raises(TraceError, match=words + "and 0.5 GiB are left. Record fewer steps"):
        source.read_all()
    source.close()
    assert threads() == []


@pytest.mark.parametrize(
    ("used_gib", "left_gib", "short"), [(0.5, 0.01, False), (4, 2, False), (4, 0.5, True)]
)
def test_memory_is_short_when_a_large_process_has_little_left(
    used_gib: float, left_gib: float, short: bool
) -> None:
    used, left = int(used_gib * 2**30), int(left_gib * 2**30)
    assert shortage(used, left) == ((used, left) if short else None)


def test_a_database_that_needs_more_disk_than_there_is_is_not_unpacked_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    path = plain(tmp_path / "t.gz", gzip.compress(b"SQLite format 3\0" + b"\0" * 2**27, 1))

    def no_room(folder: str) -> bool:
        del folder
        return False

    monkeypatch.setattr("dctx.ingest.inputs._has_room", no_room)
    with pytest.raises(TraceError, match=r"cannot be unpacked into .*No space left.*TMPDIR"):
        Source(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.gz"]


def test_a_damaged_zip_member_ends_early(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("t.json", TEXT)
    data = bytearray(path.read_bytes())
    data[len(TEXT) // 2] ^= 1
    path.write_bytes(data)
    source = Source(path)
    assert len(source.read_all()) > len(TEXT) // 2
    assert "t.json is damaged" in source.cut
    source.close()


def test_a_cut_stream_gives_what_it_holds(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT)
    source = Source(plain(tmp_path / "t.json.gz", packed[: len(packed) * 7 // 10]))
    out = source.read_all()
    assert TEXT.startswith(out)
    assert len(out) > len(TEXT) // 2
    assert source.cut == "the gzip stream is cut"
    source.close()


def test_metadata_of_megabytes_is_looked_through(tmp_path: Path) -> None:
    long = {"schemaVersion": 1, "groups": [list(range(1000))] * 300, "traceEvents": EVENTS[:3]}
    source = Source(plain(tmp_path / "t.json", json.dumps(long).encode()))
    assert source.content is Content.KINETO
    assert len(source.head) > 2**20
    source.close()
    plain(tmp_path / "t.json", b'{"a": [' + b"1," * 2**23 + b'1], "traceEvents": []}')
    with pytest.raises(NotATraceError, match="keys found: a"):
        Source(tmp_path / "t.json")


def test_a_compressed_database_is_spooled_privately_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))
    with ExportWriter(tmp_path / "t.sqlite") as export:
        export.add(
            "NVTX_EVENTS", start=0, end=5, eventType=59, text="r", globalTid=global_tid(1, 1)
        )
    path = plain(tmp_path / "t.sqlite.gz", gzip.compress((tmp_path / "t.sqlite").read_bytes()))
    source = Source(path)
    assert source.content is Content.NSYS
    assert source.file is not None
    assert source.file.read_bytes() == (tmp_path / "t.sqlite").read_bytes()
    assert source.file.is_relative_to(spool)
    assert source.file.parent.stat().st_mode & 0o077 == 0
    source.close()
    assert list(spool.iterdir()) == []
    told: list[tuple[str, Done]] = []
    store = open_trace(path, progress=lambda stage, done: told.append((stage, done)))
    with store.cursor() as cursor:
        assert cursor.execute("SELECT count(*) FROM host_event").fetchall() == [(1,)]
    store.close()
    assert list(spool.iterdir()) == []
    # Unpacking is a part of the whole, and what comes after it goes on from there.
    stages = [stage for stage, _ in told]
    count = stages.count("Unpacking")
    assert stages[:count] == ["Unpacking"] * count
    assert told[count - 1] == ("Unpacking", 0.3)
    fractions = [done for _, done in told if isinstance(done, float)]
    assert fractions == sorted(fractions)
    assert len(fractions) == len(told) > count


def test_spooling_into_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"SQLite format 3\0" + os.urandom(2**20)
    path = plain(tmp_path / "t.sqlite.gz", gzip.compress(data))
    real = Path.open

    def full(self: Path, mode: str = "r", **options: int) -> object:
        return real(Path("/dev/full"), mode) if self.name == "trace.sqlite" else real(self, mode)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(TraceError, match=r"cannot be unpacked into .*No space left.*TMPDIR"):
        Source(path)


def test_cancelling_stops_the_thread_at_once(tmp_path: Path) -> None:
    path = plain(tmp_path / "t.json.gz", gzip.compress(TEXT * 20, 1))

    def cancel(done: Done) -> None:
        if done != 0.0:
            raise CancelledError

    source = Source(path)
    with pytest.raises(CancelledError):
        for _ in source.chunks(cancel):
            pass
    assert threads() == []
    chunks = source.chunks()  # one who does not come back
    next(chunks)
    source.close()
    with pytest.raises(ValueError, match="closed"):
        list(source.chunks())
    deadline = time.monotonic() + 120
    while threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads() == []


def test_a_file_that_grows_while_read_is_told(tmp_path: Path) -> None:
    path = plain(tmp_path / "t.json")
    source = Source(path)
    source.check_unchanged()
    with path.open("ab") as file:
        file.write(b" ")
    with pytest.raises(TraceError, match="still being written"):
        source.check_unchanged()
    source.close()


def test_a_refused_file_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotATraceError, match="the file is empty"):
        Source(plain(tmp_path / "empty.json", b""))
    with pytest.raises(NotATraceError, match="there is nothing inside the gzip"):
        Source(plain(tmp_path / "empty.json.gz", gzip.compress(b"")))
    assert threads() == []


# ------------------------------------------------------------------ standard input --


def run_with_input(code: str, data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)


def test_json_from_the_standard_input_is_a_stream(tmp_path: Path) -> None:
    code = (
        "import hashlib, sys, tempfile\n"
        "tempfile.tempdir = '/nonexistent'\n"  # nothing is spooled
        "from pathlib import Path\n"
        "from dctx.ingest.inputs import Source\n"
        "source = Source(Path('-'))\n"
        "told = []\n"
        "data = source.read_all(told.append)\n"
        "print(told[-2].bytes, told[-1])\n"
        "print(source.content, source.label, hashlib.sha256(data).hexdigest(), repr(source.cut))\n"
    )
    import hashlib

    expected = f"kineto standard input {hashlib.sha256(TEXT).hexdigest()} ''\n".encode()
    for data in (TEXT, gzip.compress(TEXT)):
        done = run_with_input(code, data)
        counted, _, rest = done.stdout.partition(b"\n")
        assert (rest, done.stderr) == (expected, b"")
        assert counted == f"{len(data)} 1.0".encode()


def test_a_database_from_the_standard_input_is_read_and_not_remembered(tmp_path: Path) -> None:
    with ExportWriter(tmp_path / "t.sqlite") as export:
        export.add(
            "NVTX_EVENTS", start=0, end=5, eventType=59, text="r", globalTid=global_tid(1, 1)
        )
    code = (
        "import sys; from dctx.cli.__main__ import main; sys.argv = ['dctx', *sys.argv[1:]]; main()"
    )
    data = (tmp_path / "t.sqlite").read_bytes()
    done = run_with_input(code, data, "info", "-", "--json")
    assert done.stderr == b""
    facts = json.loads(done.stdout)
    assert (facts["path"], facts["format"]) == ("standard input", "nsys")
    assert facts["annotations"]["push_pop"] == 1
    assert not (tmp_path / "cache").exists() or not list((tmp_path / "cache").iterdir())
    assert recent_traces() == []
    output = tmp_path / "kept.dctx"
    done = run_with_input(code, data, "import", "-", "-o", str(output))
    assert (done.returncode, done.stderr) == (0, b"")
    assert output.stat().st_mode & 0o777 == 0o600
    open_trace(output).close()


def test_nothing_on_the_standard_input() -> None:
    code = (
        "import sys; from dctx.cli.__main__ import main; sys.argv = ['dctx', 'info', '-']; main()"
    )
    done = run_with_input(code, b"")
    assert done.returncode == 2
    assert b"standard input: nothing came" in done.stderr


def test_importing_what_is_a_store_already(tmp_path: Path) -> None:
    with ExportWriter(tmp_path / "t.sqlite") as export:
        export.add(
            "NVTX_EVENTS", start=0, end=5, eventType=59, text="r", globalTid=global_tid(1, 1)
        )
    import_trace(tmp_path / "t.sqlite", tmp_path / "kept.dctx")
    with pytest.raises(TraceError, match="store already"):
        import_trace(tmp_path / "kept.dctx", tmp_path / "again.dctx")
    with pytest.raises(TraceError, match="whole trace"):
        open_trace([tmp_path / "kept.dctx", tmp_path / "t.sqlite"])
