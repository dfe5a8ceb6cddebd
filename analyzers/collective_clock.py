"""How far the clocks of hosts are apart, told by collectives that all ranks leave together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    F64 = NDArray[np.float64]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]

APPLIED_FROM_NS: Final = 10_000
"""Clocks that differ by less are left as they are: ranks leave a collective within this anyway."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of one host."""

    node: int | None
    """None: the host is not known, and the clock is that of one rank."""
    members: tuple[int, ...]
    offset_ns: int
    """Ahead of the others by this much, at the median; below zero: behind."""
    spread_ns: int
    """Half of the single offsets lie in a range of this width."""
    instances: int
    """Collectives that tell it. Without any the offset is not known, and 0."""
    applied: bool


def clocks(
    end_ns: I64, present: Mask, usable: Mask, node: list[int | None], *, align: bool
) -> list[Clock]:
    """The clock of each host of the members, from the ends of collectives.

    `end_ns` and `present` are tables of instances by members, `usable` marks the instances that all
    ranks leave together. An offset is the median over these of a rank's end less the median end of
    all ranks. With `align` those beyond `APPLIED_FROM_NS` are to be taken off.
    """
    hosts: dict[tuple[bool, int], list[int]] = {}
    for member, of_member in enumerate(node):
        key = (True, member) if of_member is None else (False, of_member)
        hosts.setdefault(key, []).append(member)
    apart: F64 = np.full(end_ns.shape, np.nan)
    rows = np.flatnonzero(usable & (present.sum(axis=1) > 1))
    if len(rows):
        there = present[rows]
        base = np.where(there, end_ns[rows], np.iinfo(np.int64).max).min(axis=1)
        ends = np.where(there, end_ns[rows] - base[:, None], np.nan)
        apart[rows] = ends - np.nanmedian(ends, axis=1)[:, None]
    found: list[Clock] = []
    for (alone, number), members in hosts.items():
        values = apart[:, members]
        values = values[~np.isnan(values)]
        offset = round(float(np.median(values))) if len(values) else 0
        low, high = np.percentile(values, [25, 75]) if len(values) else (0.0, 0.0)
        found.append(
            Clock(
                node=None if alone else number,
                members=tuple(members),
                offset_ns=offset,
                spread_ns=round(float(high - low)),
                instances=int((~np.isnan(apart[:, members])).any(axis=1).sum()),
                applied=align and len(hosts) > 1 and abs(offset) > APPLIED_FROM_NS,
            )
        )
    return found
