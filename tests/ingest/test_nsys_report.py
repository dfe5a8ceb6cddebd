"""Reports of Nsight Systems, which the `nsys` program exports."""

import os
import stat
from pathlib import Path

import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_tid
from dctx.ingest.errors import CancelledError, DamagedTraceError, NotATraceError
from dctx.ingest.progress import Done
from dctx.ingest.registry import open_trace


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "run.nsys-rep"
    path.write_bytes(b"a report")
    return path


def fake_nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, export: str) -> Path:
    """A program named nsys, first on PATH; `export` is what it does with $output and $input."""
    prepared = tmp_path / "prepared.sqlite"
    with ExportWriter(prepared) as writer:
        writer.add(
            "NVTX_EVENTS",
            start=0,
            end=5,
            eventType=59,
            text="range",
            globalTid=global_tid(1, 1),
        )
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "nsys"
    log = tmp_path / "nsys.log"
    program.write_text(
        f"""#!/bin/sh
if [ "$1" = --version ]; then echo "NVIDIA Nsight Systems version 2024.5.1"; exit 0; fi
echo "$@" >> '{log}'
for argument in "$@"; do
  case "$argument" in --output=*) output="${{argument#--output=}}" ;; esac
done
prepared='{prepared}'
{export}
"""
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


def without_nsys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")


def test_a_report_is_exported_once_into_the_cache(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = fake_nsys(tmp_path, monkeypatch, 'cp "$prepared" "$output"')
    told: list[tuple[str, Done]] = []
    store = open_trace(report, progress=lambda stage, done: told.append((stage, done)))
    with store.cursor() as cursor:
        assert cursor.execute("SELECT count(*) FROM host_event").fetchall() == [(1,)]
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
        roots = cursor.execute(
            """SELECT s.text FROM path_node n JOIN frame f ON f.id = n.frame
               JOIN string s ON s.id = f.name WHERE n.id = 0"""
        ).fetchall()
    store.close()
    assert facts["source_path"] == str(report)
    assert roots == [("run.nsys-rep",)]
    assert told[0] == ("Exporting with nsys", 0.0)
    fractions = [done for _, done in told if isinstance(done, float)]
    assert len(fractions) == len(told)
    assert fractions == sorted(fractions)
    open_trace(report).close()
    calls = log.read_text().splitlines()
    assert len(calls) == 1
    assert calls[0].startswith("export --type=sqlite --force-overwrite=true --output=")
    assert str(tmp_path / "cache") in calls[0]
    assert sorted(path.name for path in tmp_path.glob("run*")) == ["run.nsys-rep"]


def test_without_nsys_the_message_says_how(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_nsys(monkeypatch)
    with pytest.raises(NotATraceError, match=r"nsys export --type=sqlite run\.nsys-rep"):
        open_trace(report)


@pytest.mark.parametrize(
    ("content", "newer", "words"),
    [(b"x", True, "open run.sqlite beside it"), (b"", True, "empty"), (b"x", False, "older")],
)
def test_an_export_beside_the_report_is_mentioned(
    report: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    newer: bool,
    words: str,
) -> None:
    without_nsys(monkeypatch)
    export = tmp_path / "run.sqlite"
    export.write_bytes(content)
    when = report.stat().st_mtime + (100 if newer else -100)
    os.utime(export, (when, when))
    with pytest.raises(NotATraceError, match=words):
        open_trace(report)


def test_what_nsys_says_is_passed_on(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_nsys(tmp_path, monkeypatch, 'echo "report needs version 2026.1"; exit 3')
    with pytest.raises(DamagedTraceError, match=r"needs version 2026\.1.*2024\.5\.1"):
        open_trace(report)
    assert not any((tmp_path / "cache").glob("*"))


def test_an_export_is_stopped_with_its_process(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = tmp_path / "pid"
    fake_nsys(tmp_path, monkeypatch, f'echo $$ > "{running}"; : > "$output"; exec sleep 60')

    def cancel(_: str, __: Done) -> None:
        if running.exists() and running.read_text().strip():
            raise CancelledError

    with pytest.raises(CancelledError):
        open_trace(report, progress=cancel)
    with pytest.raises(ProcessLookupError):
        os.kill(int(running.read_text()), 0)
    assert not any((tmp_path / "cache").glob("*"))


def test_an_unfinished_collection_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.qdstrm"
    path.write_bytes(b"stream")
    with pytest.raises(NotATraceError, match="unfinished"):
        open_trace(path)
