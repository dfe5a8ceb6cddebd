"""A command in a process of its own, and what it took."""

import re
import subprocess
import sys
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

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s


_MEASURE = """
import os, resource, sys, time
start = time.perf_counter()
nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=nowhere)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - start, used.ru_utime, used.ru_stime, used.ru_maxrss * 1024)
sys.exit(status)
"""
"""A process without memory of its own: the peak of a new process begins with its parent's."""


def run_child(argv: Sequence[str], environment: Mapping[str, str]) -> Child:
    """Run a command whose output nobody reads. CalledProcessError when it fails."""
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _MEASURE, *argv],
        env=dict(environment),
        stdout=subprocess.PIPE,
        check=True,
    )
    wall, user, system, peak = map(float, told.stdout.split())
    return Child(wall, user, system, round(peak))


def child_figures(
    name: str,
    argv: Sequence[str],
    environment: Mapping[str, str],
    repeats: int,
    target_s: float | None = None,
    target_mb: float | None = None,
) -> list[Figure]:
    """Medians of time by the clock and of the CPU, and the memory, of several runs after one that
    does not count."""
    run_child(argv, environment)
    runs = [run_child(argv, environment) for _ in range(repeats)]
    return [
        Figure(name, median(run.wall_s for run in runs), "s", target_s),
        Figure(f"{name}, CPU time", median(run.cpu_s for run in runs), "s"),
        Figure(f"{name}, of it in the kernel", median(run.system_s for run in runs), "s"),
        Figure(f"{name}, peak RSS", median(run.peak_rss_bytes for run in runs) / 1e6, "MB",
               target_mb),
    ]  # fmt: skip
