"""What the row widgets write to a terminal. Over SSH bytes are what a key press costs."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path
from statistics import mean, median

import pytest

from tests.tui.at_rest import at_rest

ROOT = Path(__file__).resolve().parents[2]
LINES, COLUMNS = 50, 200
MOVE_BYTES = 1024
SCROLL_MEAN_BYTES = 2048
START_S = 60.0
DOWN = "\x1b[B"


class Terminal:
    """The application in a pseudo terminal of 200 x 50."""

    def __init__(self, *arguments: str) -> None:
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "TEXTUAL_ANIMATIONS": "none",
        }
        environment.pop("NO_COLOR", None)
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.tui.rows_app", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        started = b""
        while b"cutlass" not in started and b"ampere" not in started:
            started += self.chunk(START_S)
        self.read(quiet_s=1.0, first_s=1.0)

    def chunk(self, wait_s: float) -> bytes:
        """What was written, empty when nothing comes in time."""
        ready, _, _ = select.select([self.master], [], [], wait_s)
        if not ready:
            if wait_s == START_S:
                raise TimeoutError("the application drew nothing")
            return b""
        return os.read(self.master, 1 << 16)

    def read(self, quiet_s: float = 0.06, first_s: float = 30.0) -> int:
        """Number of bytes written until the application is quiet and has nothing more to do."""
        count = len(self.chunk(first_s))
        while (chunk := self.chunk(quiet_s)) or not at_rest(self.process.pid):
            count += len(chunk)
        return count

    def press(self, key: str) -> int:
        """Bytes written in answer to a key."""
        os.write(self.master, key.encode())
        return self.read()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.mark.parametrize(("kind", "rows"), [("tree", 200_000), ("table", 2_000_000)])
def test_bytes_per_key(kind: str, rows: int) -> None:
    terminal = Terminal(kind, str(rows))
    try:
        moves = [terminal.press(DOWN) for _ in range(10)]
        assert 0 < median(moves) <= MOVE_BYTES
        terminal.press(DOWN * (LINES - 14))
        # Over the edge, by three windows of half a page.
        scrolled = [terminal.press(DOWN) for _ in range(72)]
        assert max(scrolled) > MOVE_BYTES
        assert mean(scrolled) <= SCROLL_MEAN_BYTES
    finally:
        terminal.close()
