"""How fast Compare is in a real terminal: two traces from the cache to the first rows, then keys.

The second trace is a little shorter than the first, so that the steps differ in number.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from dctx.tui.screens.detail_view import DETAIL_WIDTH

from .compare import SHORTER, TARGET_S
from .generate import MILLION, export
from .keys import SIZES, TARGETED, WAIT_S, Probe
from .open import command, private
from .results import Figure
from .terminal import Terminal

ROWS_SHOWN = rb"\d[\d,]* rows"
KEY_MS = 30.0
PAGES = 5
"""The merged tree has a few hundred rows."""


def run(kernels: int, repeats: int) -> list[Figure]:
    """The application on both traces; at the larger size two trees stand side by side."""
    paths = [str(path) for path in (export(kernels), export(round(SHORTER * kernels)))]
    label = f"Compare, 2 x {kernels / MILLION:g} M kernels"
    target = TARGET_S if kernels == 2 * MILLION else None
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="dctx-bench-") as name:
        own = private(Path(name))
        dctx = str(Path(sys.executable).with_name("dctx"))
        for path in paths:
            subprocess.run([dctx, "import", path], env={**os.environ, **own}, check=True)
        starts: list[float] = []
        cpu: list[float] = []
        for _ in range(max(repeats, 3)):
            with Terminal([command(), *paths], *TARGETED, own) as terminal:
                starts.append(terminal.wait_for(ROWS_SHOWN, WAIT_S))
            if terminal.used_cpu_s is not None:
                cpu.append(terminal.used_cpu_s)
        figures.append(Figure(f"{label}: usable", median(starts), "s", target))
        figures.append(Figure(f"{label}: start and end, CPU time", median(cpu), "s"))
        for columns, rows in SIZES:
            with Terminal([command(), *paths], columns, rows, own) as terminal:
                terminal.wait_for(ROWS_SHOWN, WAIT_S)
                terminal.settle(1.0)
                if columns >= DETAIL_WIDTH:
                    # Rows alone: the detail comes when the cursor rests, and has its own figure.
                    terminal.press(b"v")
                terminal.press(b"E")
                terminal.settle(1.0)
                targeted = (columns, rows) == TARGETED
                probe = Probe(
                    terminal, f"{label} {columns}x{rows}", targeted=targeted, p95_ms=KEY_MS
                )
                probe.moves(PAGES)
                figures += probe.figures
    return figures
