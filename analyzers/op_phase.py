"""The part of the workload that an operator belongs to, its step and its module.

An operator is of the recomputation of a checkpoint where a frame of it is around, or where it is
below `CheckpointFunctionBackward` without a gradient of its own between; else of the optimizer
below `Optimizer.step`; else of the backward pass below autograd's wrapper or where the name says
so; else of the forward pass within a step; else it is of none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ..queries.report_events import Host

    I32 = NDArray[np.int32]
    U8 = NDArray[np.uint8]
    Mask = NDArray[np.bool_]


class Phase(IntEnum):
    """Of one operator."""

    OTHER = 0
    FORWARD = 1
    BACKWARD = 2
    OPTIMIZER = 3
    RECOMPUTE = 4


class _Mark(IntEnum):
    """What a name tells."""

    NONE = 0
    MODULE = 1
    STEP = 2
    OPTIMIZER = 3
    WRAPPER = 4
    CHECKPOINT = 5
    BACKWARD = 6
    RECOMPUTE = 7


_MARKS: Final = (
    (re.compile(r"nn\.Module: "), _Mark.MODULE),
    (re.compile(r"ProfilerStep#"), _Mark.STEP),
    (re.compile(r"Optimizer\.step#"), _Mark.OPTIMIZER),
    (re.compile(r"autograd::engine::evaluate_function: "), _Mark.WRAPPER),
    (re.compile(r"CheckpointFunctionBackward[0-9]*$"), _Mark.CHECKPOINT),
    (re.compile(r".*torch/utils/checkpoint\.py.*recompute_fn"), _Mark.RECOMPUTE),
    (re.compile(r".*Backward[0-9]*$"), _Mark.BACKWARD),
)


@dataclass(frozen=True, slots=True)
class Contexts:
    """By host event that was asked for. -1: none."""

    phase: U8
    step: I32
    """`string.id` of the step's annotation."""
    module: I32
    """`string.id` of the innermost module around it."""


def contexts(host: Host, events: I32, names: Mapping[int, str]) -> Contexts:
    """Where each of these host events belongs (-1 is nowhere). `names`: of what tells it."""
    mark_of = np.zeros(max([*names, int(host.name.max(initial=-1))], default=-1) + 2, np.uint8)
    for string, text in names.items():
        mark_of[string] = next((m for pattern, m in _MARKS if pattern.match(text)), _Mark.NONE)
    count = len(events)
    seen = np.zeros((len(_Mark), count), bool)
    recompute = np.zeros(count, bool)
    step, module = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
    rows = np.flatnonzero(events >= 0)
    at = events[rows]
    while len(at):
        mark = mark_of[host.name[at]]
        recompute[rows[(mark == _Mark.CHECKPOINT) & ~seen[_Mark.WRAPPER, rows]]] = True
        recompute[rows[mark == _Mark.RECOMPUTE]] = True
        for kind, found in ((_Mark.STEP, step), (_Mark.MODULE, module)):
            first = (mark == kind) & (found[rows] < 0)
            found[rows[first]] = host.name[at[first]]
        seen[mark, rows] = True
        at = host.parent[at]
        rows, at = rows[at >= 0], at[at >= 0]
    backward = seen[_Mark.WRAPPER] | seen[_Mark.BACKWARD] | seen[_Mark.CHECKPOINT]
    phase = np.select(
        [recompute, seen[_Mark.OPTIMIZER], backward, step >= 0],
        [Phase.RECOMPUTE, Phase.OPTIMIZER, Phase.BACKWARD, Phase.FORWARD],
        Phase.OTHER,
    )
    return Contexts(phase.astype(np.uint8), step, module)
