"""From jitted functions to HLO operations: the frames above each event that names an operation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...native import intern_rows, nest
from ..arrays import I32, I64, Mask
from ..timeline import Timeline
from .modules import Modules, Operation
from .recording import Recording


@dataclass(slots=True)
class Paths:
    """The HLO operation of each event: a position in `operations`, -1 where it names none."""

    operation: I32
    operations: list[Operation]

    @property
    def above(self) -> list[tuple[int, ...]]:
        """Frames above each operation."""
        return [item.frames for item in self.operations]

    @property
    def full(self) -> list[tuple[int, ...]]:
        """The same with the operation's own frame."""
        return [(*item.frames, item.frame) for item in self.operations]


def find_paths(recording: Recording, modules: Modules) -> Paths:
    """The operation of every event that names one. One look-up for each distinct name."""
    pool = recording.pool
    hlo_op = recording.text("hlo_op")
    rows = np.flatnonzero(hlo_op >= 0)
    operation = np.full(len(recording), -1, np.int32)
    if not len(rows):
        return Paths(operation, [])
    keys: list[NDArray[Any]] = [
        recording.number("program_id")[rows],
        recording.text("hlo_module")[rows],
        hlo_op[rows],
        recording.text("name")[rows],
    ]
    number, first = intern_rows(keys)
    operation[rows] = number
    distinct = zip(*(key[first].tolist() for key in keys), strict=True)
    operations = [
        modules.operation(
            program, pool[module] if module >= 0 else "", name, pool[told] if told >= 0 else ""
        )
        for program, module, name, told in distinct
    ]
    return Paths(operation, operations)


class Chains:
    """Numbers the chains of frames that events bring to the tree; -1 for an empty one."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {}

    def number(self, frames: tuple[int, ...]) -> int:
        return self._numbers.setdefault(frames, len(self._numbers)) if frames else -1

    def of_pairs(
        self,
        outer: I32,
        inner: I32,
        around: list[tuple[int, ...]],
        below: list[tuple[int, ...]],
    ) -> I32:
        """For each pair of operations (-1: none) the frames of `below[inner]` that
        `around[outer]` does not begin with already."""
        if not len(inner):
            return np.empty(0, np.int32)
        dense, first = intern_rows([outer, inner])
        bases: list[int] = outer[first].tolist()
        owns: list[int] = inner[first].tolist()
        numbers: list[int] = []
        for base, own in zip(bases, owns, strict=True):
            outside: tuple[int, ...] = around[base] if base >= 0 else ()
            numbers.append(-1 if own < 0 else self.number(_rest(outside, below[own])))
        return np.array(numbers, np.int32)[dense]

    def add_to(self, line: Timeline) -> None:
        """Hands all over: the numbers given out are those of the timeline if it has no others."""
        offsets = np.zeros(len(self._numbers) + 1, np.int64)
        offsets[1:] = np.cumsum([len(frames) for frames in self._numbers])
        frames = [frame for chain in self._numbers for frame in chain]
        line.add_chains(offsets, np.array(frames, np.int32))


def _rest(outer: tuple[int, ...], inner: tuple[int, ...]) -> tuple[int, ...]:
    """`inner` without the frames it begins with in common with `outer`."""
    common = 0
    for one, other in zip(outer, inner, strict=False):
        if one != other:
            break
        common += 1
    return inner[common:]


def around(lane: I32, start: I64, end: I64, named: Mask) -> I32:
    """For each event that names an operation, the row of the event around it that names one too
    (a loop around its body), else -1."""
    rows = np.flatnonzero(named)
    found = np.full(len(lane), -1, np.int32)
    if len(rows):
        inner = nest(lane[rows], start[rows], end[rows], np.zeros(len(rows), np.uint8)).parent
        found[rows] = np.where(inner >= 0, rows[inner], -1)
    return found
