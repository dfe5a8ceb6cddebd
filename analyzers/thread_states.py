"""What host threads did at each instant, in the classes that explain idle time of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..ingest.api_names import is_blocking
from ..ingest.model import HostKind
from ..native import IntervalSets
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


@dataclass(frozen=True, slots=True, eq=False)
class ThreadStates:
    """States of threads, one row each, ranked by class; see `native.blame`."""

    lane: I32
    start_ns: I64
    end_ns: I64
    rank: U8
    label: I32
    label_class: U8
    """Class of each label."""
    label_text: Callable[[int], str]
    """Text of a label."""


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
    return _joined(data, [_of_lanes(part, wanted) for part in parts])


def _of_lanes(part: _Part, wanted: NDArray[np.bool_]) -> _Part:
    here = wanted[part.lane]
    if bool(here.all()):
        return part
    part.lane, part.start_ns, part.end_ns = part.lane[here], part.start_ns[here], part.end_ns[here]
    part.label = part.label[here]
    return part


def _joined(data: TraceData, parts: list[_Part]) -> ThreadStates:
    texts: list[str | int] = []
    classes: list[IdleClass] = []
    labels: list[I32] = []
    ranks: list[U8] = []
    for part in parts:
        labels.append(part.label + np.int32(len(texts)))
        texts += part.texts
        own = part.classes or [part.idle_class] * len(part.texts)
        classes += own
        rank_of = np.array([*own, part.idle_class], np.uint8)
        ranks.append(rank_of[part.label])

    def text(label: int) -> str:
        found = texts[label]
        return found if isinstance(found, str) else texts_of(data.trace, [found])[found]

    return ThreadStates(
        lane=np.concatenate([part.lane for part in parts]),
        start_ns=np.concatenate([part.start_ns for part in parts]),
        end_ns=np.concatenate([part.end_ns for part in parts]),
        rank=np.concatenate(ranks),
        label=np.concatenate(labels),
        label_class=np.array(classes, np.uint8),
        label_text=text,
    )


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
