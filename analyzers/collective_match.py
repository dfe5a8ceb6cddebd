"""Which communication kernels of different ranks are one collective operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..native import intern_rows
from .collective_names import POINT_TO_POINT, kind_of
from .distinct import distinct
from .errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .collectives import Collectives

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]

BY_SEQUENCE, BY_ORDER, BY_NAME = 0, 1, 2
"""How sure a match is: by recorded sequence numbers; by order within the group; by order within a
stream and a kernel's name."""
MATCHES = ("sequence number", "order", "low confidence")


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Instances of collectives, by their first start. `event` is a table of one row per instance
    and one column per member."""

    event: NDArray[np.int64]
    """Index into the collectives; -1 where the member has none."""
    basis: I32
    """Of each instance, an index into `MATCHES`."""
    instance: I32
    """Of each event; -1 for those of members without a rank, which are compared with nobody."""
    index_in_group: I64
    """Of each event: its number within its group on its rank, from 0."""
    notes: list[str]

    def present(self) -> NDArray[np.bool_]:
        return self.event >= 0


MOST_CELLS: Final = 20_000_000
"""Of a table of instances by members. A cell takes about 60 bytes in all that is derived."""


def match(found: Collectives) -> Matched:
    """Match by sequence numbers where a group has them, else by order. RequestError when there are
    more collectives and ranks than fit into memory."""
    ranked = np.array([member.rank is not None for member in found.members], bool)
    own = np.flatnonzero(ranked[found.member]) if len(found) else np.zeros(0, np.int64)
    channel, basis = _channels(found)
    position = places([channel, found.member])
    index = position.copy()
    notes: list[str] = []
    p2p_kinds = [kind_of(name) == POINT_TO_POINT for name in found.names]
    p2p = np.append(np.array(p2p_kinds, bool), False)[found.name]
    p2p |= (found.peer_source >= 0) | (found.peer_target >= 0)
    key = np.full(len(found), -1, np.int64)
    numbered = _all_numbered(channel, found.sequence)
    key[numbered] = found.sequence[numbered] * 2 + p2p[numbered]
    basis = np.where(numbered, BY_SEQUENCE, basis).astype(np.int32)
    repeated = places([channel, found.member, key])
    position[numbered] = repeated[numbered]
    loose = own[~numbered[own]]
    for of_channel in distinct(channel[loose]).tolist():
        rows = loose[channel[loose] == of_channel]
        notes += _line_up(found, rows, position)
    ids, first = intern_rows([channel[own], key[own], position[own]])
    instance = np.full(len(found), -1, np.int32)
    instance[own] = ids
    if len(first) * len(found.members) > MOST_CELLS:
        raise RequestError(
            f"{len(first):,} collectives of {len(found.members):,} ranks are too many to compare "
            "at once: name the files of fewer ranks, those of one group for instance."
        )
    event = np.full((len(first), len(found.members)), -1, np.int64)
    event[ids, found.member[own]] = own
    return Matched(event, basis[own[first]], instance, index, notes)


def _channels(found: Collectives) -> tuple[I32, I32]:
    """Where order tells which kernels belong together: the group; without arguments the rank's one
    stream, or a stream of several by its rank and the collective."""
    bare = found.group < 0
    stream = np.full(len(found), -1, np.int32)
    name = np.full(len(found), -1, np.int32)
    basis = np.full(len(found), BY_ORDER, np.int32)
    lanes: list[NDArray[np.int32]] = []
    for member in range(len(found.members)):
        of_member = bare & (found.member == member)
        lanes.append(distinct(found.work.lane[of_member]))
    if any(len(of_member) > 1 for of_member in lanes):
        for member, of_member in enumerate(lanes):
            rows = np.flatnonzero(bare & (found.member == member))
            stream[rows] = np.searchsorted(of_member, found.work.lane[rows])
        name = np.where(bare, found.name, -1).astype(np.int32)
        basis[bare] = BY_NAME
    channel, _ = intern_rows([found.group, stream, name])
    return channel, basis


def places(keys: Sequence[NDArray[np.integer]]) -> I64:
    """Number of each row among those with equal keys, from 0."""
    ids, first = intern_rows(list(keys))
    order = np.argsort(ids, kind="stable")
    counts = np.bincount(ids, minlength=len(first))
    begin = np.cumsum(counts) - counts
    place = np.empty(len(ids), np.int64)
    place[order] = np.arange(len(ids)) - np.repeat(begin, counts)
    return place


def _all_numbered(channel: I32, sequence: I64) -> NDArray[np.bool_]:
    """Events of channels all of whose events have a number."""
    without = np.bincount(channel, sequence < 0, minlength=int(channel.max(initial=-1)) + 1)
    numbered: NDArray[np.bool_] = without[channel] == 0
    return numbered


def _line_up(found: Collectives, rows: I64, position: I64) -> list[str]:
    """Where ranks have different numbers of collectives, those with fewer are lined up at the end
    that agrees best in what is called; `position` is changed. Says what was moved."""
    members: list[int] = distinct(found.member[rows]).tolist()
    calls = {m: rows[found.member[rows] == m] for m in members}
    most = max(len(events) for events in calls.values())
    if min(len(events) for events in calls.values()) == most:
        return []
    longest = next(events for events in calls.values() if len(events) == most)
    said: list[str] = []
    for member, events in calls.items():
        missing = most - len(events)
        if not missing:
            continue
        at_start = _agreeing(found, events, longest[: len(events)])
        at_end = _agreeing(found, events, longest[missing:])
        offset = missing if at_end > at_start else 0
        position[events] += offset
        rank, end = found.members[member].rank, "first" if offset else "last"
        said.append(
            f"Rank {rank} has {len(events)} of {most} collectives of {_label(found, events)}: "
            f"taken to lack the {end} {missing}, as {max(at_end, at_start)} of {len(events)} agree "
            "then."
        )
    return said


def _agreeing(found: Collectives, some: I64, others: I64) -> int:
    same = found.name[some] == found.name[others]
    same &= found.in_elements[some] == found.in_elements[others]
    same &= found.out_elements[some] == found.out_elements[others]
    return int(same.sum())


def _label(found: Collectives, events: I64) -> str:
    group = int(found.group[events[0]])
    if group < 0:
        return "its stream"
    return f"group {found.groups[group].name or '(no name)'}"
