"""What host threads did at each instant, in the classes that explain idle time of a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..ingest.api_names import is_blocking
from ..ingest.model import HostKind
from ..native import IntervalSets
from ..queries.capture import capture
from ..queries.timeline import (
    HostSpans,
    Run,
    WaitingSpans,
    call_runs,
    call_spans,
    code_runs,
    code_spans,
    node_names,
    scheduled_spans,
    texts_of,
)
from .launches import BACK_PRESSURE, LaunchTimes
from .state_spans import StatesAhead, StateSource, chosen, held, read_ahead
from .trace_data import TraceData

if TYPE_CHECKING:
    from ..queries.trace import Trace

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
Flags = NDArray[np.bool_]


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


@dataclass(frozen=True, slots=True)
class _Part:
    """States of one class of event. Their own labels count from 0."""

    of_lanes: Callable[[Flags], list[StateSource]]
    """Those of some threads, told by a flag for each lane."""
    texts: list[str | int]
    """By label: a text, or a string id."""
    classes: list[IdleClass]
    """By label."""


@dataclass(frozen=True, slots=True, eq=False)
class ThreadStates:
    """States of threads, ranked by class; see `native.blame`."""

    parts: list[_Part]
    span_ns: int
    """From the trace's start to the last event's end."""
    lanes: int
    """Of the trace."""
    first_label: list[int]
    """Of each part: its own labels are counted on from it."""
    label_class: U8
    """Class of each label."""
    label_text: Callable[[int], str]
    """Text of a label."""

    def ahead(self, lanes: Sequence[int]) -> StatesAhead:
        """The states of some threads, to be asked about in order of time."""
        wanted = np.zeros(self.lanes, np.bool_)
        wanted[list(lanes)] = True
        return StatesAhead(
            [
                (first_label, source)
                for part, first_label in zip(self.parts, self.first_label, strict=True)
                for source in part.of_lanes(wanted)
            ],
            self.span_ns,
            self.label_class,
        )


def thread_states(data: TraceData, waiting: WaitingSpans, times: LaunchTimes) -> ThreadStates:
    """The states of all threads."""
    parts = [
        _blocked(data, waiting, times),
        _calls(data),
        _system(waiting),
        _off_cpu(data),
        _code(data),
        _gil(waiting),
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

    return ThreadStates(
        parts,
        capture(data.trace).span_ns or 0,
        len(data.lanes),
        first_label,
        np.array(classes, np.uint8),
        text,
    )


def _few(spans: HostSpans, idle_class: IdleClass, texts: Sequence[str | int]) -> _Part:
    return _Part(
        lambda wanted: [held(chosen(spans, wanted[spans.lane]))],
        list(texts),
        [idle_class] * len(texts),
    )


def _many(
    data: TraceData,
    runs: Sequence[Run],
    read: Callable[[Trace, Run, int], Iterator[HostSpans]],
    label_of: I32,
    texts: Sequence[str | int],
    classes: Sequence[IdleClass],
) -> _Part:
    """States that are read when they are asked about. label_of: own label by that of the spans."""

    def source(run: Run) -> StateSource:
        def pieces(first_ns: int) -> Iterator[HostSpans]:
            for spans in read(data.trace, run, first_ns):
                yield replace(spans, label=label_of[spans.label])

        return read_ahead(len(run), pieces)

    return _Part(
        lambda wanted: [source(run) for run in runs if wanted[run.lane]],
        list(texts),
        list(classes),
    )


def _unlabelled(lane: I32, start_ns: I64, end_ns: I64) -> HostSpans:
    return HostSpans(lane, start_ns, end_ns, np.zeros(len(lane), np.int32))


def _blocked(data: TraceData, waiting: WaitingSpans, times: LaunchTimes) -> _Part:
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
    return _few(_unlabelled(lane, start, end), IdleClass.BLOCKED_LAUNCH, [_QUEUE_TEXT])


def _calls(data: TraceData) -> _Part:
    base = data.base_names()
    texts = sorted(set(base.values()))
    index = {text: position for position, text in enumerate(texts)}
    label_of = np.zeros(max(base, default=-1) + 1, np.int32)
    for name, text in base.items():
        label_of[name] = index[text]
    classes = [
        IdleClass.BLOCKING_CALL if is_blocking(text) else IdleClass.API_CALL for text in texts
    ]
    return _many(data, call_runs(data.trace), call_spans, label_of, texts, classes)


def _system(waiting: WaitingSpans) -> _Part:
    rows = np.flatnonzero(waiting.kind == HostKind.OS)
    names, label = np.unique(waiting.label[rows], return_inverse=True)
    spans = replace(chosen(waiting, rows), label=label.astype(np.int32))
    return _few(spans, IdleClass.SYSTEM_WAIT, names.tolist())


def _gil(waiting: WaitingSpans) -> _Part:
    rows = np.flatnonzero(waiting.kind == HostKind.RANGE)
    spans = _unlabelled(waiting.lane[rows], waiting.start_ns[rows], waiting.end_ns[rows])
    return _few(spans, IdleClass.GIL, [_GIL_TEXT])


def _off_cpu(data: TraceData) -> _Part:
    """Between the first and the last interval in which a thread ran, where it did not."""
    lane, start, end = scheduled_spans(data.trace)
    lanes = np.unique(lane)
    group = np.searchsorted(lanes, lane).astype(np.int32)
    ran = IntervalSets(group, start, end, len(lanes))
    same = ran.group[1:] == ran.group[:-1]
    spans = _unlabelled(lanes[ran.group[:-1][same]], ran.end[:-1][same], ran.start[1:][same])
    return _few(spans, IdleClass.OFF_CPU, [_OFF_CPU_TEXT])


def _code(data: TraceData) -> _Part:
    """Ranges, operators and Python functions, by the normalised name of their path."""
    _, name_of_node = node_names(data.trace)
    names, place = np.unique(name_of_node, return_inverse=True)
    classes = [IdleClass.CODE] * len(names)
    return _many(
        data, code_runs(data.trace), code_spans, place.astype(np.int32), names.tolist(), classes
    )
