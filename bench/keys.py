"""From a key press to the repaint, and the bytes it takes, in a real terminal.

Keys follow each other as a held key sends them. A repaint counts until its last byte.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .generate import MILLION, export
from .open import OVERVIEW_SHOWN, command, open_once, private
from .results import Figure
from .terminal import Repaint, Terminal

SIZES = ((200, 50), (80, 24))
TARGETED = (200, 50)
MOVES, SCROLLS, PAGES = 15, 240, 60
WAIT_S = 60.0
DOWN, PAGE_DOWN = b"j", b"\x1b[6~"
LONGEST_SHOWN = rb"7\.19\d"
"""Kernel times of the generated exports go up to 7.199 µs: a screen full of such is sorted."""
ROWS_SHOWN = rb"\d[\d,]* rows"
NAMES_SHOWN = rb"kernels \xc2\xb7 all GPUs"


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Probe:
    """Presses keys in one view and turns the answers into figures."""

    def __init__(
        self, terminal: Terminal, label: str, *, targeted: bool, p95_ms: float = 20
    ) -> None:
        self._terminal = terminal
        self._label = label
        self._targeted = targeted
        self._p95_ms = p95_ms
        self.figures: list[Figure] = []

    def add(self, name: str, value: float, unit: str, at_most: float | None = None) -> None:
        target = at_most if self._targeted else None
        self.figures.append(Figure(f"{self._label}: {name}", value, unit, target))

    def moves(self, pages: int = PAGES) -> None:
        """Single cursor moves, scrolling and paging by so many pages."""
        terminal = self._terminal
        terminal.press(b"g")
        terminal.settle(0.5)
        self.series("cursor move", DOWN, MOVES, worst_bytes=1_024)
        terminal.settle(0.5)
        before = len(terminal.raw)
        terminal.repaint(DOWN)
        terminal.settle(0.5)
        self.add("one move and the detail it brings", len(terminal.raw) - before, "bytes")
        self.series("scrolling", DOWN, SCROLLS, mean_bytes=2_048)
        self.series("page down", PAGE_DOWN, pages)

    def series(
        self,
        name: str,
        key: bytes,
        count: int,
        *,
        worst_bytes: int | None = None,
        mean_bytes: int | None = None,
    ) -> None:
        """Press a key so often; the targets are in bytes a key: of 95 % of them, of the mean."""
        used = self._terminal.cpu_s()
        answers = [self._terminal.repaint(key) for _ in range(count)]
        used = self._terminal.cpu_s() - used
        times = [answer.last_s * 1e3 for answer in answers]
        sizes = [answer.bytes for answer in answers]
        self.add(f"{name}, p50", percentile(times, 0.5), "ms")
        self.add(f"{name}, p95", percentile(times, 0.95), "ms", self._p95_ms)
        self.add(f"{name}, CPU time, mean", used / count * 1e3, "ms/key")
        self.add(f"{name}, mean", sum(sizes) / count, "bytes/key", mean_bytes)
        self.add(f"{name}, p95", percentile(sizes, 0.95), "bytes/key", worst_bytes)


def _tree(terminal: Terminal, probe: Probe) -> None:
    """The call paths of the wide export, all unfolded."""
    at = len(terminal.raw)
    terminal.press(b"2")
    terminal.wait_for(ROWS_SHOWN, WAIT_S, since=at)
    terminal.settle(1.0)
    unfolded = terminal.repaint(b"E", limit_s=60)
    probe.add("unfold all", unfolded.last_s, "s", 0.1)
    terminal.settle(1.0)
    probe.moves()


def _table(terminal: Terminal, probe: Probe) -> None:
    """Every launch of the large export."""
    at = len(terminal.raw)
    terminal.press(b"3")
    terminal.wait_for(NAMES_SHOWN, WAIT_S, since=at)
    terminal.settle(1.0)
    at = len(terminal.raw)
    terminal.press(b"a")
    terminal.wait_for(ROWS_SHOWN, WAIT_S, since=at)
    terminal.settle(1.0)
    probe.moves()
    terminal.press(b"g")
    terminal.settle(0.5)
    probe.add("sort by time", _sort(terminal), "s", 0.5)
    slowest = max(_keys_while_sorting(terminal), key=lambda answer: answer.last_s)
    probe.add("slowest key while sorting by name", slowest.last_s * 1e3, "ms")


def _sort(terminal: Terminal) -> float:
    """Seconds from the key until sorted rows fill the screen."""
    terminal.repaint(b"s")
    at = len(terminal.raw)
    begin = time.perf_counter() - terminal.started
    terminal.press(b"i")
    shown = terminal.wait_for(LONGEST_SHOWN, WAIT_S, since=at, times=10)
    terminal.settle(0.5)
    return shown - begin


def _keys_while_sorting(terminal: Terminal) -> list[Repaint]:
    terminal.repaint(b"s")
    terminal.press(b"n")
    return [terminal.repaint(DOWN) for _ in range(MOVES)]


def _run(
    path: Path, label: str, watch: Callable[[Terminal, Probe], None], folder: Path
) -> list[Figure]:
    open_once(path, folder, first=True)
    figures: list[Figure] = []
    for columns, rows in SIZES:
        with Terminal([command(), str(path)], columns, rows, private(folder)) as terminal:
            terminal.wait_for(OVERVIEW_SHOWN, WAIT_S)
            terminal.settle(0.5)
            probe = Probe(
                terminal, f"{label} {columns}x{rows}", targeted=(columns, rows) == TARGETED
            )
            watch(terminal, probe)
            figures += probe.figures
    return figures


def run(table_rows: int) -> list[Figure]:
    """Keys on a tree of 200,000 nodes and on a table of `table_rows` launches."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="dctx-bench-") as name:
        folder = Path(name)
        figures += _run(export(200_000, wide=True), "tree of 200,000", _tree, folder / "tree")
        label = f"table of {table_rows / MILLION:g} M"
        figures += _run(export(table_rows), label, _table, folder / "table")
    return figures
