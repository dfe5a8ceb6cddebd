"""What host threads did at each instant, in the classes that explain idle time of a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ingest.api_names import is_blocking
from ..ingest.model import HostKind
from ..native import BlameRows, IntervalSets, blame
from ..queries.capture import capture
from ..queries.timeline import (
    HostSpans,
    WaitingSpans,
    calls_between,
    code_between,
    code_count,
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
    """States of one kind. Their own labels count from 0."""

    between: Callable[[int, int], HostSpans]
    """Those that overlap a span of time, of the lanes that are asked about."""
    count: int
    texts: list[str | int]
    """By label: a text, or a string id."""
    classes: list[IdleClass]
    """By label."""


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
    span_ns: int
    """From the trace's start to the last event's end."""
    first_label: list[int]
    """Of each part: its own labels are counted on from it."""
    label_class: U8
    """Class of each label."""
    label_text: Callable[[int], str]
    """Text of a label."""

    def blame(self, lane: I32, group: I32, key: I32, start: I64, end: I64) -> Blamed:
        """What the threads did during spans of time, given as columns; see `native.blame`. The
        spans are taken in order of time, some at once with the states they can overlap."""
        if not len(start):
            return Blamed(start.astype(np.int32), start.astype(np.int32), start)
        share = (int(end.max()) - int(start.min())) / max(self.span_ns, 1)
        states = sum(part.count for part in self.parts)
        times = max(1, round(min(share, 1.0) * states / _STATES_AT_ONCE))
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
            found = part.between(first_ns, last_ns)
            label = found.label + np.int32(first_label)
            lanes.append(found.lane)
            starts.append(found.start_ns)
            ends.append(found.end_ns)
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
    data: TraceData, waiting: WaitingSpans, times: LaunchTimes, lanes: Sequence[int]
) -> ThreadStates:
    """The states of some lanes."""
    wanted = np.zeros(len(data.lanes), np.bool_)
    wanted[list(lanes)] = True
    parts = [
        _blocked(data, waiting, times, wanted),
        _calls(data, lanes),
        _system(waiting, wanted),
        _off_cpu(data, wanted),
        _code(data, lanes),
        _gil(waiting, wanted),
    ]
    texts: list[str | int] = []
    classes: list[IdleClass] = []
    first_label: list[int] = []
    for part in parts:
        first_label.append(len(texts))
        texts += part.texts
        classes += part.classes

    def text(label: int) -> str:
        found = texts[label]
        return found if isinstance(found, str) else texts_of(data.trace, [found])[found]

    span_ns = capture(data.trace).span_ns or 0
    return ThreadStates(parts, span_ns, first_label, np.array(classes, np.uint8), text)


def _held(
    spans: HostSpans,
    wanted: NDArray[np.bool_],
    idle_class: IdleClass,
    texts: Sequence[str | int],
) -> _Part:
    """Few states, that are kept as columns."""
    own = np.flatnonzero(wanted[spans.lane])
    kept = _chosen(spans, own)

    def between(first_ns: int, last_ns: int) -> HostSpans:
        overlap = (kept.start_ns < last_ns) & (kept.end_ns > first_ns)
        return _chosen(kept, np.flatnonzero(overlap))

    return _Part(between, len(own), list(texts), [idle_class] * len(texts))


def _chosen(spans: HostSpans, rows: NDArray[np.intp]) -> HostSpans:
    return HostSpans(spans.lane[rows], spans.start_ns[rows], spans.end_ns[rows], spans.label[rows])


def _unlabelled(lane: I32, start_ns: I64, end_ns: I64) -> HostSpans:
    return HostSpans(lane, start_ns, end_ns, np.zeros(len(lane), np.int32))


def _blocked(
    data: TraceData, waiting: WaitingSpans, times: LaunchTimes, wanted: NDArray[np.bool_]
) -> _Part:
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
    spans = _unlabelled(lane, start, end)
    return _held(spans, wanted, IdleClass.BLOCKED_LAUNCH, [_QUEUE_TEXT])


def _calls(data: TraceData, lanes: Sequence[int]) -> _Part:
    base = data.base_names()
    texts = sorted(set(base.values()))
    index = {text: position for position, text in enumerate(texts)}
    label_of = np.zeros(max(base, default=-1) + 1, np.int32)
    for name, text in base.items():
        label_of[name] = index[text]

    def between(first_ns: int, last_ns: int) -> HostSpans:
        found = calls_between(data.trace, lanes, first_ns, last_ns)
        return replace(found, label=label_of[found.label])

    classes = [
        IdleClass.BLOCKING_CALL if is_blocking(text) else IdleClass.API_CALL for text in texts
    ]
    return _Part(between, len(data.calls), [*texts], classes)


def _system(waiting: WaitingSpans, wanted: NDArray[np.bool_]) -> _Part:
    rows = np.flatnonzero(waiting.kind == HostKind.OS)
    names, label = np.unique(waiting.label[rows], return_inverse=True)
    spans = replace(_chosen(waiting, rows), label=label.astype(np.int32))
    return _held(spans, wanted, IdleClass.SYSTEM_WAIT, names.tolist())


def _gil(waiting: WaitingSpans, wanted: NDArray[np.bool_]) -> _Part:
    rows = np.flatnonzero(waiting.kind == HostKind.RANGE)
    spans = _unlabelled(waiting.lane[rows], waiting.start_ns[rows], waiting.end_ns[rows])
    return _held(spans, wanted, IdleClass.GIL, [_GIL_TEXT])


def _off_cpu(data: TraceData, wanted: NDArray[np.bool_]) -> _Part:
    """Between the first and the last interval in which a thread ran, where it did not."""
    lane, start, end = scheduled_spans(data.trace)
    lanes = np.unique(lane)
    group = np.searchsorted(lanes, lane).astype(np.int32)
    ran = IntervalSets(group, start, end, len(lanes))
    same = ran.group[1:] == ran.group[:-1]
    spans = _unlabelled(lanes[ran.group[:-1][same]], ran.end[:-1][same], ran.start[1:][same])
    return _held(spans, wanted, IdleClass.OFF_CPU, [_OFF_CPU_TEXT])


def _code(data: TraceData, lanes: Sequence[int]) -> _Part:
    """Ranges, operators and Python functions, by the normalised name of their path."""
    _, name_of_node = node_names(data.trace)
    names, place = np.unique(name_of_node, return_inverse=True)
    label_of_node: I32 = place.astype(np.int32)

    def between(first_ns: int, last_ns: int) -> HostSpans:
        found = code_between(data.trace, lanes, first_ns, last_ns)
        return replace(found, label=label_of_node[found.label])

    classes = [IdleClass.CODE] * len(names)
    return _Part(between, code_count(data.trace), names.tolist(), classes)
