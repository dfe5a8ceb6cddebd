"""The real command in a real terminal: opens the demo, answers keys, leaves the terminal clean."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pyte
import pytest

from dctx.reports.exit_codes import ExitCode
from dctx.tui.demo import demo_trace
from tests.tui.at_rest import at_rest

COLUMNS, LINES = 100, 30
COMMAND = [sys.executable, "-m", "dctx.tui"]
TIMEOUT_S = 120.0
ATTRIBUTES = re.compile(rb"\x1b\[([\d;]*)m")
COLOURS = {*range(30, 39), *range(40, 49), *range(90, 98), *range(100, 108)}


class Terminal:
    """A child in a pseudo-terminal, and what its screen shows."""

    def __init__(self, *arguments: str, piped: str = "", **environment: str) -> None:
        """`piped`: a shell command that writes a trace to the standard input."""
        command = [*COMMAND, *arguments]
        if piped:
            command = ["/bin/sh", "-c", f"{piped} | {shlex.join(COMMAND)} -"]
        self.child: pexpect.spawn[bytes] = pexpect.spawn(
            command[0],
            command[1:],
            dimensions=(LINES, COLUMNS),
            env={**os.environ, "TERM": "xterm-256color", **environment},
            timeout=TIMEOUT_S,
        )
        assert self.child.pid is not None
        self.pid: int = self.child.pid
        self.screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self.screen)
        self.output = b""

    def read(self, seconds: float) -> bytes:
        """What the child writes within a time, also drawn on the screen."""
        end = time.monotonic() + seconds
        seen = b""
        while (left := end - time.monotonic()) > 0:
            try:
                seen += self.child.read_nonblocking(65536, timeout=left)
            except pexpect.TIMEOUT:
                break
            except pexpect.EOF:
                break
        self._stream.feed(seen)
        self.output += seen
        return seen

    def until_rest(self, seconds: float) -> bytes:
        """What the child writes until it has nothing to do and writes nothing for a time."""
        end = time.monotonic() + TIMEOUT_S
        written = b""
        while (seen := self.read(seconds)) or not at_rest(self.pid):
            assert time.monotonic() < end, "it finds no rest"
            written += seen
        return written

    def until(self, text: str) -> None:
        """Wait until the screen shows a text."""
        end = time.monotonic() + TIMEOUT_S
        while text not in "\n".join(self.screen.display):
            assert time.monotonic() < end, "\n".join([f"no {text!r} in", *self.screen.display])
            assert self.child.isalive() or self.read(0.1), "\n".join(self.screen.display)
            self.read(0.05)

    def until_stopped(self) -> None:
        """Wait until the child has stopped itself: a SIGCONT that comes earlier is lost."""
        end = time.monotonic() + TIMEOUT_S
        while not os.WIFSTOPPED(os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)[1]):
            assert time.monotonic() < end, "it goes on running"
            self.read(0.05)
        self.read(0.1)

    def key(self, key: str) -> None:
        self.child.send(key)

    def exit_code(self) -> int | None:
        self.read(0.2)
        self.child.expect(pexpect.EOF)
        self.output += self.child.before or b""
        self.child.close()
        status: int | None = self.child.exitstatus
        return status


@contextmanager
def terminal(
    *arguments: str, piped: str = "", **environment: str
) -> Generator[Terminal, None, None]:
    opened = Terminal(*arguments, piped=piped, **environment)
    try:
        yield opened
    finally:
        opened.child.close(force=True)


def test_demo_by_keyboard() -> None:
    with terminal("--demo") as term:
        term.until("Next: start with _prepare_inputs")
        term.until("q quit")
        term.key("2")
        term.until("inclusive")
        term.key("z")
        term.until("cudaGraphLaunch")
        term.key("3")
        term.until("41,880 launches")
        term.key("\r")
        term.until("launches of masked_multihead")
        term.key("q")
        term.until("41,880 launches")
        term.until("q back")
        term.key("q")
        term.until("q quit")
        term.key("q")
        assert term.exit_code() == ExitCode.OK
    assert b"Traceback" not in term.output
    assert term.output.rstrip().endswith(b"\x1b[?25h") or b"\x1b[?1049l" in term.output


def test_nothing_is_written_while_nobody_does_anything() -> None:
    with terminal("--demo") as term:
        term.until("Next: start with _prepare_inputs")
        term.until("q quit")
        term.until_rest(1.0)
        assert term.read(2.0) == b""
        for _ in range(4):  # from the card into the second list below it: those moves scroll
            term.key("j")
            term.until_rest(0.5)
        term.key("j")
        assert 0 < len(term.until_rest(0.5)) < 1024


def test_suspend_and_come_back() -> None:
    with terminal("--demo") as term:
        term.until("Next: start with _prepare_inputs")
        term.key("\x1a")
        term.until_stopped()
        assert b"\x1b[?1049l" in term.output
        term.screen.reset()
        term.child.kill(signal.SIGCONT)
        term.key("2")
        term.until("inclusive")
        term.key("\x03")
        assert term.exit_code() == ExitCode.OK


@pytest.mark.parametrize(
    ("number", "early"),
    [
        pytest.param(signal.SIGTERM, True, id="term, reading"),
        pytest.param(signal.SIGTERM, False, id="term, open"),
        pytest.param(signal.SIGHUP, True, id="hangup, reading"),
        pytest.param(signal.SIGHUP, False, id="hangup, open"),
        pytest.param(signal.SIGINT, True, id="interrupt, reading"),
    ],
)
def test_ended_by_a_signal(number: signal.Signals, early: bool, tmp_path: Path) -> None:
    with terminal("--demo", DCTX_CACHE_DIR=str(tmp_path)) as term:
        if early:
            while b"\x1b[?1049h" not in term.output:
                term.read(0.05)
        else:
            term.until("Next: start with _prepare_inputs")
        term.child.kill(number)
        assert term.exit_code() == 128 + number
    assert b"terminate" not in term.output
    assert b"Traceback" not in term.output
    assert b"\x1b[?1049l" in term.output
    assert not list(tmp_path.glob("**/*.part*")), "no half store is left"


@pytest.mark.parametrize("how", ["variable", "option"])
def test_no_colour_means_none(how: str) -> None:
    arguments = ["--color", "never"] if how == "option" else []
    environment = {"NO_COLOR": "1"} if how == "variable" else {}
    with terminal("--demo", *arguments, **environment) as term:
        term.until("Next: start with _prepare_inputs")
        term.key("2")
        term.until("inclusive")
        term.key("q")
        term.until("q quit")
        term.key("q")
        assert term.exit_code() == ExitCode.OK
    sent = {int(n) for match in ATTRIBUTES.findall(term.output) for n in match.split(b";") if n}
    assert not sent & COLOURS
    assert 7 in sent, "the cursor shows by being reversed"


def test_a_terminal_that_cannot_move_the_cursor_is_told_so() -> None:
    with terminal("--demo", TERM="dumb") as term:
        assert term.exit_code() == ExitCode.USAGE
    assert b"needs a terminal that can move the cursor" in term.output
    assert b"\x1b" not in term.output


def test_a_trace_from_the_standard_input_leaves_the_keys_to_the_terminal() -> None:
    demo = shlex.quote(str(demo_trace()))
    with terminal(piped=f"cat {demo}") as term:
        term.until("Next: start with _prepare_inputs")
        term.key("2")
        term.until("inclusive")
        term.key("q")
        term.until("q quit")
        term.key("q")
        assert term.exit_code() == ExitCode.OK
    assert b"Traceback" not in term.output


def test_without_a_terminal_the_overview_is_printed() -> None:
    done = subprocess.run(
        [*COMMAND, "--demo"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == ExitCode.OK
    assert "GPU 0" in done.stdout
    assert "masked_multihead_attention_kernel" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_without_a_terminal_and_without_a_trace() -> None:
    done = subprocess.run(
        COMMAND, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == ExitCode.USAGE
    assert done.stdout == ""
    assert done.stderr.startswith("dctx-tui: error: ")
    assert "Traceback" not in done.stderr


def test_a_bad_trace_without_a_terminal(tmp_path: Path) -> None:
    bad = tmp_path / "bad.sqlite"
    bad.write_bytes(b"not a trace")
    done = subprocess.run(
        [*COMMAND, str(bad)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == ExitCode.USAGE
    assert str(bad) in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--version", "-V", "--help", "-h"])
def test_questions_about_the_command_import_nothing_heavy(option: str) -> None:
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(sorted(m for m in ('textual', 'duckdb', 'numpy', 'pyarrow')"
        " if m in sys.modules), file=sys.stderr))\n"
        f"sys.argv = ['dctx-tui', {option!r}]\n"
        "from dctx.tui.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "dctx-tui" in done.stdout
    assert done.stderr.strip() == "[]"
