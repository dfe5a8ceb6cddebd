"""Operators whose backward pass takes much longer than twice the forward one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ...ingest.model import Layer
from ...queries.findings import host_visits
from ..findings import Finding
from ..quantities import share, time
from .facts import Facts
from .places import nearest
from .wording import gained

if TYPE_CHECKING:
    from numpy.typing import NDArray

    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]

EXPECTED: Final = 2
"""Backward over forward time of an operator with two gradients of its own cost."""
_WHOLE: Final = "CompiledFunction"
"""A compiled graph: what it keeps for its backward pass is the compiler's choice."""
_WORDS: Final = re.compile(r"[_\W]")
_INDEXING: Final = re.compile(r"index|gather|embedding|take|scatter", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    ratio: float
    """Backward over forward time of an operator, above."""
    share: float
    """Of the devices' time in its backward pass, at least."""


@dataclass(frozen=True, slots=True)
class Operator:
    name: str
    row: int
    """The context with most backward time."""
    forward_ns: int
    backward_ns: int

    @property
    def gain_ns(self) -> int:
        """What is beyond the expected ratio."""
        return self.backward_ns - EXPECTED * self.forward_ns


def analyze(facts: Facts, limits: Limits) -> list[Operator]:
    is_backward = facts.layer == Layer.BACKWARD
    if not facts.on_gpu:
        forward, backward = _host_times(facts, is_backward)
    else:
        comm = facts.is_kernel & facts.where(facts.is_communication)
        own = np.where(comm, 0, facts.own_cost)
        inside = nearest(facts.parent, is_backward) >= 0
        forward, backward = facts.sum_below(np.where(inside, 0, own)), facts.sum_below(own)
    found: dict[str, Operator] = {}
    rows = np.flatnonzero(is_backward & _of_its_operator(facts, is_backward))
    rows = rows[[facts.name(int(op)) != _WHOLE for op in facts.parent[rows]]]
    for row in rows[np.argsort(-backward[rows], kind="stable")].tolist():
        op = int(facts.parent[row])
        name = facts.name(op)
        known = found.get(name)
        found[name] = Operator(
            name,
            op if known is None else known.row,
            int(forward[op]) + (known.forward_ns if known else 0),
            int(backward[row]) + (known.backward_ns if known else 0),
        )
    hits = [
        op
        for op in found.values()
        if 0 < op.forward_ns * limits.ratio < op.backward_ns
        and op.backward_ns >= limits.share * facts.window_ns
    ]
    return sorted(hits, key=lambda op: -op.gain_ns)


def _of_its_operator(facts: Facts, is_backward: Mask) -> Mask:
    """Rows of backward passes whose first operator is named after the forward one. Numbers that
    link the two are given to other operators, too."""
    found = np.zeros(len(facts.parent), np.bool_)
    for row in np.flatnonzero(is_backward[np.maximum(facts.parent, 0)] & (facts.parent >= 0)):
        above = int(facts.parent[row])
        name = _WORDS.sub("", facts.name(int(facts.parent[above])).split("::")[-1]).lower()
        name = name.removesuffix("forward")
        found[above] |= bool(name) and name in _WORDS.sub("", facts.name(int(row))).lower()
    return found


def _host_times(facts: Facts, is_backward: Mask) -> tuple[I64, I64]:
    """Forward time by operator, and backward time by row of its backward pass: number of visits
    times the usual length. First visits on a CPU start threads and fill caches."""
    size = len(facts.parent)
    first = np.zeros(size, np.bool_)
    first[facts.parent[np.flatnonzero(is_backward)]] = True
    below = is_backward[np.maximum(facts.parent, 0)] & (facts.parent >= 0)
    total = (
        _usual_times(facts, first, below)
        if len(facts.report.host.dur_ns)
        else (_times_of_sums(facts, first, below))
    )
    return total, total


def _usual_times(facts: Facts, first: Mask, below: Mask) -> I64:
    """By the median of the events."""
    size = len(facts.parent)
    events = facts.events_of(first | below)
    row = facts.host_row[events]
    target = np.where(below[row], facts.parent[row], row)
    length = facts.report.host.dur_ns[events]
    order = np.lexsort((length, target))
    target, length = target[order], length[order]
    begin = np.searchsorted(target, np.arange(size + 1))
    count = np.diff(begin)
    usual = np.append(length, 0)[begin[:-1] + np.maximum(count - 1, 0) // 2]
    return np.where(count > 0, usual * count, 0).astype(np.int64)


def _times_of_sums(facts: Facts, first: Mask, below: Mask) -> I64:
    """Of a recording, which keeps sums alone: by the mean of all visits but the longest."""
    size = len(facts.parent)
    visits = host_visits(facts.trace)
    row = facts.place[visits["node"]]
    kept = (row >= 0) & np.append(first | below, False)[row]
    row = row[kept]
    target = np.where(below[row], facts.parent[row], row)
    calls, total, longest = (np.zeros(size, np.int64) for _ in range(3))
    np.add.at(calls, target, visits["calls"][kept])
    np.add.at(total, target, visits["sum_ns"][kept])
    np.maximum.at(longest, target, visits["max_ns"][kept])
    rest = (total - longest) * calls // np.maximum(calls - 1, 1)
    return np.where(calls > 1, rest, total)


def findings(result: list[Operator], facts: Facts) -> list[Finding]:
    if not result:
        return []
    first = result[0]
    if _INDEXING.search(first.name):
        remedy = (
            "The gradient of indexing adds rows one after the other where indexes repeat: use an "
            "operator with an atomic backward pass (torch.index_select, torch.gather, "
            "F.embedding) instead of tensor[index]."
        )
    elif not facts.on_gpu:
        remedy = (
            "Look at the operators of its backward pass (Call paths): another layout of its "
            "tensors, or a fused operator, may take less."
        )
    else:
        remedy = (
            "Look at the kernels of its backward pass: another layout (channels_last), a fused "
            "operator, or torch.backends.cudnn.benchmark may choose faster ones."
        )
    parts = ", ".join(f"{op.name} {op.backward_ns / op.forward_ns:.1f} x" for op in result[:3])
    return [
        gained(
            "backward-imbalance",
            f"The backward pass of {first.name} takes {time(first.backward_ns)}, "
            f"{share(first.backward_ns / facts.total_ns)} of the {facts.cost_name}; the forward "
            f"one {time(first.forward_ns)}. Backward over forward: {parts}; {EXPECTED} is usual.",
            remedy,
            "Backward and forward time of the operator (Ops, Call paths).",
            facts.evidence([op.row for op in result], [op.backward_ns / 1e6 for op in result],
                           "ms", "backward of {}"),
            facts.gain(sum(op.gain_ns for op in result),
                       f"backward time beyond {EXPECTED} times the forward time"),
        )
    ]  # fmt: skip
