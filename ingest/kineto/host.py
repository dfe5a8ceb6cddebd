"""Host events of one recording: Python, annotations, operators, calls, in one set of columns."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..arrays import I32, NULL64
from ..model import HostKind, Layer
from ..timeline import HostEvents, Timeline
from .args import Arguments
from .host_parts import HostParts, HostRows, Part
from .owners import Owners
from .recording import Recording
from .times import possible

_FOR_LINKS: Final = {
    "op": ("ext_id",),
    "launch": ("corr", "ext_id", "ts_ns", "name", "bytes"),
}
_NULLS: Final[dict[str, tuple[int, Any]]] = {
    "correlation": (NULL64, np.int64),
    "sequence": (NULL64, np.int64),
    "args": (-1, np.int32),
    "collective": (-1, np.int32),
    "preferred": (-1, np.int32),
    "forward": (-1, np.int32),
    "chain": (-1, np.int32),
    "open": (0, np.bool_),
}


def add_host(
    recording: Recording,
    timeline: Timeline,
    owners: Owners,
    arguments: Arguments,
    collectives: I32 | None,
) -> HostRows:
    """Enter the nesting host events of a recording."""
    rows = HostRows()
    parts: list[Part] = []
    builder = HostParts(recording, timeline, owners, arguments, collectives, rows)
    for make in (builder.python, builder.ops, builder.launches, builder.others, builder.pairs):
        part = make(sum(len(p.lane) for p in parts))
        if part is not None:
            parts.append(part)
    if not parts:
        return rows
    rows.count = sum(len(part.lane) for part in parts)
    _count(parts, rows, timeline)
    columns = _joined(parts)
    start = np.concatenate([part.start for part in parts])
    dur, rows.impossible = possible(np.concatenate([part.dur for part in parts]))
    events = HostEvents(
        kind=np.concatenate([part.kind for part in parts]),
        lane=np.concatenate([part.lane for part in parts]),
        start=start,
        end=start + dur,
        name=np.concatenate([part.name for part in parts]),
        frame=np.concatenate([part.frame for part in parts]),
        **columns,
    )
    rows.first = timeline.add_host(events)
    if rows.first:
        for column in (events.forward, events.preferred):
            if column is not None:
                column[column >= 0] += rows.first
    _keep_for_links(recording)
    rows.op = slice(rows.op.start + rows.first, rows.op.stop + rows.first)
    rows.launch = slice(rows.launch.start + rows.first, rows.launch.stop + rows.first)
    return rows


def _count(parts: list[Part], rows: HostRows, timeline: Timeline) -> None:
    for part in parts:
        for kind, count in enumerate(np.bincount(part.kind).tolist()):
            if count:
                rows.kinds[HostKind(kind)] = rows.kinds.get(HostKind(kind), 0) + count
    layers = timeline.tree.frame_columns()["layer"]
    rows.modules = bool((layers == Layer.MODULE).any())


def _keep_for_links(recording: Recording) -> None:
    """Let go of what only the host events needed."""
    for table, needed in _FOR_LINKS.items():
        columns = recording.table(table)
        if columns is not None:
            recording.tables[table] = {name: columns[name] for name in needed}


def _joined(parts: list[Part]) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    for name, (null, dtype) in _NULLS.items():
        if any(name in part.columns for part in parts):
            columns[name] = np.concatenate(
                [
                    part.columns[name] if name in part.columns else np.full(len(part.lane), null)
                    for part in parts
                ]
            ).astype(dtype, copy=False)
    return columns
