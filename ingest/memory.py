"""How much memory is left: a trace that cannot fit is refused before the system ends processes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_SMALL_BYTES: Final = 2**30
"""Below this we are not what fills the memory."""
_SHARE: Final = 0.25
"""Building the tables takes at least this much more than reading did."""
_CGROUP: Final = Path("/sys/fs/cgroup")


def shortage(
    used_bytes: int | None = None, left_bytes: int | None = None
) -> tuple[int, int] | None:
    """Bytes that this process uses and bytes that are left, when these will not be enough to end
    what it began; None when they may be, and where the system does not tell (only Linux does).

    The arguments stand for what is measured."""
    used = _used() if used_bytes is None else used_bytes
    if used < _SMALL_BYTES:
        return None
    left = _left() if left_bytes is None else left_bytes
    return None if left is None or left >= used * _SHARE else (used, left)


def _used() -> int:
    with suppress(OSError, ValueError, IndexError):
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _left() -> int | None:
    """Of the machine, and of the container where one sets a limit."""
    found: list[int] = []
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
        found.append(int(free[0]) * 1024)
    with suppress(OSError, ValueError):
        most, now = ((_CGROUP / f"memory.{name}").read_text() for name in ("max", "current"))
        found.append(int(most) - int(now))  # "max": no limit
    return min(found, default=None)
