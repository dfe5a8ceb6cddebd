"""Memory events, counters, instants and the profiler's overhead."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...native import intern_rows
from ..arrays import I16, I32, NULL32, NULL64
from ..model import HostKind
from ..timeline import Counters, HostEvents, MemoryEvents, Timeline
from .args import Arguments
from .owners import Owners
from .recording import Recording, Table, numbers
from .times import possible

_COMPLETE: Final = ord("X")
_ON_HOST: Final = 0


def add_memory(recording: Recording, timeline: Timeline, owners: Owners) -> int:
    """Allocations and releases of the framework's allocator. Returns how many."""
    table = recording.table("memory")
    if table is None:
        return 0
    kept = np.flatnonzero(table["bytes"] != NULL64)
    recording.left_out["memory_without_bytes"] = len(table["bytes"]) - len(kept)
    table = {name: column[kept] for name, column in table.items()}
    host = table["dev_type"] == _ON_HOST
    address = table["addr"]
    timeline.add_memory(
        MemoryEvents(
            time=table["ts_ns"],
            bytes=table["bytes"],
            device=_devices(table["dev_id"], table["dev_type"], owners),
            process=np.full(len(kept), owners.main, np.int16),
            lane=owners.threads(table["lane"]),
            address=numbers(np.where(address < 0, NULL64, address)),
            allocated=numbers(table["total_alloc"]),
            reserved=numbers(table["total_reserved"]),
            host=host,
        )
    )
    return len(kept)


def _devices(number: I32, kind: I32, owners: Owners) -> I16:
    """Device of each event, -1 for host memory and where none is told."""
    told = np.where((kind == _ON_HOST) | (number == NULL32), np.int32(-1), number)
    index, first = intern_rows([told])
    ordinals = told[first].tolist()
    ids = owners.devices.by_runtime(ordinals)
    return np.array([ids[ordinal] for ordinal in ordinals], np.int16)[index]


def add_counters(recording: Recording, timeline: Timeline) -> None:
    """Counters of the file; a counter's series are told apart by their name."""
    table = recording.table("counter")
    if table is None:
        return
    pool = timeline.pool
    index, first = intern_rows([table["name"], table["series"]])
    names: list[int] = []
    for row in first.tolist():
        name, series = (
            pool[int(table[column][row])] if table[column][row] >= 0 else ""
            for column in ("name", "series")
        )
        names.append(pool.intern(f"{name} · {series}" if series and series != name else name))
    timeline.add_counters(
        Counters(
            np.full(len(index), -1, np.int16),
            np.array(names, np.int32)[index],
            table["ts_ns"],
            table["value"],
        )
    )


def add_loose(
    recording: Recording, timeline: Timeline, owners: Owners, arguments: Arguments
) -> int:
    """Instants and the profiler's overhead. Returns how many had to be cut."""
    impossible = 0
    other = recording.table("other")
    if other is not None:
        instant = other["ph"] != _COMPLETE
        if instant.any():
            marks = {name: column[instant] for name, column in other.items()}
            marks["dur_ns"] = np.zeros(len(marks["ts_ns"]), np.int64)
            impossible += add_loose_events(marks, HostKind.MARK, timeline, owners, arguments)
    overhead = recording.table("overhead")
    if overhead is not None:
        impossible += add_loose_events(overhead, HostKind.OVERHEAD, timeline, owners, arguments)
    return impossible


def add_loose_events(
    table: Table, kind: HostKind, timeline: Timeline, owners: Owners, arguments: Arguments
) -> int:
    """Events of threads outside the call tree. Returns how many had to be cut."""
    dur, impossible = possible(table["dur_ns"])
    timeline.add_loose(
        HostEvents(
            kind=np.full(len(dur), kind, np.uint8),
            lane=owners.threads(table["lane"]),
            start=table["ts_ns"],
            end=table["ts_ns"] + dur,
            name=table["name"],
            args=arguments.rows(table),
        )
    )
    return impossible
