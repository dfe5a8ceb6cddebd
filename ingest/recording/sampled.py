"""Where the threads of a recording were met by samples of the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..arrays import I32, I64, NULL64
from ..model import Layer
from ..tree_only import Costs
from .content import Recording
from .paths import Names

_UNKNOWN: Final = "[code in no library]"


@dataclass(frozen=True, slots=True)
class Sampled:
    """Functions of one thread that samples found, as contexts below those that were open."""

    node: I32
    samples: I64


def sampled_nodes(names: Names, recording: Recording, thread: int, node: I32) -> Sampled | None:
    """Adds them to the tree. `node`: the store's node of each of the thread's. None without
    samples."""
    rows = recording.processor.samples.get(thread)
    if rows is None or not len(rows):
        return None
    found = np.empty(len(rows), np.int32)
    for at, (own, module, offset, _) in enumerate(rows.tolist()):
        found[at] = names.tree.child(int(node[own]), _frame(names, recording, module, offset))
    return Sampled(found, rows[:, 3])


def with_samples(costs: Costs, kernel_name: I32, sampled: Sequence[Sampled]) -> tuple[Costs, I32]:
    """The costs, and the kernel of each of their rows, with rows for the samples."""
    node = np.concatenate([part.node for part in sampled])
    samples = np.concatenate([part.samples for part in sampled])
    unknown, before = np.full(len(node), NULL64), np.full(len(costs.node), NULL64)
    columns = {name: np.concatenate([v, unknown]) for name, v in costs.columns.items()}
    squares = {name: np.concatenate([v, np.zeros(len(node))]) for name, v in costs.squares.items()}
    return Costs(
        np.concatenate([costs.node, node]),
        np.concatenate([costs.device, np.full(len(node), -1, np.int16)]),
        {**columns, "samples": np.concatenate([before, samples])},
        squares,
    ), np.concatenate([kernel_name, np.full(len(node), -1, np.int32)])


def _frame(names: Names, recording: Recording, module: int, offset: int) -> int:
    intern = names.pool.intern
    if module < 0:
        return names.tree.frame(Layer.NATIVE, intern(_UNKNOWN))
    path = recording.strings[int(recording.modules[module, 0])]
    name = recording.processor.name(module, offset, path)
    return names.tree.frame(Layer.NATIVE, intern(name), intern(path))
