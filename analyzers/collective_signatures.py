"""Communication kernels by what they were called with, and the part that nothing hides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..native import IntervalSets
from ..queries.collectives import other_work
from ..queries.step_events import texts as texts_of
from .distinct import distinct
from .op_groups import Groups, Spread, group_rows, spread, sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.trace import Trace
    from .collectives import Collectives
    from .report_rules import Rules

    I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Signatures:
    """Groups of equal calls of one rank on one stream, most time first."""

    groups: Groups
    dur_ns: Spread
    """Waiting for the other ranks included."""
    exposed_ns: I64
    """Part of the sum during which the GPU computed nothing."""
    first: I64
    """The first event of each group."""


def signatures(found: Collectives, exposed_ns: I64) -> Signatures:
    """Group by rank, group, name (of the kernel where there is none), type, sizes and stream."""
    unnamed = np.where(found.name < 0, found.work.name, -1)
    keys: list[NDArray[np.integer]] = [found.member, found.group, found.name, found.dtype]
    keys += [found.in_elements]
    keys += [found.out_elements, found.in_split, found.out_split, found.work.lane, unnamed]
    groups = group_rows(keys, found.dur_ns)
    return Signatures(
        groups,
        spread(groups, found.dur_ns),
        sums(groups.of_row, exposed_ns, len(groups.first)),
        groups.first,
    )


def exposed_ns(trace: Trace, found: Collectives, rules: Rules) -> I64:
    """Of each communication kernel the time during which its GPU computed nothing. Reads events."""
    other = other_work(trace)
    names = distinct(other.name)
    texts = texts_of(trace, map(int, names))
    hides = np.array([not rules.is_communication(texts[int(i)]) for i in names], bool)
    wanted = hides[np.searchsorted(names, other.name)] if len(names) else other.linked
    if rules.linked_only:
        wanted = wanted & other.linked
    exposed = found.dur_ns
    for device in distinct(found.work.device).tolist():
        mine = wanted & (other.device == device)
        start, end = other.start_ns[mine], other.end_ns[mine]
        busy = IntervalSets(np.zeros(len(start), np.int32), start, end, 1)
        rows = found.work.device == device
        covered = _covered(busy, found.work.end_ns[rows]) - _covered(
            busy, found.work.start_ns[rows]
        )
        exposed[rows] -= covered
    return exposed


def _covered(busy: IntervalSets, until: I64) -> I64:
    """Busy time before each instant."""
    if not busy.count:
        return np.zeros(len(until), np.int64)
    start, end = np.asarray(busy.start), np.asarray(busy.end)
    before = np.concatenate([[0], np.cumsum(end - start)])
    place = np.searchsorted(start, until, side="right")
    last = np.maximum(place - 1, 0)
    beyond = np.where(place > 0, np.maximum(end[last] - until, 0), 0)
    return before[place] - beyond
