"""Who ran the steps: ranks, told apart by process, or devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..queries.lanes import Lane, Process, process_devices
from .distinct import distinct
from .step_columns import Found
from .step_sources import Source


@dataclass(frozen=True, slots=True)
class Rank:
    """Who ran the steps: a thread of a process, or a device where GPU work tells the steps."""

    lane: int | None
    """The thread (or the start-end ranges of the process) that carries the step ranges."""
    process: int | None
    pid: int | None
    rank: int | None
    device: int | None
    """Only where the steps are told by GPU work."""
    devices: tuple[int, ...]
    """The GPUs that its process worked on."""
    label: str


def ranked(
    source: Source, all_lanes: Sequence[Lane], known: Mapping[int, Process]
) -> tuple[tuple[Rank, ...], Found]:
    """Ranks in order of rank number, process and thread; the rows numbered and sorted by them."""
    devices_of = process_devices(list(all_lanes))
    ranks: list[tuple[int, Rank]] = []
    places: list[int] = distinct(source.found.lane).tolist()
    for place in places:
        if source.on_device:
            owners = sorted(p for p, devices in devices_of.items() if place in devices)
            process = known[owners[0]] if len(owners) == 1 and owners[0] in known else None
            label = f"GPU work of device {place}"
            ranks.append((place, _rank(None, process, place, (place,), label)))
        else:
            lane = all_lanes[place]
            process = known.get(lane.process) if lane.process is not None else None
            devices = devices_of.get(lane.process, ()) if lane.process is not None else ()
            label = process.label if process is not None else lane.name
            ranks.append((place, _rank(place, process, None, devices, label)))
    ranks.sort(
        key=lambda item: (
            item[1].rank is None, item[1].rank or 0, item[1].process or 0, item[0]
        )
    )  # fmt: skip
    index = np.zeros(max((place for place, _ in ranks), default=-1) + 1, np.int32)
    for position, (place, _) in enumerate(ranks):
        index[place] = position
    rank = index[source.found.lane]
    order = np.lexsort((source.found.end_ns, source.found.start_ns, rank))
    return tuple(rank for _, rank in ranks), source.found.taken(order, rank[order])


def _rank(
    lane: int | None,
    process: Process | None,
    device: int | None,
    devices: tuple[int, ...],
    label: str,
) -> Rank:
    if process is None:
        return Rank(lane, None, None, None, device, devices, label)
    return Rank(lane, process.process, process.pid, process.rank, device, devices, label)
