"""Standard streams that are closed or full: an exit code and at most one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

CLOSED = ["2>&-", ">&-", "<&-", ">&- 2>&- <&-", "2>/dev/full"]
FULL = b"dctx: error: the output cannot be written: No space left on device.\n"


def _shell(
    arguments: str, streams: str, module: str = "dctx.cli"
) -> subprocess.CompletedProcess[bytes]:
    line = f"{sys.executable} -m {module} {arguments} {streams}"
    return subprocess.run(["sh", "-c", line], capture_output=True, check=False, timeout=60)


@pytest.mark.parametrize("streams", CLOSED)
def test_a_closed_stream_leads_nowhere(export: Path, streams: str) -> None:
    done = _shell(f"info '{export}'", streams)
    assert (done.returncode, done.stderr) == (0, b"")
    assert bool(done.stdout) == (">&-" not in streams.replace("2>&-", ""))
    missing = _shell(f"overview '{export}.missing'", streams)
    assert (missing.returncode, missing.stdout) == (2, b"")
    assert bool(missing.stderr) == ("2>" not in streams)


@pytest.mark.parametrize(
    "arguments",
    [
        "info {}",
        "info {} --json",
        "info",
        "overview {}",
        "sql {} 'FROM range(100000)'",
        "--help",
        "--version",
        "sql --help",
    ],
)
def test_a_full_disk_is_one_sentence(export: Path, arguments: str) -> None:
    done = _shell(arguments.format(f"'{export}'"), ">/dev/full")
    assert (done.returncode, done.stderr) == (2, FULL)


@pytest.mark.parametrize("arguments", ["{}", "--no-cache {}", "--help", "--version"])
def test_the_application_without_a_terminal(export: Path, arguments: str) -> None:
    arguments = arguments.format(f"'{export}'")
    full = _shell(arguments, ">/dev/full", "dctx.tui")
    assert (full.returncode, full.stderr) == (2, FULL.replace(b"dctx", b"dctx-tui"))
    for streams in CLOSED:
        assert _shell(arguments, streams, "dctx.tui").returncode == 0


@pytest.mark.parametrize("arguments", ["info {}", "--help"])
def test_a_reader_that_left_is_no_error(export: Path, arguments: str) -> None:
    done = _shell(arguments.format(f"'{export}'"), "| true")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
