"""The processes of a trace, one of which can be looked at alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .lanes import lanes, process_devices, processes

if TYPE_CHECKING:
    from .paths import CallTree
    from .trace import Trace


@dataclass(frozen=True, slots=True)
class Rank:
    """A process of a distributed program, or of any trace of several processes."""

    process: int
    label: str
    """`rank 0`, distinct within the trace."""
    nodes: tuple[int, int]
    """Its subtree of the call-path tree, first to last."""
    devices: tuple[int, ...]
    """On which it worked, ascending."""


def ranks(trace: Trace, tree: CallTree) -> list[Rank]:
    """The processes that did anything, by rank and id. Reads events: NotReadyError before."""
    known = processes(trace)
    devices = process_devices(lanes(trace))
    numbers = [process.rank for process in known.values()]
    found: list[Rank] = []
    for process, node in trace.event_rows("lanes.first_nodes"):
        way = tree.path(node)
        item = known[process]
        distinct = item.rank is not None and numbers.count(item.rank) == 1
        label = f"rank {item.rank}" if distinct else item.label
        if len(way) > 1:  # the root holds what belongs to no process
            top = way[1]
            nodes = (top, int(tree.last[top]))
            found.append(Rank(process, label, nodes, devices.get(process, ())))
    order = {p: (item.rank is None, item.rank or 0, p) for p, item in known.items()}
    return sorted(found, key=lambda rank: order[rank.process])
