"""How long it takes to merge two call-path trees node by node."""

from statistics import median
from time import perf_counter, process_time

import numpy as np

from dctx.native import TextColumn, align_trees

from .results import Figure

NODES = 200_000
TARGET_S = 1.0
_NAMES = 5_000
_EDITED = 0.05


def run(repeats: int) -> list[Figure]:
    """Trees of equal size, of which one node in twenty has another name in the second."""
    random = np.random.default_rng(1)
    # Parents in the rows right before: as deep as trees of Python frames.
    reach = random.integers(1, 60, NODES)
    parent = np.maximum(np.arange(NODES) - reach, 0).astype(np.int32)
    parent[0] = -1
    base = random.integers(0, _NAMES, NODES).astype(np.int32)
    edited = random.random(NODES) < _EDITED
    target = np.where(edited, random.integers(0, _NAMES, NODES), base).astype(np.int32)
    names = TextColumn.from_list([f"layer_{i * 7919 % 977}_function_{i}" for i in range(_NAMES)])
    kinds = np.zeros(_NAMES, np.uint8)
    clocks: list[float] = []
    cpu: list[float] = []
    for _ in range(max(repeats, 3)):
        clock, busy = perf_counter(), process_time()
        align_trees((parent, base, base), (parent, target, target), names, kinds, kinds)
        clocks.append(perf_counter() - clock)
        cpu.append(process_time() - busy)
    label = f"merge two trees of {NODES:,} nodes"
    return [
        Figure(label, median(clocks), "s", TARGET_S),
        Figure(f"{label}, CPU time", median(cpu), "s"),
    ]
