"""A command in a process of its own, and what it took."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from .results import Figure


def peak_rss_bytes(pid: int | Literal["self"]) -> int:
    """Of a running process since its program began. What wait4 and getrusage tell is at least what
    the process that started it had in use."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[0]) * 1024


@dataclass(frozen=True, slots=True)
class Child:
    """What one run took."""

    wall_s: float
    user_s: float
    system_s: float
    peak_rss_bytes: int


def run_child(argv: Sequence[str], environment: Mapping[str, str]) -> Child:
    """Run a command whose output nobody reads. RuntimeError when it fails."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        start = time.perf_counter()
        pid = os.posix_spawn(
            argv[0], list(argv), dict(environment), file_actions=[(os.POSIX_SPAWN_DUP2, nowhere, 1)]
        )
        _, status, usage = os.wait4(pid, 0)
    finally:
        os.close(nowhere)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{' '.join(argv)}: {os.waitstatus_to_exitcode(status)}")
    return Child(
        time.perf_counter() - start, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024
    )


def child_figures(
    name: str,
    argv: Sequence[str],
    environment: Mapping[str, str],
    repeats: int,
    target_s: float | None = None,
) -> list[Figure]:
    """Medians of time by the clock and of the CPU, and the memory, of several runs."""
    runs = [run_child(argv, environment) for _ in range(repeats)]
    return [
        Figure(name, median(run.wall_s for run in runs), "s", target_s),
        Figure(f"{name}, CPU time", median(run.user_s + run.system_s for run in runs), "s"),
        Figure(f"{name}, of it in the kernel", median(run.system_s for run in runs), "s"),
        Figure(f"{name}, peak RSS", median(run.peak_rss_bytes for run in runs) / 1e6, "MB"),
    ]
