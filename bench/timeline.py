"""The Timeline in a real terminal: until every track is read, then zooming, panning and jumping."""

import tempfile
import time
from pathlib import Path

from .generate import MILLION, export
from .keys import SIZES, TARGETED, WAIT_S, Probe
from .open import JUDGED_SHOWN, OVERVIEW_SHOWN, command, open_once, private
from .results import Figure
from .terminal import Terminal

COLUMN_TOLD = rb"a column is"
JUDGING = rb"Judging"
KEY_MS = 30.0
KEY_BYTES = 20_480
PRESSES = 40
AT_ONCE = 12
"""Keys that are pressed before the verdict on ten million events is there."""
SERIES = (
    ("zoom in", b"+", 12),
    ("pan", b"l", PRESSES),
    ("pan back", b"h", PRESSES),
    ("next event", b"]", PRESSES),
    ("next of the same name", b"n", PRESSES),
    ("next gap", b"}", PRESSES),
    ("zoom out", b"-", 12),
)
"""Zoomed in twelve times, ten million kernels are some thousand in the window."""


def run(sizes: list[int]) -> list[Figure]:
    """On exports of so many kernels, each with the call that launched it and its ranges."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="dctx-bench-") as name:
        for kernels in sizes:
            folder = Path(name) / str(kernels)
            path = export(kernels)
            open_once(path, folder, first=True)
            for columns, rows in SIZES:
                figures += _watch(path, kernels, columns, rows, folder)
    return figures


def _watch(path: Path, kernels: int, columns: int, rows: int, folder: Path) -> list[Figure]:
    label = f"Timeline, {kernels / MILLION:g} M kernels {columns}x{rows}"
    with Terminal([command(), str(path)], columns, rows, private(folder)) as terminal:
        terminal.wait_for(OVERVIEW_SHOWN, WAIT_S)
        terminal.settle(2.0)
        before = terminal.peak_rss_bytes()
        at, begin = len(terminal.raw), time.perf_counter()
        terminal.press(b"5")
        terminal.wait_for(COLUMN_TOLD, WAIT_S, since=at)
        first = time.perf_counter() - begin
        terminal.settle(3.0)
        probe = Probe(terminal, label, targeted=(columns, rows) == TARGETED, p95_ms=KEY_MS)
        probe.add("first picture", first, "s")
        grown = terminal.peak_rss_bytes() - before
        probe.add("memory of all tracks", grown / kernels, "bytes/kernel")
        for name, key, count in SERIES:
            probe.series(name, key, count, worst_bytes=KEY_BYTES)
            terminal.settle(0.5)
        _while_judging(terminal, probe)
        return probe.figures


def _while_judging(terminal: Terminal, probe: Probe) -> None:
    """Keys while the verdict over another window is worked out, each time from the beginning."""
    for name, key in (("zoom in", b"+"), ("pan", b"l"), ("zoom out", b"-")):
        at = len(terminal.raw)
        terminal.press(b"1w")
        terminal.wait_for(JUDGING, WAIT_S, since=at)
        terminal.press(b"5")
        terminal.settle(0.2)
        probe.series(f"{name} while judging", key, AT_ONCE)
        at = len(terminal.raw)
        terminal.press(b"1")
        terminal.wait_for(OVERVIEW_SHOWN, WAIT_S, since=at)
        terminal.wait_for(JUDGED_SHOWN, WAIT_S, since=at)
        terminal.settle(0.5)
