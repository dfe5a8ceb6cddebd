"""Threads: Python frames, annotations, XLA's own scopes, thunks of the CPU backend, API calls."""

import re
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...native import intern_rows
from ..arrays import I32, I64, NULL64, U8, Mask
from ..model import HostKind, LaneKind, Layer
from ..owners import Lane
from ..timeline import HostEvents, Timeline
from .paths import Chains, Paths, around
from .recording import DEVICE_PREFIX, Recording

_PYTHON: Final = re.compile(r"\$(.+?)(?::(\d{1,9}))? (\S.*)")
"""What the Python tracer writes: `$train.py:12 step`, `$builtins len`."""
_DRIVER: Final = re.compile(r"cu[A-Z]")
_POOL: Final = re.compile(r"(.+)/-?\d+")
"""A thread of a pool: the pool's name and a number that means nothing."""
_OS_THREAD: Final = re.compile(r"Host Threads/(\d{1,18})")
_TWIN: Final = "end: "
"""XLA marks the end of each thunk with an event of its own."""
_MEMORY: Final = frozenset({"MemoryAllocation", "MemoryDeallocation"})


@dataclass(slots=True)
class HostRows:
    """What became of the events of the threads."""

    row: I32
    """Row in the timeline of each event of the recording, -1: not a nested host event."""
    lane: I32
    """Lane of each line of the recording, -1: not a thread."""
    memory: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    """Events that are allocations and releases."""
    twins: int = 0
    """Ends of thunks, left out."""
    python: int = 0
    thunks: int = 0
    sourced: int = 0
    """Of the thunks, with a Python source line."""
    calls: int = 0
    steps: int = 0


@dataclass(slots=True)
class _Names:
    """What the texts of events tell; indexed by a dense number of the text."""

    number: I32
    python: Mask
    twin: Mask
    memory: Mask
    driver: Mask
    frame: I32
    """Of Python functions; -1 for others."""


def add_host(
    line: Timeline, recording: Recording, paths: Paths, chains: Chains, process: int
) -> HostRows:
    """Add the threads and their events to the timeline."""
    planes = recording.planes
    lines = [
        row
        for plane, name in enumerate(planes)
        if not name.startswith(DEVICE_PREFIX)
        for row in recording.used_lines(plane)
    ]
    lane_of = np.full(len(recording.line_plane), -1, np.int32)
    for row in lines:
        lane_of[row] = line.add_lane(_lane(recording, row, process))
    out = HostRows(np.full(len(recording), -1, np.int32), lane_of)
    events = recording.events_of(lines)
    if not len(events):
        return out
    names = _names(line, recording.name[events])
    memory, twin = names.memory[names.number], names.twin[names.number]
    out.memory = events[memory]
    out.twins = int(twin.sum())
    correlation = recording.number("correlation_id")[events]
    call = (correlation != NULL64) & (correlation != 0)
    kept = ~(memory | twin)
    mark = kept & recording.instant[events] & ~call & (paths.operation[events] < 0)
    _add_marks(line, recording, events[mark], lane_of)
    _add_nested(line, recording, paths, chains, events, kept & ~mark, call, names, out)
    return out


def _add_nested(
    line: Timeline,
    recording: Recording,
    paths: Paths,
    chains: Chains,
    events: I64,
    kept: Mask,
    call: Mask,
    names: _Names,
    out: HostRows,
) -> None:
    rows, call, number = events[kept], call[kept], names.number[kept]
    operation = paths.operation[rows]
    thunk = (operation >= 0) & ~call
    python = names.python[number] & ~call & ~thunk
    kind = np.full(len(rows), HostKind.ANNOTATION, np.uint8)
    kind[python] = HostKind.PYTHON
    kind[thunk] = HostKind.OP
    kind[call] = HostKind.RUNTIME
    kind[call & names.driver[number]] = HostKind.DRIVER
    step = recording.number("step_num")[rows]
    name = _step_names(line, recording.name[rows], step, kind == HostKind.ANNOTATION)
    lane = out.lane[recording.line[rows]]
    start, end = recording.start[rows], recording.end[rows]
    outer = around(lane, start, end, operation >= 0)
    correlation = recording.number("correlation_id")[rows]
    first = line.add_host(
        HostEvents(
            kind=kind,
            lane=lane,
            start=start,
            end=end,
            name=name,
            frame=_frames(line, kind, name, names.frame[number], paths, operation),
            correlation=np.where(call, correlation, NULL64),
            args=_args(line, recording.rest[rows], paths, np.where(thunk, operation, -1)),
            chain=_chains(chains, paths, operation, outer, thunk),
        )
    )
    out.row[rows] = np.arange(first, first + len(rows), dtype=np.int32)
    out.python = int(python.sum())
    out.thunks = int(thunk.sum())
    sourced = np.array([item.sourced for item in paths.operations] + [False])
    out.sourced = int(sourced[operation[thunk]].sum())
    out.calls = int(call.sum())
    out.steps = int(((step != NULL64) & (kind == HostKind.ANNOTATION)).sum())


def _lane(recording: Recording, row: int, process: int) -> Lane:
    name = recording.line_name[row]
    if found := _OS_THREAD.fullmatch(name):
        return Lane(LaneKind.THREAD, process, f"thread {found[1]}", tid=int(found[1]))
    # The threads of a pool share a node of the tree: which of them ran a piece says nothing.
    found = _POOL.fullmatch(name)
    return Lane(LaneKind.THREAD, process, found[1] if found else name)


def _names(line: Timeline, texts: I32) -> _Names:
    number, first = intern_rows([texts])
    distinct = [line.pool[text] for text in texts[first].tolist()]
    frame = np.full(len(distinct), -1, np.int32)
    for i, text in enumerate(distinct):
        if found := _PYTHON.fullmatch(text):
            where, at, function = found.groups()
            frame[i] = line.tree.frame(
                Layer.PYTHON, line.pool.intern(function), line.pool.intern(where), int(at or -1)
            )
    return _Names(
        number=number,
        python=frame >= 0,
        twin=np.array([text.startswith(_TWIN) for text in distinct]),
        memory=np.array([text in _MEMORY for text in distinct]),
        driver=np.array([_DRIVER.match(text) is not None for text in distinct]),
        frame=frame,
    )


def _step_names(line: Timeline, name: I32, step: I64, annotation: Mask) -> I32:
    """Steps are called `train step 12`: their number is recorded apart from the name."""
    rows = np.flatnonzero(annotation & (step != NULL64))
    if not len(rows):
        return name
    number, first = intern_rows([name[rows], step[rows]])
    pairs = zip(name[rows[first]].tolist(), step[rows[first]].tolist(), strict=True)
    texts: list[int] = []
    for text, count in pairs:
        called = line.pool[text]
        word = "" if called.lower().endswith("step") else " step"
        texts.append(line.pool.intern(f"{called}{word} {count}"))
    out = name.copy()
    out[rows] = np.array(texts, np.int32)[number]
    return out


def _frames(line: Timeline, kind: U8, name: I32, python: I32, paths: Paths, operation: I32) -> I32:
    own = np.array([item.frame for item in paths.operations] + [-1], np.int32)
    frame = np.where(kind == HostKind.OP, own[operation], python).astype(np.int32)
    for layer, part in (
        (Layer.ANNOTATION, kind == HostKind.ANNOTATION),
        (Layer.API, (kind == HostKind.RUNTIME) | (kind == HostKind.DRIVER)),
    ):
        if part.any():
            frame[part] = line.frames(layer, np.ascontiguousarray(name[part]))
    return frame


def _chains(chains: Chains, paths: Paths, operation: I32, outer: I32, thunk: Mask) -> I32:
    """A thunk is its operation; an API call stands below the operation it was made for."""
    around = np.where(outer >= 0, operation[outer], -1).astype(np.int32)
    chain = np.full(len(operation), -1, np.int32)
    for part, below in ((thunk, paths.above), (~thunk & (operation >= 0), paths.full)):
        chain[part] = chains.of_pairs(around[part], operation[part], paths.full, below)
    return chain


def _args(line: Timeline, rest: I32, paths: Paths, operation: I32) -> I32:
    told = np.array([item.args for item in paths.operations] + [-1], np.int32)
    text = np.where(operation >= 0, told[operation], rest).astype(np.int32)
    return add_args(line, text)


def add_args(line: Timeline, text: I32) -> I32:
    """Rows of op_args for JSON texts of the pool, -1 where there is none."""
    known = np.flatnonzero(text >= 0)
    args = np.full(len(text), -1, np.int32)
    if len(known):
        number, first = intern_rows([text[known]])
        start = line.add_args({"other": text[known[first]]})
        args[known] = number + start
    return args


def _add_marks(line: Timeline, recording: Recording, events: I64, lane_of: I32) -> None:
    line.add_loose(
        HostEvents(
            kind=np.full(len(events), HostKind.MARK, np.uint8),
            lane=lane_of[recording.line[events]],
            start=recording.start[events],
            end=recording.end[events],
            name=recording.name[events],
            args=add_args(line, recording.rest[events]),
        )
    )
