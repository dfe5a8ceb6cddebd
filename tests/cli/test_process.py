"""What can only be seen from outside the process: imports, exit codes, pipes, a terminal."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

COMMAND = [sys.executable, "-m", "dctx.cli"]
BUSY_CPU_S = 2.5
"""More than a command needs before its statement runs."""
HEAVY = ("textual", "duckdb", "numpy", "pyarrow")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["--help"], 0),
        (["sql", "--help"], 0),
        (["no-such-command"], 2),
        (["info", "--no-such-option"], 2),
        (["sql"], 2),
    ],
)
def test_answers_without_heavy_imports(arguments: list[str], code: int) -> None:
    check = (
        "import sys; from dctx.cli.__main__ import main\n"
        f"sys.argv = ['dctx', *{arguments!r}]\n"
        "try: main()\n"
        "except SystemExit as end: code = end.code or 0\n"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]\n"
        f"sys.exit(3 if heavy else 0 if code == {code} else 4)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_the_queries_waits_for_no_heavy_library() -> None:
    check = (
        "import sys\n"
        "import dctx.queries.overview, dctx.queries.paths, dctx.queries.instances\n"
        "import dctx.queries.node_detail, dctx.queries.annotations, dctx.reports.overview\n"
        f"sys.exit(any(name in sys.modules for name in {HEAVY!r}))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_reader_that_leaves_is_no_error(export: Path) -> None:
    query = "SELECT * FROM range(10_000_000)"
    with subprocess.Popen(
        [*COMMAND, "sql", str(export), query, "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"range\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 0


@pytest.mark.parametrize(
    "query",
    [
        "SELECT sum(a.range * b.range % 7) FROM range(10_000_000) a, range(1_000_000) b",
        "SELECT count(*) FROM range(10_000_000_000) a, range(100) b",
    ],
)
def test_interrupted(export: Path, query: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "sql", str(export), query], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            while process.poll() is None and _cpu_s(process.pid) < BUSY_CPU_S:
                sleep(0.05)
            process.send_signal(signal.SIGINT)
            output, error = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (process.returncode, output, error) == (130, b"", b"dctx: cancelled\n")


def _cpu_s(pid: int) -> float:
    """CPU seconds of all its threads so far. Where the system does not tell, a while has passed."""
    if sys.platform != "linux":
        sleep(4)
        return BUSY_CPU_S
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def test_a_terminal_without_utf8(export: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "overview", str(export)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"gemm" in done.stdout


def _in_a_terminal(arguments: list[str], **environment: str) -> str:
    """What a terminal receives; the command must succeed."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, **environment},
    ) as process:
        os.close(theirs)
        received = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            received += part
        os.close(ours)
        assert process.wait(timeout=120) == 0
    return received.decode()


def test_progress_is_drawn_on_a_terminal_and_wiped(export: Path) -> None:
    shown = _in_a_terminal(["overview", str(export)], NO_COLOR="")
    assert "%" in shown
    assert "\x1b[1mTop kernels, share of all GPU work\x1b[0m" in shown
    last_line_of_progress = shown.rindex("\r\x1b[K")
    assert "Top kernels" not in shown[:last_line_of_progress]


def test_a_terminal_that_only_prints_gets_no_escape_sequence(export: Path) -> None:
    shown = _in_a_terminal(["overview", str(export), "--no-cache"], TERM="dumb")
    assert "Top kernels" in shown
    assert "\x1b" not in shown


def test_no_color(export: Path) -> None:
    shown = _in_a_terminal(["overview", str(export)], NO_COLOR="1")
    assert "Top kernels" in shown
    assert "\x1b[1m" not in shown
