"""How long the host-overhead analyses take on a trace whose store is in the cache."""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from dctx.analyzers.gaps import gaps
from dctx.analyzers.host_overhead import HostOverhead, analyze
from dctx.analyzers.idle_blame import idle_blame
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace

from .child import child_figures
from .generate import MILLION, export
from .open import private
from .results import Figure

TARGET_S = 0.5
TARGET_MB = 500.0


@contextmanager
def environment(values: dict[str, str]) -> Generator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def timed(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Median seconds by the clock and of CPU."""
    clocks: list[float] = []
    cpu: list[float] = []
    for _ in range(repeats):
        clock, used = time.perf_counter(), time.process_time()
        work()
        clocks.append(time.perf_counter() - clock)
        cpu.append(time.process_time() - used)
    return median(clocks), median(cpu)


def run(sizes: Sequence[int], repeats: int) -> list[Figure]:
    """Judge exports of several sizes."""
    return [figure for kernels in sizes for figure in _of_size(kernels, repeats)]


def _of_size(kernels: int, repeats: int) -> list[Figure]:
    """Open once, so that the store is in the cache, then ask."""
    path = export(kernels)
    label = f"{kernels / MILLION:g} M kernels, store in the cache"
    with (
        tempfile.TemporaryDirectory(prefix="dctx-bench-") as folder,
        environment(private(Path(folder))),
    ):
        open_trace(path).close()
        store = open_trace(path)
        trace = Trace(store)
        result: list[HostOverhead] = []
        verdict = timed(lambda: result.append(analyze(trace)), max(repeats, 3))
        blame = timed(lambda: idle_blame(result[-1]), repeats)
        pauses = timed(lambda: gaps(result[-1]), repeats)
        store.close()
        dctx = str(Path(sys.executable).with_name("dctx"))
        targeted = kernels == 2 * MILLION
        command = child_figures(
            f"{label}: dctx verdict",
            [dctx, "verdict", str(path)],
            os.environ,
            max(repeats, 3),
            target_mb=TARGET_MB if targeted else None,
        )
    target = TARGET_S if targeted else None
    return [
        Figure(f"{label}: host-overhead verdict", verdict[0], "s", target),
        Figure(f"{label}: host-overhead verdict, CPU time", verdict[1], "s"),
        Figure(f"{label}: causes of idle time", blame[0], "s"),
        Figure(f"{label}: causes of idle time, CPU time", blame[1], "s"),
        Figure(f"{label}: idle gaps and the longest ones", pauses[0], "s"),
        Figure(f"{label}: idle gaps and the longest ones, CPU time", pauses[1], "s"),
        *command,
    ]
