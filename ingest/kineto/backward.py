"""Which forward operator a backward operator belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import intern_rows, join_first
from ..arrays import I32, I64, NULL64
from .latest import latest_before
from .owners import Owners
from .recording import Table

_START, _FINISH = ord("s"), ord("f")
_OPERATOR: Final = 0


@dataclass(slots=True)
class Forwards:
    """`forward`: row of the forward operator by row of the operators, -1 where none is known.
    `ambiguous` backward operators have a number that several threads use."""

    forward: I32
    backwards: int = 0
    ambiguous: int = 0


def forward_rows(table: Table, lane: I32, flow: Table | None, owners: Owners) -> Forwards:
    """The forward operator of each backward one: the latest-starting one with its sequence number
    on the forward thread that began before it.

    Backward operators name a logical number of their forward thread, not its lane. Which lane that
    is matters only where several threads use a sequence number; flows tell it, else the numbers
    that one thread alone uses."""
    sequence, thread, start = table["seq_nr"], table["fwd_thread"], table["ts_ns"]
    numbered = (table["kind"] == _OPERATOR) & (sequence != NULL64) & (sequence >= 0)
    forward = np.flatnonzero(numbered & (thread == 0))
    backward = np.flatnonzero(numbered & (thread != 0) & (thread != NULL64))
    out = Forwards(np.full(len(sequence), -1, np.int32), len(backward))
    if not len(forward) or not len(backward):
        return out
    dense, _ = intern_rows([np.concatenate([sequence[forward], sequence[backward]])])
    of_forward, of_backward = dense[: len(forward)], dense[len(forward) :]
    _, pairs = intern_rows([of_forward, lane[forward]])
    size = int(dense.max()) + 1
    users = np.bincount(of_forward[pairs], minlength=size)
    only = np.full(size, -1, np.int32)
    only[of_forward[pairs]] = lane[forward][pairs]
    alone = users[of_backward] == 1
    lanes = np.where(alone, only[of_backward], np.int32(-1))
    shared = users[of_backward] > 1
    if shared.any():
        learnt = _lanes_by_flow(thread, lane, start, backward, flow, owners)
        votes = _majority(thread[backward][alone], lanes[alone])
        known = {**votes, **learnt}
        asked, index = np.unique(thread[backward][shared], return_inverse=True)
        lanes[shared] = np.array([known.get(t, -1) for t in asked.tolist()], np.int32)[index]
        out.ambiguous = int(np.count_nonzero(shared & (lanes < 0)))
    found = latest_before(
        [of_backward, lanes],
        start[backward],
        [of_forward, lane[forward]],
        start[forward],
        same_time=False,
    )
    hit = found >= 0
    out.forward[backward[hit]] = forward[found[hit]]
    return out


def _majority(thread: I64, lane: I32) -> dict[int, int]:
    """The lane that most events of each logical thread name."""
    if not len(thread):
        return {}
    index, first = intern_rows([thread, lane])
    counts = np.bincount(index)
    best: dict[int, tuple[int, int]] = {}
    for row, count in zip(first.tolist(), counts.tolist(), strict=True):
        logical = int(thread[row])
        best[logical] = max(best.get(logical, (0, -1)), (count, int(lane[row])))
    return {logical: where for logical, (_, where) in best.items()}


def _lanes_by_flow(
    thread: I64, lane: I32, start: I64, backward: I64, flow: Table | None, owners: Owners
) -> dict[int, int]:
    """Lane by logical thread, as the forward-backward flows tell it."""
    if flow is None:
        return {}
    begins = np.flatnonzero((flow["ph"] == _START) & (flow["id"] != NULL64))
    ends = np.flatnonzero((flow["ph"] == _FINISH) & (flow["id"] != NULL64))
    if not len(begins) or not len(ends):
        return {}
    lanes = owners.threads(flow["lane"])
    operator = join_first([lanes[ends], flow["ts_ns"][ends]], [lane[backward], start[backward]])
    keys = [flow["id"], flow["cat"]]
    origin = join_first([key[ends] for key in keys], [key[begins] for key in keys])
    both = (operator >= 0) & (origin >= 0)
    return _majority(thread[backward[operator[both]]], lanes[begins[origin[both]]])
