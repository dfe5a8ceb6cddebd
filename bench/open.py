"""How long it takes from the command to a usable screen, in a real terminal, and how much memory.

The trace is in the page cache; "first open" means that dctx has no store of it yet.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from .generate import MILLION, export
from .results import Figure
from .terminal import NoAnswerError, Terminal

COLUMNS, ROWS = 200, 50
OVERVIEW_SHOWN = rb"kernels +[0-9.]+ %"
JUDGED_SHOWN = rb"Next: "
"""The verdict's advice: the last analysis of a first open has its answer."""
START_SHOWN = rb"Choose a file"
LIMIT_S = 600.0
TARGETED = 2 * MILLION
"""The size the targets speak of."""


def command() -> str:
    """The installed `dctx-tui` of this Python."""
    return str(Path(sys.executable).with_name("dctx-tui"))


def private(folder: Path) -> dict[str, str]:
    """Environment that keeps the user's own cache and state out of it. Modules stay compiled after
    the first run, as those of an installation are."""
    return {
        "PYTHONDONTWRITEBYTECODE": "",
        "DCTX_CACHE_DIR": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }


@dataclass(frozen=True, slots=True)
class Opening:
    """One start of the application."""

    screen_s: float
    complete_s: float
    cpu_s: float
    """Of the whole run, all threads: less shaken by other load than the clock."""
    screen_rss_bytes: int
    """Peak until the first screen."""
    complete_rss_bytes: int
    """Peak until all events are stored."""
    peak_rss_bytes: int
    """Until the verdict on host overhead is shown, which is found after the events are stored."""


def open_once(path: Path, folder: Path, *, first: bool) -> Opening:
    """Start, wait for the Overview's figures, and on a first open for the finished store."""
    with Terminal([command(), str(path)], COLUMNS, ROWS, private(folder)) as terminal:
        screen_s = terminal.wait_for(OVERVIEW_SHOWN, LIMIT_S)
        screen_rss = terminal.peak_rss_bytes()
        if first:
            _until_stored(terminal, folder / "cache")
        complete_s = time.perf_counter() - terminal.started
        complete_rss = terminal.peak_rss_bytes()
        terminal.wait_for(JUDGED_SHOWN, LIMIT_S)
        terminal.settle(0.5, limit_s=5.0)
        peak_rss = terminal.peak_rss_bytes()
    assert terminal.used_cpu_s is not None
    return Opening(screen_s, complete_s, terminal.used_cpu_s, screen_rss, complete_rss, peak_rss)


def open_often(path: Path, repeats: int) -> tuple[list[Opening], list[Opening]]:
    """First opens, and the second one after each."""
    with path.open("rb") as file:  # Into the page cache.
        while file.read(1 << 24):
            pass
    firsts: list[Opening] = []
    seconds: list[Opening] = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="dctx-bench-") as name:
            folder = Path(name)
            firsts.append(open_once(path, folder, first=True))
            seconds.append(open_once(path, folder, first=False))
    return firsts, seconds


def _until_stored(terminal: Terminal, cache: Path) -> None:
    end = time.perf_counter() + LIMIT_S
    while not any(cache.glob("*.dctx")):
        terminal.read(0.02)
        if time.perf_counter() > end:
            raise NoAnswerError("no store appeared in the cache")


@dataclass(frozen=True, slots=True)
class Stages:
    """A first open in a plain process: begin of each stage, and when the store was usable."""

    begins: list[tuple[str, float, float]]
    """Name, seconds since the start, and CPU seconds until then."""
    summary_s: float
    total_s: float
    cpu_s: float


def _stages(path: Path) -> Stages:
    with tempfile.TemporaryDirectory(prefix="dctx-bench-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "bench.stages", str(path)],
            env={**os.environ, **private(Path(folder))},
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    begins = [(str(name), float(at), float(cpu)) for name, at, cpu in answer["stages"]]
    return Stages(begins, answer["summary_s"], answer["total_s"], answer["cpu_s"])


def stage_figures(path: Path, label: str) -> list[Figure]:
    """How long each stage of a first open takes, without the application."""
    stages = _stages(path)
    ends = [begin[1:] for begin in stages.begins[1:]] + [(stages.total_s, stages.cpu_s)]
    figures: list[Figure] = []
    for (name, at, cpu), (end, cpu_end) in zip(stages.begins, ends, strict=True):
        figures += [
            Figure(f"{label}: stage “{name}”", end - at, "s"),
            Figure(f"{label}: stage “{name}”, CPU time", cpu_end - cpu, "s"),
        ]
    figures.append(Figure(f"{label}: summary, without the application", stages.summary_s, "s"))
    figures.append(Figure(f"{label}: store, without the application", stages.total_s, "s"))
    return figures


def _label(kernels: int) -> str:
    return f"{kernels / MILLION:g} M kernels"


def run(sizes: Sequence[int], repeats: int) -> list[Figure]:
    """Open generated exports of several sizes, each first and again."""
    figures = _bare_start(repeats)
    per_row: dict[int, tuple[float, float, float]] = {}
    for kernels in sizes:
        path = export(kernels)
        firsts, seconds = open_often(path, repeats if kernels <= TARGETED else 1)
        label = _label(kernels)
        targeted = kernels == TARGETED
        screen = median(o.screen_s for o in firsts)
        complete = median(o.complete_s for o in firsts)
        again = median(o.screen_s for o in seconds)
        peak = median(o.peak_rss_bytes for o in firsts)
        per_row[kernels] = (screen / kernels, complete / kernels, peak / kernels)
        figures += [
            Figure(f"{label}: first open to Overview", screen, "s", 2.5 if targeted else None),
            Figure(f"{label}: first open, all events stored", complete, "s"),
            Figure(f"{label}: second open to Overview", again, "s", 0.4 if targeted else None),
            Figure(f"{label}: peak RSS until the first screen",
                   median(o.screen_rss_bytes for o in firsts) / 1e6, "MB"),
            Figure(f"{label}: peak RSS until all events are stored",
                   median(o.complete_rss_bytes for o in firsts) / 1e6, "MB",
                   500 if targeted else None),
            Figure(f"{label}: peak RSS with the verdict", peak / 1e6, "MB",
                   500 if targeted else None),
            Figure(f"{label}: peak RSS of the second open",
                   median(o.peak_rss_bytes for o in seconds) / 1e6, "MB"),
        ]  # fmt: skip
        figures += stage_figures(path, label)
        figures += [
            Figure(f"{label}: CPU time of the first open", median(o.cpu_s for o in firsts), "s"),
            Figure(f"{label}: CPU time of the second open", median(o.cpu_s for o in seconds), "s"),
        ]
    largest = max(sizes)
    if largest > TARGETED and TARGETED in per_row:
        names = ("first open to Overview", "first open, all events stored", "peak RSS")
        for name, big, base in zip(names, per_row[largest], per_row[TARGETED], strict=True):
            text = f"{_label(largest)} against {_label(TARGETED)}, per row: {name}"
            figures.append(Figure(text, big / base, "x", 1.2))
    return figures


def _bare_start(repeats: int) -> list[Figure]:
    """Start without a trace, to the first painted screen."""
    times: list[float] = []
    cpu: list[float] = []
    for _ in range(max(3, repeats)):
        with (
            tempfile.TemporaryDirectory(prefix="dctx-bench-") as name,
            Terminal([command()], COLUMNS, ROWS, private(Path(name))) as terminal,
        ):
            times.append(terminal.wait_for(START_SHOWN, 30.0))
        assert terminal.used_cpu_s is not None
        cpu.append(terminal.used_cpu_s)
    return [
        Figure("start without a trace to first paint", median(times), "s", 0.5),
        Figure("start without a trace and end, CPU time", median(cpu), "s"),
    ]
