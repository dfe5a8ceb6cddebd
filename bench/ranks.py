"""How long the collectives of eight ranks take, from the command to its last file.

A rank of the demo is repeated to size and written once for each rank.
"""

import tempfile
from pathlib import Path
from statistics import median

from .generate import bench_dir
from .kineto import trace
from .report import MB, measured
from .results import Figure

RANKS = 8
MEGABYTES = 134
TARGET_S = 1.5


def folder() -> Path:
    """The files of the ranks, kept between runs."""
    one = trace(MEGABYTES * MB // RANKS)
    target = bench_dir() / f"ranks-{one.stem}"
    if not target.exists():
        text = one.read_bytes()
        mark = b'"rank": 0'
        if text.count(mark) != 1:
            raise ValueError(f"{one} does not name its rank once")
        partial = target.with_suffix(".partial")
        partial.mkdir()
        for rank in range(RANKS):
            (partial / f"rank{rank}.json").write_bytes(text.replace(mark, b'"rank": %d' % rank))
        partial.rename(target)
    return target


def run(repeats: int) -> list[Figure]:
    """From the files and from the cache."""
    path = folder()
    with tempfile.TemporaryDirectory(prefix="dctx-bench-") as name:
        out = Path(name)
        raw = [measured("collectives", path, out, "--no-cache") for _ in range(repeats)]
        measured("collectives", path, out)
        cached = [measured("collectives", path, out) for _ in range(repeats)]
    label = f"{MEGABYTES} MB in {RANKS} rank files, dctx collectives"
    return [
        Figure(label, median(r.wall_s for r in raw), "s", TARGET_S),
        Figure(f"{label}: CPU time", median(r.cpu_s for r in raw), "s"),
        Figure(f"{label}: peak RSS", max(r.peak_rss_bytes for r in raw) / MB, "MB"),
        Figure(f"{label}, cached", median(r.wall_s for r in cached), "s"),
        Figure(f"{label}, cached: CPU time", median(r.cpu_s for r in cached), "s"),
    ]
