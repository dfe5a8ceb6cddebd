"""Standard streams that are closed or full: an exit code and at most one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CLOSED = ["2>&-", ">&-", "<&-", ">&- 2>&- <&-", "2>/dev/full"]
SHUT = b"dctx: error: the output cannot be written: standard output is closed.\n"
FULL = b"dctx: error: the output cannot be written: No space left on device.\n"


def _shell(
    arguments: str, streams: str, module: str = "dctx.cli"
) -> subprocess.CompletedProcess[bytes]:
    line = f"{sys.executable} -m {module} {arguments} {streams}"
    return subprocess.run(["sh", "-c", line], capture_output=True, check=False, timeout=120)


def _closes_output(streams: str) -> bool:
    return ">&-" in streams.split()


@pytest.mark.parametrize("streams", CLOSED)
def test_a_closed_stream_leads_nowhere(export: Path, streams: str) -> None:
    done = _shell(f"info '{export}'", streams)
    if _closes_output(streams):
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr == (b"" if "2>" in streams else SHUT)
    else:
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout
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
        code = 2 if _closes_output(streams) else 0
        assert _shell(arguments, streams, "dctx.tui").returncode == code


@pytest.mark.parametrize("arguments", ["info {}", "--help"])
def test_a_reader_that_left_is_no_error(export: Path, arguments: str) -> None:
    done = _shell(arguments.format(f"'{export}'"), "| true")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [("verdict '{}' --fail-on unreliable", 1), ("verdict", 2), ("nothing", 2), ("compare - -", 2)],
)
def test_a_full_standard_error_keeps_the_exit_code(export: Path, arguments: str, code: int) -> None:
    done = _shell(arguments.format(export), "2>/dev/full")
    assert done.returncode == code


@pytest.mark.parametrize(("module", "program"), [("dctx.cli", "dctx"), ("dctx.tui", "dctx-tui")])
def test_cancelled_while_it_starts(tmp_path: Path, module: str, program: str) -> None:
    """Ctrl+C in the middle of the first import: a module that interrupts whoever imports it."""
    (tmp_path / "click.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(240)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (130, f"{program}: cancelled\n".encode())
    assert not done.stdout


@pytest.mark.parametrize("module", ["dctx.cli.__main__", "dctx.tui.__main__"])
def test_nothing_large_is_imported_before_ctrl_c_is_handled(module: str) -> None:
    line = (
        f"import sys; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", line], capture_output=True, check=True, timeout=120
    )
    loaded = {name.partition(".")[0] for name in done.stdout.decode().split()}
    assert not loaded & {"click", "numpy", "duckdb", "textual"}
    own = {name for name in done.stdout.decode().split() if name.startswith("dctx.")}
    assert own <= {module.rpartition(".")[0], module, "dctx.reports", "dctx.reports.startup"}


def test_ctrl_c_waits_for_the_end_of_an_import(tmp_path: Path) -> None:
    """An exception inside the import system can leave its lock taken, which others wait for."""
    (tmp_path / "slow.py").write_text(
        "import os, signal, time\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "time.sleep(0.05)\n"
        "whole = True\n"
    )
    code = (
        "import sys, time\n"
        "from dctx.reports.startup import cancel_by_exception\n"
        "cancel_by_exception()\n"
        "try:\n"
        "    import slow\n"
        "    time.sleep(240)\n"
        "except KeyboardInterrupt:\n"
        "    print('whole' if sys.modules['slow'].whole else 'cut')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.split() == [b"whole"]
