"""How long the whole report of a PyTorch trace takes, from the command to its last file.

The trace is repeated to size; `--json-source` names the one to repeat.
"""

import os
import sys
import tempfile
from pathlib import Path
from statistics import median

from .child import Child, run_child
from .kineto import trace
from .open import private
from .results import Figure

MB = 1_000_000
_TARGETS = {55.6: (1.0, 300.0, 0.5), 264.0: (3.0, 600.0, None)}
"""By megabytes: seconds and megabytes of memory from the file, seconds from the cache."""


def measured(command: str, path: Path, folder: Path, *options: str) -> Child:
    """One command that writes CSV files."""
    words = [
        str(Path(sys.executable).with_name("dctx")),
        command,
        str(path),
        "--csv",
        str(folder / "out"),
        *options,
    ]
    return run_child(words, {**os.environ, **private(folder)})


def run(repeats: int, source: Path | None) -> list[Figure]:
    """Reports of both sizes, from the file and from the cache."""
    figures: list[Figure] = []
    for size, (raw_s, raw_mb, cached_s) in _TARGETS.items():
        path = trace(round(size * MB), source)
        with tempfile.TemporaryDirectory(prefix="dctx-bench-") as name:
            folder = Path(name)
            raw = [measured("report", path, folder, "--no-cache") for _ in range(repeats)]
            measured("report", path, folder)
            cached = [measured("report", path, folder) for _ in range(repeats)]
        label = f"{size:g} MB .json, whole report"
        figures += [
            Figure(f"{label}", median(r.wall_s for r in raw), "s", raw_s),
            Figure(f"{label}: CPU time", median(r.cpu_s for r in raw), "s"),
            Figure(f"{label}: peak RSS", max(r.peak_rss_bytes for r in raw) / MB, "MB", raw_mb),
            Figure(f"{label}, cached", median(r.wall_s for r in cached), "s", cached_s),
            Figure(f"{label}, cached: CPU time", median(r.cpu_s for r in cached), "s"),
        ]  # fmt: skip
    return figures
