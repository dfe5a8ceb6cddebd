"""A program in a pseudo-terminal, watched as a terminal would: what it writes, and when."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from .child import peak_rss_bytes

QUIET_S = 0.012
"""A repaint is over when nothing has come for this long."""
LEAST_REPAINT_BYTES = 24
"""Less than this shows nothing: it is the shape of the pointer or of the cursor."""


class NoAnswerError(Exception):
    """The program did not show what was waited for; carries the tail of what it wrote."""


@dataclass(frozen=True, slots=True)
class Repaint:
    """The answer to a key: seconds to its first and last byte, and how many bytes it took."""

    first_s: float
    last_s: float
    bytes: int


class Terminal:
    """Runs `argv` on a pseudo-terminal of a given size; times count from its start."""

    def __init__(
        self, argv: Sequence[str], columns: int, rows: int, env: Mapping[str, str] | None = None
    ) -> None:
        settings = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "COLUMNS": str(columns),
            "LINES": str(rows),
            **(env or {}),
        }
        self.raw = bytearray()
        self.started = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], list(argv), settings)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.used_cpu_s: float | None = None
        """CPU time of the whole run; known once the program has ended."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def peak_rss_bytes(self) -> int:
        """Of the running program until now."""
        return peak_rss_bytes(self.pid)

    def cpu_s(self) -> float:
        """CPU time that the command and its threads have used so far."""
        stat = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8")
        user, system = stat.rpartition(") ")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def read(self, timeout_s: float) -> int:
        """Take what there is, waiting up to `timeout_s` for it. Returns the number of bytes."""
        ready, _, _ = select.select([self._fd], [], [], max(0.0, timeout_s))
        if not ready:
            return 0
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:  # The program is gone.
            data = b""
        self.raw += data
        return len(data)

    def wait_for(
        self, pattern: bytes, timeout_s: float, *, since: int = 0, times: int = 1
    ) -> float:
        """Wait until the output from byte `since` on matches a pattern so many times. Returns the
        moment it did, in seconds from the program's start."""
        wanted = re.compile(pattern)
        end = time.perf_counter() + timeout_s
        while True:
            if len(wanted.findall(self.raw, since)) >= times:
                return time.perf_counter() - self.started
            left = end - time.perf_counter()
            got = self.read(left) if left > 0 else 0
            if left <= 0 or (got == 0 and self._gone()):
                tail = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b" ", bytes(self.raw[-2000:]))
                raise NoAnswerError(f"{pattern!r} was not shown; last: {tail[-400:]!r}")

    def settle(self, quiet_s: float = 0.3, limit_s: float = 30.0) -> None:
        """Read until nothing has come for `quiet_s`."""
        end = time.perf_counter() + limit_s
        while time.perf_counter() < end and self.read(quiet_s):
            pass

    def press(self, keys: bytes) -> None:
        """Send keys without waiting."""
        os.write(self._fd, keys)

    def repaint(self, keys: bytes, *, pace_s: float = 0.033, limit_s: float = 5.0) -> Repaint:
        """Send keys and watch the answer. As a held key does it, the next can follow after
        `pace_s`; a later answer is waited for, up to `limit_s`."""
        sent = time.perf_counter()
        self.press(keys)
        first = last = 0.0
        count = 0
        while True:
            now = time.perf_counter() - sent
            answered = count >= LEAST_REPAINT_BYTES
            if answered and now - last >= QUIET_S and now >= pace_s:
                return Repaint(first, last, count)
            if not answered and now >= limit_s:
                raise NoAnswerError(f"no answer to {keys!r}")
            got = self.read(
                max(QUIET_S - (now - last), pace_s - now) if answered else limit_s - now
            )
            if got:
                last = time.perf_counter() - sent
                first = first or last
                count += got
            elif not answered and self._gone():
                raise NoAnswerError(f"the program ended at {keys!r}")

    def _gone(self) -> bool:
        if self.used_cpu_s is None:
            pid, _, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.used_cpu_s = usage.ru_utime + usage.ru_stime
        return self.used_cpu_s is not None

    def close(self, patience_s: float = 10.0) -> None:
        """Quit the program with its own key, and by force when it does not listen."""
        if not self._gone():
            self.press(b"\x11")
        end = time.perf_counter() + patience_s
        while not self._gone():
            self.read(0.05)
            if time.perf_counter() > end:
                os.kill(self.pid, signal.SIGKILL)
                end += patience_s
        os.close(self._fd)
