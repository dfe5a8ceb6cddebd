"""The kernels that instances of an operator launch, lined up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..native import intern_rows
from .op_groups import Groups, Spread, group_rows, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.report_events import Work

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Slots:
    """The n-th launch of a kernel in every instance of a group is one slot. Columns of one
    length, by group and then in the order of launches."""

    group: I32
    name: I32
    """`string.id`."""
    lane: I32
    """Stream of the earliest launch."""
    count: I64
    dur_ns: Spread


def kernel_slots(
    work: Work, below: tuple[I32, I64], groups: Groups, *, by_position: bool = False
) -> Slots:
    """Slots of the work of each group of instances; `below`: pairs of an instance (a row that the
    groups are over) and a piece of its work. Copies and memory sets have slots too. `by_position`:
    a slot is the n-th launch of any kernel in the instances that have as many as the first one,
    those of the least time come first."""
    instance, events = below
    order = np.lexsort((events, instance))  # by instance, then by start
    instance, events = instance[order], events[order]
    name = work.name[events]
    position = _rank(instance)
    if by_position:
        return _by_position(work, instance, events, groups)
    by_name, _ = intern_rows([instance, name])
    ordered = np.argsort(by_name, kind="stable")
    turn = np.empty(len(events), np.int64)
    turn[ordered] = _rank(by_name[ordered])
    length = (work.end_ns - work.start_ns)[events]
    slots = group_rows([groups.of_row[instance], name, turn], length)
    first = slots.first
    of_group = groups.of_row[instance[first]]
    order = np.lexsort((first, position[first], of_group))
    return Slots(
        group=of_group[order],
        name=name[first[order]],
        lane=work.lane[events[first[order]]],
        count=slots.count[order],
        dur_ns=spread(slots, length).take(order),
    )


def _by_position(work: Work, instance: I32, events: I64, groups: Groups) -> Slots:
    size = np.bincount(instance, minlength=len(groups.of_row))
    alike = size == size[groups.first][groups.of_row]
    instance, events = instance[alike[instance]], events[alike[instance]]
    length = (work.end_ns - work.start_ns)[events]
    slots = group_rows([groups.of_row[instance], _rank(instance)], length)
    of_group = groups.of_row[instance[slots.first]]
    order = np.lexsort((slots.total, of_group))
    at = events[slots.first[order]]
    return Slots(
        group=of_group[order],
        name=work.name[at],
        lane=work.lane[at],
        count=slots.count[order],
        dur_ns=spread(slots, length).take(order),
    )


def pieces(row: I32) -> tuple[I32, I64]:
    """Pairs of a row and a piece of work, from the row of each piece; -1: none."""
    events = np.flatnonzero(row >= 0)
    return row[events], events


def _rank(group: NDArray[np.integer]) -> I64:
    """Position of each row among those of its group; equal groups are neighbours."""
    if not len(group):
        return np.zeros(0, np.int64)
    begins = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    sizes = np.diff(np.append(begins, len(group)))
    return np.arange(len(group), dtype=np.int64) - np.repeat(begins, sizes)
