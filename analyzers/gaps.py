"""The idle gaps of a GPU: how long, which are the longest, and what the host did in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..native import IntervalSets
from ..queries.ops import OpRef, ops_at
from ..queries.timeline import RUNNING_KINDS, gpu_spans
from .gap_table import GapTable, gap_table
from .host_overhead import HostOverhead
from .idle_pieces import LaneOfPieces, Pieces, launching_lanes
from .thread_states import IdleClass, ThreadStates, thread_states
from .trace_data import TraceData
from .windows import Window

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which a device ran no kernel and no graph."""

    device: int
    start_ns: int
    end_ns: int
    before: OpRef | None
    """What ended when it began; None at the start of the window."""
    after: OpRef | None
    lane: int | None
    """Thread that was asked what it did."""
    causes: tuple[tuple[IdleClass, str, int], ...]
    """Class, text and ns, most time first; they sum to the length of the gap."""

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps inside a window."""

    window: Window
    devices: tuple[GapTable, ...]
    streams: tuple[GapTable, ...]
    """Empty where they were not asked for."""
    largest: tuple[Gap, ...]
    """Longest first, the edges of the window included."""
    idle_ns: Mapping[int, int]
    """By device: gaps and both edges of the window."""


def gaps(overhead: HostOverhead, *, largest: int = 20, by_stream: bool = False) -> Gaps | None:
    """Measure the gaps of the devices that take part; None where there is no window. `by_stream`:
    also those of each stream, for which all work is read again."""
    if overhead.window is None:
        return None
    data, window = overhead.data, overhead.window
    devices = [device.device for device in overhead.measured.taking_part]
    tables: list[GapTable] = []
    idle_ns: dict[int, int] = {}
    longest = [_Longest.of(-1, np.zeros(0, np.int64), np.zeros(0, np.int64), largest)]
    for device in devices:
        own = data.running.take(np.array([device], np.int32))
        own = own.clip(window.start_ns, window.end_ns)
        tables.append(gap_table(own, device, trace=data.trace))
        own = own.gaps(window.start_ns, window.end_ns)
        idle_ns[device] = int(own.lengths()[0])
        longest.append(_Longest.of(device, own.start, own.end, largest))
    return Gaps(
        window=window,
        devices=tuple(tables),
        streams=_stream_tables(data, window, devices) if by_stream else (),
        largest=_largest(overhead, devices, _Longest.joined(longest, largest)),
        idle_ns=idle_ns,
    )


def _stream_tables(data: TraceData, window: Window, devices: list[int]) -> tuple[GapTable, ...]:
    sets, of_stream = _stream_sets(data, devices)
    tables: list[GapTable] = []
    for index, (lane, device) in enumerate(of_stream):
        own = sets.take(np.array([index], np.int32))
        tables.append(gap_table(own.clip(window.start_ns, window.end_ns), device, lane))
    return tuple(tables)


def _stream_sets(data: TraceData, devices: list[int]) -> tuple[IntervalSets, list[tuple[int, int]]]:
    """Work by stream, and the (stream, device) of each group."""
    spans = gpu_spans(data.trace, RUNNING_KINDS, by="streams")
    used = np.flatnonzero(np.bincount(spans.place, minlength=len(data.lanes)))
    pairs: list[tuple[int, int]] = []
    for lane in used.tolist():
        device = data.lanes[lane].device
        if device is not None and device in devices:
            pairs.append((lane, device))
    group = np.full(len(data.lanes), -1, np.int32)
    group[[lane for lane, _ in pairs]] = np.arange(len(pairs))
    return IntervalSets(group[spans.place], spans.start_ns, spans.end_ns, len(pairs)), pairs


@dataclass(frozen=True, slots=True)
class _Longest:
    """Idle intervals, longest first. Columns of one length."""

    device: I32
    start_ns: I64
    end_ns: I64

    @staticmethod
    def of(device: int, start_ns: I64, end_ns: I64, limit: int) -> _Longest:
        """The longest of a device; of equal ones the first."""
        rows = _longest_rows(start_ns, end_ns, limit)
        return _Longest(np.full(len(rows), device, np.int32), start_ns[rows], end_ns[rows])

    @staticmethod
    def joined(parts: list[_Longest], limit: int) -> _Longest:
        """The longest of several devices; of equal ones those of the first device."""
        device = np.concatenate([part.device for part in parts])
        start = np.concatenate([part.start_ns for part in parts])
        end = np.concatenate([part.end_ns for part in parts])
        rows = _longest_rows(start, end, limit)
        return _Longest(device[rows], start[rows], end[rows])


def _longest_rows(start: I64, end: I64, limit: int) -> NDArray[np.intp]:
    length = end - start
    rows = np.arange(len(length))
    if len(length) > limit:
        rows = np.flatnonzero(length >= np.partition(length, -limit)[-limit])
    return rows[np.argsort(-length[rows], kind="stable")[:limit]]


def _largest(overhead: HostOverhead, devices: list[int], longest: _Longest) -> tuple[Gap, ...]:
    data = overhead.data
    launching = launching_lanes(data, overhead.launches, devices)
    lane = np.full(len(longest.device), -1, np.int32)
    for device in devices:
        own = np.flatnonzero(longest.device == device)
        pieces = Pieces(np.full(len(own), -1, np.int32), longest.start_ns[own], longest.end_ns[own])
        lane[own] = LaneOfPieces.of(data, device, launching[device]).lanes(pieces)
    asked = sorted(set(lane[lane >= 0].tolist()))
    states = thread_states(data, overhead.waiting, overhead.launches)
    causes = _causes_of(longest, lane, data, states, asked)
    neighbours = _neighbours(data, longest, devices)
    return tuple(
        Gap(
            device=int(longest.device[row]),
            start_ns=int(longest.start_ns[row]),
            end_ns=int(longest.end_ns[row]),
            before=neighbours[row][0],
            after=neighbours[row][1],
            lane=int(lane[row]) if lane[row] >= 0 else None,
            causes=causes[row],
        )
        for row in range(len(longest.device))
    )


def _causes_of(
    pieces: _Longest, lane: I32, data: TraceData, states: ThreadStates, asked: list[int]
) -> list[tuple[tuple[IdleClass, str, int], ...]]:
    """What happened in each of the gaps; copies first, then what the thread did in the rest."""
    count = len(pieces.device)
    each = IntervalSets(np.arange(count, dtype=np.int32), pieces.start_ns, pieces.end_ns, count)
    copied = np.zeros(count, np.int64)
    rest_key: list[I32] = []
    rest_start: list[I64] = []
    rest_end: list[I64] = []
    for row in range(count):
        own = each.take(np.array([row], np.int32))
        copies = data.copies.take(pieces.device[row : row + 1]).clip(
            int(pieces.start_ns[row]), int(pieces.end_ns[row])
        )
        copied[row] = int(copies.lengths()[0])
        rest = own - copies
        rest_key.append(np.full(rest.count, row, np.int32))
        rest_start.append(rest.start)
        rest_end.append(rest.end)
    key = np.concatenate(rest_key) if rest_key else np.zeros(0, np.int32)
    found = states.ahead(asked).blame(
        lane[key],
        pieces.device[key],
        key,
        np.concatenate(rest_start) if rest_start else np.zeros(0, np.int64),
        np.concatenate(rest_end) if rest_end else np.zeros(0, np.int64),
    )
    causes: list[dict[tuple[IdleClass, str], int]] = [{} for _ in range(count)]
    keys: list[int] = found.key.tolist()
    labels: list[int] = found.label.tolist()
    for row, ns in enumerate(copied.tolist()):
        if ns:
            causes[row][IdleClass.COPY, ""] = ns
    for row, label, ns in zip(keys, labels, found.ns.tolist(), strict=True):
        name = (IdleClass.UNATTRIBUTED, "")
        if label >= 0:
            name = IdleClass(int(states.label_class[label])), states.label_text(label)
        causes[row][name] = causes[row].get(name, 0) + ns
    return [
        tuple(
            (kind, text, ns)
            for (kind, text), ns in sorted(own.items(), key=lambda item: (-item[1], item[0]))
        )
        for own in causes
    ]


def _neighbours(
    data: TraceData, pieces: _Longest, devices: list[int]
) -> list[tuple[OpRef | None, OpRef | None]]:
    """The operation that ended when each gap began, and the one that began when it ended."""
    found: list[tuple[OpRef | None, OpRef | None]] = [(None, None)] * len(pieces.device)
    for device in devices:
        rows = np.flatnonzero(pieces.device == device).tolist()
        begins = [int(pieces.start_ns[row]) for row in rows]
        finishes = [int(pieces.end_ns[row]) for row in rows]
        ops = ops_at(data.trace, device, starts=finishes, ends=begins) if rows else []
        ended = {op.end_ns: op for op in ops}
        began = {op.start_ns: op for op in reversed(ops)}
        for row, begin, finish in zip(rows, begins, finishes, strict=True):
            found[row] = ended.get(begin), began.get(finish)
    return found
