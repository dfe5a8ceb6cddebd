"""Python stacks that PyTorch 1.8 to 1.11 wrote as a text of each operator."""

from __future__ import annotations

import numpy as np

from ...native import nest
from ..arrays import I32, I64
from ..timeline import Timeline
from .names import python_frames
from .recording import distinct


def stack_chains(stack: I32, lane: I32, start: I64, dur: I64, timeline: Timeline) -> I32:
    """Chain of Python frames above each operator, -1 where none is known or where an operator
    around it has one: inner operators repeat the stack of the outer one.

    A stack is one text, innermost function first, joined by `;`."""
    texts, index = distinct(stack)
    pool, tree = timeline.pool, timeline.tree
    offsets, names = [0], list[int]()
    for text in texts:
        functions = pool[text].split(";") if text >= 0 else []
        names += [pool.intern(function.strip()) for function in reversed(functions)]
        offsets.append(len(names))
    frames = python_frames(tree, pool, np.array(names, np.int32))
    first = timeline.add_chains(np.array(offsets, np.int64), frames)
    parent = nest(lane, start, start + dur, np.zeros(len(lane), np.uint8)).parent
    known = stack >= 0
    inner = np.zeros(len(stack), np.bool_)
    above = parent
    while (above >= 0).any():
        inner |= (above >= 0) & known[above]
        above = np.where(above >= 0, parent[above], -1)
    return np.where(known & ~inner, index + first, -1).astype(np.int32)
