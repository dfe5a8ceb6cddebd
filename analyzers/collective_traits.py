"""What an instance of a collective is, by its group, its name and the ranks that took part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..native import intern_rows
from .collective_names import IMPLICIT_SYNC, POINT_TO_POINT, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .collectives import Collectives

    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Traits:
    """What many instances share."""

    kind: str | None
    """One of the kinds of `collective_names`."""
    implicit: bool
    """No rank could leave before all had come."""
    group_size: int | None
    """Recorded, else the ranks that are there and those that are missing."""
    missing: tuple[int, ...]
    """Ranks of the group without a kernel."""
    span: str
    """intra_node, inter_node or unknown."""


def traits(
    found: Collectives, first: I64, present: Mask, gpus_per_node: int | None, world: int | None
) -> list[Traits]:
    """Of each instance, told by one of its events (`first`) and by which members are there."""
    bits = np.packbits(present, axis=1)
    keys = [found.group[first], found.name[first], found.inferred[first].astype(np.int32)]
    ids, at = intern_rows([*keys, *(bits[:, i].astype(np.int32) for i in range(bits.shape[1]))])
    ranks = [member.rank for member in found.members]
    everyone = tuple(range(world)) if world else tuple(r for r in ranks if r is not None)
    told: list[Traits] = []
    for instance in at.tolist():
        event = int(first[instance])
        there = [r for r, is_in in zip(ranks, present[instance].tolist(), strict=True) if is_in]
        told.append(
            _traits(found, event, [r for r in there if r is not None], everyone, gpus_per_node)
        )
    return [told[i] for i in ids.tolist()]


def _traits(
    found: Collectives,
    event: int,
    there: Sequence[int],
    everyone: tuple[int, ...],
    gpus_per_node: int | None,
) -> Traits:
    name = found.name_at(event)
    kind = kind_of(name)
    bare = int(found.group[event]) < 0
    group = None if bare else found.groups[int(found.group[event])]
    wanted = everyone if group is None else group.ranks or ()
    # A message between two ranks lacks nobody.
    missing = () if kind == POINT_TO_POINT and not bare else tuple(sorted({*wanted} - {*there}))
    implicit = kind in IMPLICIT_SYNC
    if found.inferred[event] and not missing:
        # Sends and receives in which all take part are an exchange between all; a kernel that does
        # not tell its collective is taken for one of those too.
        implicit = implicit or kind == POINT_TO_POINT or name is None
    size = len(there) + len(missing) if group is None else group.size
    return Traits(kind, implicit, size, missing, _span(wanted, there, gpus_per_node, bare))


def _span(
    wanted: tuple[int, ...], there: Sequence[int], gpus_per_node: int | None, bare: bool
) -> str:
    ranks = wanted or (there if bare else ())
    if not gpus_per_node or not ranks:
        return "unknown"
    return "intra_node" if len({r // gpus_per_node for r in ranks}) == 1 else "inter_node"
