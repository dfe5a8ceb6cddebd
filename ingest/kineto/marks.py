"""Begin and end marks, asynchronous events, instants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import intern_rows, pair_marks, sort_order
from ..arrays import I32, I64, U8, Mask
from ..model import HostKind
from ..timeline import HostEvents, Timeline
from .owners import Owners
from .recording import Recording, Table

_BEGIN, _END = ord("B"), ord("E")
_ASYNC_BEGINS: Final = np.frombuffer(b"bS", np.uint8)
_ASYNC_ENDS: Final = np.frombuffer(b"eF", np.uint8)
_NO_NAME: Final = "(no name)"
_WITHOUT_NAME: Final = 4
"""Flag of the scanner."""


@dataclass(slots=True)
class Pairs:
    """Spans between marks: `rows` of the begin marks in the table, and their ends."""

    rows: I64
    end: I64
    is_open: Mask
    open: int
    unmatched: int


def paired_spans(table: Table) -> Pairs:
    """Spans of threads from B and E marks. An end closes the latest open begin of its name; one
    that is never closed lasts until the last time of its thread."""
    rows = np.flatnonzero((table["ph"] == _BEGIN) | (table["ph"] == _END))
    begins = (table["ph"][rows] == _BEGIN).astype(np.uint8)
    return _paired(table, rows, table["lane"][rows], begins)


def _paired(table: Table, rows: I64, group: I32, begins: U8) -> Pairs:
    time, name = table["ts_ns"][rows], table["name"][rows]
    nameless = (table["flags"][rows] & _WITHOUT_NAME) != 0
    name = np.where(nameless & (begins == 0), np.int32(-1), name)
    order = sort_order([group, time])  # stable: rows are in file order
    partner = np.full(len(rows), -1, np.int64)
    found = pair_marks(group[order], begins[order], name[order])
    hit = found >= 0
    partner[order[hit]] = order[found[hit]]
    is_begin = begins != 0
    unmatched = int(np.count_nonzero(~is_begin & (partner < 0)))
    starts = np.flatnonzero(is_begin)
    is_open = partner[starts] < 0
    last = np.zeros(int(group.max()) + 1 if len(group) else 0, np.int64)
    if len(group):
        last[:] = np.iinfo(np.int64).min
        np.maximum.at(last, group, time)
    end = np.where(is_open, last[group[starts]], time[partner[starts]])
    return Pairs(rows[starts], end, is_open, int(np.count_nonzero(is_open)), unmatched)


def add_asynchronous(recording: Recording, timeline: Timeline, owners: Owners) -> None:
    """Asynchronous events (b e n): outside the call tree, in a lane of their own."""
    table = recording.table("mark")
    if table is None:
        return
    rows = np.flatnonzero((table["ph"] != _BEGIN) & (table["ph"] != _END))
    if not len(rows):
        return
    phase = table["ph"][rows]
    instants = rows[~np.isin(phase, _ASYNC_BEGINS) & ~np.isin(phase, _ASYNC_ENDS)]
    spans = rows[np.isin(phase, _ASYNC_BEGINS) | np.isin(phase, _ASYNC_ENDS)]
    if len(spans):
        lanes = owners.async_lanes(table["lane"][spans])
        keys = [lanes, table["cat"][spans], table["id"][spans], table["scope"][spans]]
        group, _ = intern_rows(keys)
        begins = np.isin(table["ph"][spans], _ASYNC_BEGINS).astype(np.uint8)
        pairs = _paired(table, spans, group, begins)
        recording.left_out["unmatched_end"] = (
            recording.left_out.get("unmatched_end", 0) + pairs.unmatched
        )
        _add_loose(table, timeline, owners, pairs.rows, HostKind.RANGE, pairs.end, pairs.is_open)
    if len(instants):
        at = table["ts_ns"][instants]
        _add_loose(table, timeline, owners, instants, HostKind.MARK, at, None)


def _add_loose(
    table: Table,
    timeline: Timeline,
    owners: Owners,
    rows: I64,
    kind: HostKind,
    end: I64,
    is_open: Mask | None,
) -> None:
    if not len(rows):
        return
    timeline.add_loose(
        HostEvents(
            kind=np.full(len(rows), kind, np.uint8),
            lane=owners.async_lanes(table["lane"][rows]),
            start=table["ts_ns"][rows],
            end=end,
            name=table["name"][rows],
            open=is_open,
        )
    )
