"""How long a comparison of two traces takes whose stores are in the cache: what its first screen
needs, and the command.

The second trace is a little shorter than the first, so that the steps differ in number.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from .generate import MILLION, export
from .open import private
from .results import Figure

TARGET_S = 1.5
SHORTER = 0.95


def run(kernels: int, repeats: int) -> list[Figure]:
    """From start to end, each in a process of its own."""
    paths = (export(kernels), export(round(SHORTER * kernels)))
    label = f"2 x {kernels / MILLION:g} M kernels, stores in the cache"
    dctx = str(Path(sys.executable).with_name("dctx"))
    target = TARGET_S if kernels == 2 * MILLION else None
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="dctx-bench-") as folder:
        environment = {**os.environ, **private(Path(folder))}
        for path in paths:
            subprocess.run([dctx, "import", str(path)], env=environment, check=True)
        everything = ("--paths", "--kernels", "--ops")
        for what, command, limit in (
            ("first screen", (sys.executable, "-m", "bench.compare_view"), target),
            ("dctx compare", (dctx, "compare"), target),
            (" ".join(("dctx compare", *everything)), (dctx, "compare", *everything), None),
        ):
            clock, cpu = _timed([*command, *map(str, paths)], environment, repeats)
            figures.append(Figure(f"{label}: {what}", clock, "s", limit))
            figures.append(Figure(f"{label}: {what}, CPU time", cpu, "s"))
    return figures


def _timed(command: list[str], environment: dict[str, str], repeats: int) -> tuple[float, float]:
    """Medians of the wall and the CPU time of the command, in s."""
    clocks: list[float] = []
    cpu: list[float] = []
    for _ in range(max(repeats, 3)):
        before, start = os.times(), time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        clocks.append(time.perf_counter() - start)
        cpu.append(
            after.children_user - before.children_user
            + after.children_system - before.children_system
        )  # fmt: skip
    return median(clocks), median(cpu)
