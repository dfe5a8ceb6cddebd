"""Sums of events by name, step and rank."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from ..native import PlaceSums, group_stats
from ..queries.step_events import ContextKeys, texts
from .step_table import I64, Flags, StepTable

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .step_places import ContextSums
    from .step_slots import Slots

_NO_PARENT = np.isin(
    np.arange(256),
    (Layer.ROOT, Layer.PROCESS, Layer.THREAD, Layer.NATIVE, Layer.NOT_RECORDED, Layer.BACKWARD,
     Layer.API),
)  # fmt: skip
"""Layers that are no operation of the program, in which another could be shown: a flag by layer."""
_AT_ONCE = 262_144
"""Sums looked at together, so that temporary columns stay small."""
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
        while node >= 0 and _NO_PARENT[self.layer[self.key[node]]]:
            node = int(self.parent[node])
        return -1 if node < 0 else int(self.key[node])


@dataclass(frozen=True, slots=True)
class Sums:
    """Events added up by place (see `Slots`), key and flag: few rows for many events."""

    place: I64
    """2 * slot + in the gap."""
    key: I64
    flag: Flags
    count: I64
    total_ns: I64
    self_ns: I64
    heaviest: dict[tuple[int, bool], int]
    """Context with most time, by key and other thread."""

    @property
    def slot(self) -> I64:
        return self.place >> 1


def key_sums(of: ContextSums, keys: Keys, flag: Flags, total_ns: I64) -> Sums:
    """Sums of contexts by key and flag. `total_ns`: instead of the durations."""
    group = (2 * keys.key).astype(np.int32)[of.node]
    group += flag
    adder = PlaceSums(2 * keys.count, 3)
    adder.add(of.place, group, (of.count, total_ns, of.self_ns))
    place, code, _, (count, total, own) = adder.take()
    return Sums(
        place=place.astype(np.int64),
        key=code.astype(np.int64) >> 1,
        flag=(code & 1).astype(np.bool_),
        count=count,
        total_ns=total,
        self_ns=own,
        heaviest=_heaviest(of, keys, total_ns),
    )


def _heaviest(of: ContextSums, keys: Keys, total_ns: I64) -> dict[tuple[int, bool], int]:
    groups = 2 * len(keys.parent)
    count, total = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    for begin in range(0, len(of.node), _AT_ONCE):
        rows = slice(begin, begin + _AT_ONCE)
        stats = group_stats(2 * of.node[rows] + ((of.place[rows] >> 1) & 1), total_ns[rows])
        count[stats.group] += stats.count
        total[stats.group] += stats.sum
    group = np.flatnonzero(count)
    context = group >> 1
    code = 2 * keys.key[context] + (group & 1)
    order = np.lexsort((-total[group], code))
    found, first = np.unique(code[order], return_index=True)
    nodes = context[order][first]
    return {(c >> 1, bool(c & 1)): n for c, n in zip(found.tolist(), nodes.tolist(), strict=True)}


def step_table(
    trace: Trace, sums: Sums, slots: Slots, keys: Keys, step_names: Set[str]
) -> StepTable:
    """One row a key and thread, ranks side by side. `step_names`: of the step ranges."""
    rank = slots.rank[sums.slot >> 1]
    found, row = np.unique(2 * sums.key + (sums.slot & 1), return_inverse=True)
    row_key, other = found >> 1, (found & 1).astype(np.bool_)
    shape = (len(found), len(slots.per_rank))
    inside = (sums.place & 1) == 0

    def spread(values: I64, chosen: Flags | slice = slice(None)) -> I64:
        out = np.zeros(shape, np.int64)
        np.add.at(out, (row[chosen], rank[chosen]), values[chosen])
        return out

    of_step = group_stats(sums.slot * len(found) + row, sums.total_ns)
    square = np.zeros(shape, np.float64)
    step_slot, step_row = np.divmod(of_step.group, len(found))
    np.add.at(
        square,
        (step_row, slots.rank[step_slot >> 1]),
        np.square(of_step.sum.astype(np.float64)),
    )
    heaviest = [sums.heaviest[k, o] for k, o in zip(row_key.tolist(), other.tolist(), strict=True)]
    above = [keys.operation_above(node) for node in heaviest]
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
        node=np.array(heaviest, np.int32),
        parents=tuple(None if parent in step_names else parent for parent in parents),
        steps=slots.per_rank,
        calls=spread(sums.count),
        total_ns=spread(sums.total_ns),
        total_square=square,
        self_ns=spread(sums.self_ns),
        self_in_step_ns=spread(sums.self_ns, inside),
        total_in_step_ns=spread(sums.total_ns, inside),
    )
