"""How long a comparison of two traces takes whose stores are in the cache: what its first screen
needs, and the command.

The second trace is a little shorter than the first, so that the steps differ in number.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .child import child_figures
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
            figures += child_figures(
                f"{label}: {what}",
                [*command, *map(str, paths)],
                environment,
                max(repeats, 3),
                limit,
            )
    return figures
