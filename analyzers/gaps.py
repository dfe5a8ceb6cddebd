"""The pauses of a GPU: how long they are, which are the longest and what the host did in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..native import IntervalSets
from ..queries.ops import OpRef, ops_at
from .host_overhead import HostOverhead
from .idle_blame import Pieces, lanes_of_pieces, launching_lanes
from .thread_states import IdleClass, ThreadStates, thread_states
from .trace_data import TraceData
from .windows import Window

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

BUCKETS = (
    (0, "dispatch"),
    (1_000, "graph segment replay"),
    (5_000, "graph launch"),
    (10_000, "light Python between segments"),
    (50_000, "loop of piecewise replays"),
    (100_000, "interpreter"),
    (500_000, "heavy Python"),
    (1_000_000, "eager Python"),
    (5_000_000, "synchronisation or object creation"),
)
"""Shortest pause of each bucket in ns (the next one's is not in it), and its typical cause: a hint,
not a measurement."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Pauses of one range of lengths."""

    at_least_ns: int
    below_ns: int | None
    typical_cause: str
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class GapTable:
    """Pauses between the kernels of one device, or of one stream of it. All buckets, by length."""

    device: int
    lane: int | None
    """Stream; None: of the device, all streams together."""
    buckets: tuple[Bucket, ...]

    @property
    def count(self) -> int:
        return sum(bucket.count for bucket in self.buckets)

    @property
    def total_ns(self) -> int:
        return sum(bucket.total_ns for bucket in self.buckets)


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
    """The pauses inside a window."""

    window: Window
    devices: tuple[GapTable, ...]
    streams: tuple[GapTable, ...]
    largest: tuple[Gap, ...]
    """Longest first, the edges of the window included."""
    idle_ns: Mapping[int, int]
    """By device: pauses and both edges of the window."""


def gaps(overhead: HostOverhead, *, largest: int = 20) -> Gaps | None:
    """Measure the pauses of the devices that take part; None where there is no window."""
    if overhead.window is None:
        return None
    data, window = overhead.data, overhead.window
    devices = [device.device for device in overhead.measured.taking_part]
    chosen = np.array(devices, np.int32)
    running = data.running.take(chosen).clip(window.start_ns, window.end_ns)
    idle = running.gaps(window.start_ns, window.end_ns)
    streams, of_stream = _stream_sets(data, window, devices)
    return Gaps(
        window=window,
        devices=tuple(_table(running, index, device, None) for index, device in enumerate(devices)),
        streams=tuple(
            _table(streams, index, device, lane) for index, (lane, device) in enumerate(of_stream)
        ),
        largest=_largest(overhead, idle, devices, largest),
        idle_ns=dict(zip(devices, idle.lengths().tolist(), strict=True)),
    )


def _stream_sets(
    data: TraceData, window: Window, devices: list[int]
) -> tuple[IntervalSets, list[tuple[int, int]]]:
    """Work by stream, and the (stream, device) of each group."""
    used = np.flatnonzero(np.bincount(data.ops.lane, minlength=len(data.lanes)))
    pairs: list[tuple[int, int]] = []
    for lane in used.tolist():
        device = data.lanes[lane].device
        if device is not None and device in devices:
            pairs.append((lane, device))
    group = np.full(len(data.lanes), -1, np.int32)
    group[[lane for lane, _ in pairs]] = np.arange(len(pairs))
    sets = IntervalSets(group[data.ops.lane], data.ops.start_ns, data.ops.end_ns, len(pairs))
    return sets.clip(window.start_ns, window.end_ns), pairs


def _table(sets: IntervalSets, index: int, device: int, lane: int | None) -> GapTable:
    own = sets.take(np.array([index], np.int32))
    pauses = own.start[1:] - own.end[:-1]
    edges = np.array([edge for edge, _ in BUCKETS], np.int64)
    place = np.searchsorted(edges, pauses, side="right") - 1
    counts = np.bincount(place, minlength=len(BUCKETS)).tolist()
    buckets: list[Bucket] = []
    for position, (edge, cause) in enumerate(BUCKETS):
        below = BUCKETS[position + 1][0] if position + 1 < len(BUCKETS) else None
        total = int(pauses[place == position].sum())
        buckets.append(Bucket(edge, below, cause, counts[position], total))
    return GapTable(device, lane, tuple(buckets))


def _largest(
    overhead: HostOverhead, idle: IntervalSets, devices: list[int], limit: int
) -> tuple[Gap, ...]:
    length = idle.end - idle.start
    longest = np.argsort(-length, kind="stable")[:limit]
    pieces = Pieces(
        device=idle.group[longest],
        step=np.full(len(longest), -1, np.int32),
        start_ns=idle.start[longest],
        end_ns=idle.end[longest],
    )
    data = overhead.data
    launching = {device: launching_lanes(data, device) for device in devices}
    lane = lanes_of_pieces(pieces, devices, launching, data)
    states = thread_states(data, overhead.waiting, overhead.launches, np.unique(lane))
    causes = _causes_of(pieces, lane, idle, data, states, devices)
    neighbours = _neighbours(data, pieces, devices)
    return tuple(
        Gap(
            device=devices[int(pieces.device[row])],
            start_ns=int(pieces.start_ns[row]),
            end_ns=int(pieces.end_ns[row]),
            before=neighbours[row][0],
            after=neighbours[row][1],
            lane=int(lane[row]) if lane[row] >= 0 else None,
            causes=causes[row],
        )
        for row in range(len(longest))
    )


def _causes_of(
    pieces: Pieces,
    lane: I32,
    idle: IntervalSets,
    data: TraceData,
    states: ThreadStates,
    devices: list[int],
) -> list[tuple[tuple[IdleClass, str, int], ...]]:
    """What happened in each of the gaps; copies first, then what the thread did in the rest."""
    count = len(pieces.device)
    each = IntervalSets(np.arange(count, dtype=np.int32), pieces.start_ns, pieces.end_ns, count)
    numbers = np.array(devices, np.int32)[pieces.device]
    copied = np.zeros(count, np.int64)
    rest_key: list[I32] = []
    rest_start: list[I64] = []
    rest_end: list[I64] = []
    for row in range(count):
        own = each.take(np.array([row], np.int32))
        copies = data.copies.take(numbers[row : row + 1]).clip(
            int(pieces.start_ns[row]), int(pieces.end_ns[row])
        )
        copied[row] = int(copies.lengths()[0])
        rest = own - copies
        rest_key.append(np.full(rest.count, row, np.int32))
        rest_start.append(rest.start)
        rest_end.append(rest.end)
    key = np.concatenate(rest_key) if rest_key else np.zeros(0, np.int32)
    found = states.blame(
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
    data: TraceData, pieces: Pieces, devices: list[int]
) -> list[tuple[OpRef | None, OpRef | None]]:
    """The operation that ended when each gap began, and the one that began when it ended."""
    found: list[tuple[OpRef | None, OpRef | None]] = [(None, None)] * len(pieces.device)
    for index, device in enumerate(devices):
        rows = np.flatnonzero(pieces.device == index).tolist()
        begins = [int(pieces.start_ns[row]) for row in rows]
        finishes = [int(pieces.end_ns[row]) for row in rows]
        ops = ops_at(data.trace, device, starts=finishes, ends=begins) if rows else []
        ended = {op.end_ns: op for op in ops}
        began = {op.start_ns: op for op in reversed(ops)}
        for row, begin, finish in zip(rows, begins, finishes, strict=True):
            found[row] = ended.get(begin), began.get(finish)
    return found
