"""Sums of events by name, step and rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from ..native import group_stats
from ..queries.step_events import ContextKeys, texts
from .step_table import I32, I64, Flags, StepTable

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .step_slots import Slots

_NO_PARENT = (
    Layer.ROOT, Layer.PROCESS, Layer.THREAD, Layer.NATIVE, Layer.NOT_RECORDED, Layer.API,
)  # fmt: skip
"""Layers that are no operation of the program, in which another could be shown."""
_NO_RANGE = (Layer.API, Layer.KERNEL, Layer.MEMCPY, Layer.MEMSET, Layer.GRAPH)


class Keys:
    """Names of contexts as dense numbers: contexts of one layer and name share one."""

    def __init__(self, contexts: ContextKeys) -> None:
        self.parent = contexts.parent
        code = (contexts.layer.astype(np.int64) << 32) | contexts.name
        codes, self.key = np.unique(code, return_inverse=True)
        self.layer = (codes >> 32).astype(np.uint8)
        self.name = (codes & 0xFFFFFFFF).astype(np.int32)
        self.repeats = self._repeats()

    @property
    def count(self) -> int:
        return len(self.name)

    def _repeats(self) -> Flags:
        """Contexts below another one of the same key: their time is in that one's already."""
        above = self.parent
        found = np.zeros(len(self.parent), np.bool_)
        while (above >= 0).any():
            found |= (above >= 0) & (self.key[above] == self.key)
            above = np.where(above >= 0, self.parent[above], -1)
        return found

    def operation_above(self, node: int) -> int:
        """Key of the nearest operation around the context, -1 when there is none."""
        node = int(self.parent[node])
        while node >= 0 and self.layer[self.key[node]] in _NO_PARENT:
            node = int(self.parent[node])
        return -1 if node < 0 else int(self.key[node])


def sum_by_name(
    trace: Trace,
    place: I64,
    node: I32,
    total_ns: I64,
    self_ns: I64,
    slots: Slots,
    keys: Keys,
    step_names: set[str],
) -> StepTable:
    """Sums by (key, other thread) and rank. `place` is 2 * slot + in the gap."""
    group = place * keys.count + keys.key[node]
    totals = group_stats(group, np.ascontiguousarray(total_ns))
    selfs = group_stats(group, np.ascontiguousarray(self_ns))
    at, key = np.divmod(totals.group, keys.count)
    slot, in_gap = at >> 1, (at & 1).astype(np.bool_)
    rank = slots.rank[slot >> 1]
    found, row = np.unique(key * 2 + (slot & 1), return_inverse=True)
    row_key, other = found >> 1, (found & 1).astype(np.bool_)
    shape = (len(found), len(slots.per_rank))

    def spread(values: I64, chosen: Flags | slice = slice(None)) -> I64:
        out = np.zeros(shape, np.int64)
        np.add.at(out, (row[chosen], rank[chosen]), values[chosen])
        return out

    of_step = group_stats(slot * len(found) + row, totals.sum)
    square = np.zeros(shape, np.float64)
    step_slot, step_row = np.divmod(of_step.group, len(found))
    np.add.at(
        square,
        (step_row, slots.rank[step_slot >> 1]),
        np.square(of_step.sum.astype(np.float64)),
    )
    heaviest = _heaviest(node, place, total_ns, keys, found)
    above = [keys.operation_above(n) for n in heaviest.tolist()]
    known = texts(trace, keys.name[[*row_key.tolist(), *(k for k in above if k >= 0)]].tolist())
    names = tuple(known[int(keys.name[k])] for k in row_key.tolist())
    parents = [None if k < 0 else known[int(keys.name[k])] for k in above]
    is_step = np.array([name in step_names for name in names], np.bool_)
    is_step &= ~np.isin(keys.layer[row_key], _NO_RANGE)
    return StepTable(
        names=names,
        layer=keys.layer[row_key],
        other_thread=other,
        is_step=is_step,
        node=heaviest,
        parents=tuple(None if parent in step_names else parent for parent in parents),
        steps=slots.per_rank,
        calls=spread(totals.count),
        total_ns=spread(totals.sum),
        total_square=square,
        self_ns=spread(selfs.sum),
        self_in_step_ns=spread(selfs.sum, ~in_gap),
        total_in_step_ns=spread(totals.sum, ~in_gap),
    )


def _heaviest(node: I32, place: I64, total_ns: I64, keys: Keys, found: I64) -> I32:
    """The context with most time for each (key, other thread) of `found`, sorted."""
    by_context = group_stats(
        node.astype(np.int64) * 2 + ((place >> 1) & 1), np.ascontiguousarray(total_ns)
    )
    context = by_context.group >> 1
    code = keys.key[context] * 2 + (by_context.group & 1)
    order = np.lexsort((-by_context.sum, code))
    _, first = np.unique(code[order], return_index=True)
    heaviest: I32 = context[order][first].astype(np.int32)
    assert len(heaviest) == len(found)
    return heaviest
