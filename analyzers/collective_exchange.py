"""All-to-all exchanges in which each rank sends as much as it likes to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .collective_names import ALL_TO_ALL_V, numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .collective_timing import Timed

    F64 = NDArray[np.float64]
    I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Exchanges:
    """Instances with several sizes, most data first. Tables have a column for each member; NaN
    where a value is not known."""

    instance: I64
    """Index into the instances that were timed."""
    in_bytes: F64
    """Table: what each member sends."""
    total_bytes: F64
    wall_ns: I64
    """From the first start to the last end."""
    throughput: F64
    """GB/s of all data over that time."""
    member_throughput: F64
    """Table: GB/s of a member's own data over its own time."""
    imbalance: F64
    """Largest message over the mean one."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a rank sent to another, over all exchanges."""

    source: int
    target: int
    total_bytes: float
    count: int


def exchanges(of: Timed) -> Exchanges:
    """Of the timed collectives those that are such exchanges."""
    kinds = [traits.kind == ALL_TO_ALL_V for traits in of.traits]
    rows = np.flatnonzero(np.array(kinds, bool))
    present = of.present[rows]
    events = of.matched.event[rows]
    sizes = np.where(present, np.append(of.found.in_bytes(), np.nan)[events], np.nan)
    total = np.where(present, sizes, 0.0).sum(axis=1)
    unit = 2**30 if of.settings.gib else 1e9
    latest = np.iinfo(np.int64).max
    begin = np.where(present, of.start_ns[rows], latest).min(axis=1, initial=latest)
    end = np.where(present, of.end_ns[rows], -latest).max(axis=1, initial=-latest)
    wall = end - begin
    dur = of.end_ns[rows] - of.start_ns[rows]
    with np.errstate(invalid="ignore", divide="ignore"):
        throughput = np.where(wall > 0, total / unit / (wall / 1e9), np.nan)
        own = np.where(dur > 0, sizes / unit / (dur / 1e9), np.nan)
        mean = total / present.sum(axis=1)
        largest = np.where(present, sizes, -np.inf).max(axis=1, initial=-np.inf)
        imbalance = np.where(mean > 0, largest / mean, np.nan)
    order = np.lexsort((rows, np.where(np.isnan(total), np.inf, -total)))
    return Exchanges(
        rows[order],
        sizes[order],
        total[order],
        wall[order],
        throughput[order],
        own[order],
        imbalance[order],
    )


def sent(of: Timed, found: Exchanges) -> list[Sent]:
    """By source and target (ranks of the whole program). Exchanges whose split sizes or group are
    not recorded in full are left out."""
    totals: dict[tuple[int, int], tuple[float, int]] = {}
    calls = of.found
    for row, instance in enumerate(found.instance.tolist()):
        for member, event in enumerate(of.matched.event[instance].tolist()):
            source = calls.members[member].rank
            group = int(calls.group[event]) if event >= 0 else -1
            if source is None or group < 0:
                continue
            targets = calls.groups[group].ranks
            size = float(found.in_bytes[row, member])
            if targets is None or size != size:
                continue
            split = numbers(calls.text(int(calls.in_split[event])))
            # Without sizes of its own a rank sends the same to all.
            split = [1] * len(targets) if split == [] else split
            if split is None or len(split) != len(targets):
                continue
            whole = sum(split)
            for target, part in zip(targets, split, strict=True):
                before, count = totals.get((source, target), (0.0, 0))
                share = size * part / whole if whole else 0.0
                totals[source, target] = (before + share, count + 1)
    return [Sent(s, t, total, count) for (s, t), (total, count) in sorted(totals.items())]
