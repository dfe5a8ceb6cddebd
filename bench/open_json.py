"""How long a PyTorch trace takes from the command to a usable screen, and how much memory.

Traces are repeated to size; see `open` for how they are timed.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from .kineto import packed, trace
from .open import open_often, stage_figures
from .results import Figure

MB = 1_000_000
TARGETED = 500
"""Megabytes that the targets of time speak of."""


def run(megabytes: Sequence[float], repeats: int, source: Path | None) -> list[Figure]:
    """Open traces of several sizes, each first and again; the smallest gzipped too."""
    figures: list[Figure] = []
    per_byte: list[tuple[float, float]] = []
    for number, size in enumerate(sorted(megabytes)):
        plain = trace(round(size * MB), source)
        found, cpu_s = _opened(plain, f"{size:g} MB .json", size, repeats if number == 0 else 1)
        figures += found
        per_byte.append((size, cpu_s / size))
        if number == 0:
            figures += _opened(packed(plain), f"{size:g} MB .json.gz", size, repeats)[0]
            figures += stage_figures(plain, f"{size:g} MB .json")
    base_size, base = per_byte[0]
    figures += [
        Figure(f"{size:g} MB against {base_size:g} MB, per byte: CPU time", cpu / base, "x", 1.2)
        for size, cpu in per_byte[1:]
    ]
    return figures


def _opened(path: Path, label: str, size: float, repeats: int) -> tuple[list[Figure], float]:
    """Figures of a trace, and the CPU seconds of its first open."""
    firsts, seconds = open_often(path, repeats)
    targeted = size == TARGETED
    within = {".json": 2.5, ".gz": 3.0}[path.suffix]
    cpu_s = median(o.cpu_s for o in firsts)
    return [
        Figure(f"{label}: first open to Overview", median(o.screen_s for o in firsts), "s",
               within if targeted else None),
        Figure(f"{label}: first open, all events stored",
               median(o.complete_s for o in firsts), "s"),
        Figure(f"{label}: second open to Overview", median(o.screen_s for o in seconds), "s",
               0.4 if targeted else None),
        Figure(f"{label}: peak RSS of the first open",
               median(o.peak_rss_bytes for o in firsts) / MB, "MB",
               700 if targeted else 1500 if size == 4 * TARGETED else None),
        Figure(f"{label}: CPU time of the first open", cpu_s, "s"),
        Figure(f"{label}: CPU time of the second open", median(o.cpu_s for o in seconds), "s"),
    ], cpu_s  # fmt: skip
