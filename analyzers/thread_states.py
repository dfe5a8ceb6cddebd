"""What host threads did at each instant, in the classes that explain idle time of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ingest.api_names import is_blocking
from ..ingest.model import HostKind
from ..native import BlameRows, IntervalSets, blame
from ..queries.timeline import (
    HostSpans,
    code_spans,
    node_names,
    scheduled_spans,
    texts_of,
)
from .launches import BACK_PRESSURE, LaunchTimes
from .trace_data import TraceData

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]


class IdleClass(IntEnum):
    """What happened while a GPU ran no kernel; of several the first counts."""

    COPY = 0
    """The GPU copied or cleared memory."""
    BLOCKED_LAUNCH = 1
    """A launch waited for room in the queue."""
    BLOCKING_CALL = 2
    """A call that waits for the GPU: synchronisation, plain copy, allocation."""
    API_CALL = 3
    SYSTEM_WAIT = 4
    """A call of the operating system: poll, futex, read, …"""
    GIL = 5
    """The thread waited for Python's lock."""
    OFF_CPU = 6
    """The thread was not scheduled."""
    CODE = 7
    """In the innermost range, operator or Python function, outside any of the above."""
    UNATTRIBUTED = 8


CLASSES = len(IdleClass)
_GIL_TEXT = "waiting for Python's lock (GIL)"
_OFF_CPU_TEXT = "not scheduled"
_QUEUE_TEXT = "launch waiting for room in the queue"


_STATES_AT_ONCE = 250_000
"""States asked about in one go, so that memory does not grow with the trace."""


@dataclass(slots=True)
class _Part:
    idle_class: IdleClass
    lane: I32
    start_ns: I64
    end_ns: I64
    label: I32
    texts: list[str | int]
    """Of its labels, which count from 0: a text, or a string id."""
    classes: list[IdleClass] | None = None
    """Of its labels, where they differ."""


@dataclass(frozen=True, slots=True, eq=False)
class Blamed:
    """Time by key and label; a key may have several rows of one label. Label -1: no state."""

    key: I32
    label: I32
    ns: I64


@dataclass(frozen=True, slots=True, eq=False)
class ThreadStates:
    """States of threads, ranked by class; see `native.blame`."""

    parts: list[_Part]
    """States of one kind each, of all lanes."""
    wanted: NDArray[np.bool_]
    """By lane: is it asked about."""
    first_label: list[int]
    """Of each part: its own labels are counted on from it."""
    label_class: U8
    """Class of each label."""
    label_text: Callable[[int], str]
    """Text of a label."""

    def blame(self, lane: I32, group: I32, key: I32, start: I64, end: I64) -> Blamed:
        """What the threads did during spans of time, given as columns; see `native.blame`. The
        spans are taken in order of time, some at once with the states they can overlap."""
        times = max(1, sum(len(part.lane) for part in self.parts) // _STATES_AT_ONCE)
        order = np.argsort(start, kind="stable")
        found: list[BlameRows] = []
        for rows in np.array_split(order, times):
            if len(rows):
                first, last = int(start[rows[0]]), int(end[rows].max())
                found.append(
                    blame(
                        *self._between(first, last),
                        span_lane=lane[rows],
                        span_group=group[rows],
                        span_key=key[rows],
                        span_start=start[rows],
                        span_end=end[rows],
                    )
                )
        return Blamed(
            key=_joined([rows.key for rows in found], np.int32),
            label=_joined([rows.label for rows in found], np.int32),
            ns=_joined([rows.ns for rows in found], np.int64),
        )

    def _between(self, first_ns: int, last_ns: int) -> tuple[I32, I64, I64, U8, I32]:
        """Lane, start, end, rank and label of the states that overlap [first, last)."""
        lanes: list[I32] = []
        starts: list[I64] = []
        ends: list[I64] = []
        ranks: list[U8] = []
        labels: list[I32] = []
        for part, first_label in zip(self.parts, self.first_label, strict=True):
            rows = np.flatnonzero((part.start_ns < last_ns) & (part.end_ns > first_ns))
            rows = rows[self.wanted[part.lane[rows]]]
            label = part.label[rows] + np.int32(first_label)
            lanes.append(part.lane[rows])
            starts.append(part.start_ns[rows])
            ends.append(part.end_ns[rows])
            ranks.append(self.label_class[label])
            labels.append(label)
        return (
            np.concatenate(lanes),
            np.concatenate(starts),
            np.concatenate(ends),
            np.concatenate(ranks),
            np.concatenate(labels),
        )


def _joined(columns: list[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(columns) if columns else np.zeros(0, kind)


def thread_states(
    data: TraceData, waiting: HostSpans, times: LaunchTimes, lanes: NDArray[np.int32]
) -> ThreadStates:
    """The states of some lanes."""
    wanted = np.zeros(len(data.lanes), np.bool_)
    wanted[lanes[lanes >= 0]] = True
    parts = [
        _blocked(data, waiting, times),
        _calls(data),
        _spans(waiting, HostKind.OS, IdleClass.SYSTEM_WAIT),
        _off_cpu(data),
        _code(data),
    ]
    gil = np.flatnonzero(waiting.kind == HostKind.RANGE)
    parts.append(
        _Part(
            IdleClass.GIL,
            waiting.lane[gil],
            waiting.start_ns[gil],
            waiting.end_ns[gil],
            np.zeros(len(gil), np.int32),
            [_GIL_TEXT],
        )
    )
    return _labelled(data, parts, wanted)


def _labelled(data: TraceData, parts: list[_Part], wanted: NDArray[np.bool_]) -> ThreadStates:
    texts: list[str | int] = []
    classes: list[IdleClass] = []
    first_label: list[int] = []
    for part in parts:
        first_label.append(len(texts))
        texts += part.texts
        classes += part.classes or [part.idle_class] * len(part.texts)

    def text(label: int) -> str:
        found = texts[label]
        return found if isinstance(found, str) else texts_of(data.trace, [found])[found]

    return ThreadStates(parts, wanted, first_label, np.array(classes, np.uint8), text)


def _blocked(data: TraceData, waiting: HostSpans, times: LaunchTimes) -> _Part:
    """Waits for room in the queue: as recorded, else long launches under GPU work."""
    rows = np.flatnonzero(waiting.kind == HostKind.OVERHEAD)
    names = texts_of(data.trace, np.unique(waiting.label[rows]).tolist())
    full = [name for name, text in names.items() if text.lower() in BACK_PRESSURE]
    rows = rows[np.isin(waiting.label[rows], full)]
    lane, start, end = waiting.lane[rows], waiting.start_ns[rows], waiting.end_ns[rows]
    if times.blocked_by != "overhead rows":
        lanes = np.array(times.lanes, np.int32)
        lane = lanes[times.blocked.group] if len(lanes) else np.zeros(0, np.int32)
        start, end = times.blocked.start, times.blocked.end
    return _Part(
        IdleClass.BLOCKED_LAUNCH, lane, start, end, np.zeros(len(lane), np.int32), [_QUEUE_TEXT]
    )


def _calls(data: TraceData) -> _Part:
    calls = data.calls
    base = data.base_names()
    texts = sorted(set(base.values()))
    index = {text: position for position, text in enumerate(texts)}
    label_of = np.zeros(max(base, default=-1) + 1, np.int32)
    for name, text in base.items():
        label_of[name] = index[text]
    classes = [
        IdleClass.BLOCKING_CALL if is_blocking(text) else IdleClass.API_CALL for text in texts
    ]
    label = label_of[calls.name] if len(base) else np.zeros(0, np.int32)
    return _Part(
        IdleClass.API_CALL, calls.lane, calls.start_ns, calls.end_ns, label, [*texts], classes
    )


def _spans(spans: HostSpans, kind: HostKind, idle_class: IdleClass) -> _Part:
    rows = np.flatnonzero(spans.kind == kind)
    names, label = np.unique(spans.label[rows], return_inverse=True)
    return _Part(
        idle_class,
        spans.lane[rows],
        spans.start_ns[rows],
        spans.end_ns[rows],
        label.astype(np.int32),
        names.tolist(),
    )


def _off_cpu(data: TraceData) -> _Part:
    """Between the first and the last interval in which a thread ran, where it did not."""
    lane, start, end = scheduled_spans(data.trace)
    lanes = np.unique(lane)
    empty = np.zeros(0, np.int64)
    if not len(lanes):
        return _Part(IdleClass.OFF_CPU, lane, empty, empty, lane, [_OFF_CPU_TEXT])
    group = np.searchsorted(lanes, lane).astype(np.int32)
    ran = IntervalSets(group, start, end, len(lanes))
    same = ran.group[1:] == ran.group[:-1]
    off_start, off_end = ran.end[:-1][same], ran.start[1:][same]
    of_lane = lanes[ran.group[:-1][same]]
    label = np.zeros(len(of_lane), np.int32)
    return _Part(IdleClass.OFF_CPU, of_lane, off_start, off_end, label, [_OFF_CPU_TEXT])


def _code(data: TraceData) -> _Part:
    """Ranges, operators and Python functions, by the normalised name of their path."""
    spans = code_spans(data.trace)
    _, name_of_node = node_names(data.trace)
    names, label_of_node = np.unique(name_of_node, return_inverse=True)
    return _Part(
        IdleClass.CODE,
        spans.lane,
        spans.start_ns,
        spans.end_ns,
        label_of_node.astype(np.int32)[spans.label],
        names.tolist(),
    )
