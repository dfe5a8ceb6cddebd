"""The checks: what each is about, how long it may take, and where its code is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Item:
    """One check."""

    number: int
    title: str
    limit_s: int
    module: str
    """Of this package; its function `check_N` returns what it found."""


ITEMS: Final = (
    Item(1, "driver, CUPTI, rights, calibration", 20, "machine"),
    Item(2, "who may subscribe when", 40, "machine"),
    Item(3, "correlation of calls and records", 15, "machine"),
    Item(4, "kernels of a training step against torch.profiler", 30, "work"),
    Item(5, "backward operators on device threads", 15, "work"),
    Item(6, "cost of recording", 150, "cost"),
    Item(7, "CUDA graphs", 20, "work"),
    Item(8, "torch.compile: kernels to generated lines", 60, "work"),
    Item(9, "samples of instructions", 60, "samples"),
    Item(10, "together with torch.profiler", 25, "work"),
    Item(11, "memory and file size over steps", 30, "cost"),
    Item(12, "a JAX program", 55, "programs"),
    Item(13, "forked workers, kill -9", 20, "programs"),
)
"""In the order of their worth: 1 to 6 first."""
TOTAL_S: Final = 540
