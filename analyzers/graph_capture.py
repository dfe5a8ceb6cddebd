"""Kernels of graph replays under the operators that launched them as the graph was captured.

A replay is one call that starts many kernels; which operator a kernel is of was known when the
graph was captured. A trace of that has the launches in the order of the graph. So a replay of as
many pieces of work as a capture has launches gets a copy of the capture's host events below its
call, and its n-th piece of work belongs to the n-th launch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..ingest.api_names import GRAPH_LAUNCHES, KERNEL_LAUNCHES, base_name
from ..ingest.model import GpuKind, HostKind
from ..queries.report_events import Arguments, Host, Work, arguments, context_names, host
from ..queries.step_events import texts as texts_of
from .distinct import distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.trace import Trace

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]

_BEGIN: Final = re.compile(r"(?:cuda|cu|hip)StreamBeginCapture(?:ToGraph)?")
_END: Final = re.compile(r"(?:cuda|cu|hip)StreamEndCapture")
_COPY: Final = re.compile(r"(?:cuda|cu|hip)Mem(?:cpy|set)\w*Async")


@dataclass(frozen=True, slots=True)
class Captured:
    """Events of the host while one graph was captured."""

    events: I64
    """`host_event.id` of the capture's trace, ascending."""
    launches: I64
    """Those that launch, in order: indexes into `events`."""


@dataclass(frozen=True, slots=True)
class Grafted:
    """Columns with the copies of captured events behind the others."""

    work: Work
    host: Host
    arguments: Arguments
    texts: dict[int, str]
    context_names: dict[int, str]
    replays: int
    """Launches of graphs whose kernels have found their operators."""
    unmatched: int
    """Those of which no capture has as many launches."""
    sizes: tuple[int, ...]
    """Launches of each capture."""


def captures(of: Host, names: dict[int, str]) -> list[Captured]:
    """Every capture of a trace; `names` of its runtime and driver calls by `string.id`."""
    kinds = {i: base_name(text) for i, text in names.items()}

    def calls(wanted: re.Pattern[str] | frozenset[str]) -> I64:
        if isinstance(wanted, frozenset):
            ids = [i for i, text in kinds.items() if text in wanted]
        else:
            ids = [i for i, text in kinds.items() if wanted.fullmatch(text)]
        return np.flatnonzero(np.isin(of.name, ids) & _is_call(of))

    ends, launching = calls(_END), np.union1d(calls(KERNEL_LAUNCHES), calls(_COPY))
    found: list[Captured] = []
    for begin in calls(_BEGIN).tolist():
        lane, start = of.lane[begin], of.start_ns[begin]
        after = ends[(of.lane[ends] == lane) & (of.start_ns[ends] > start)]
        if not len(after):
            continue
        end = int(of.start_ns[after].min())
        events = np.flatnonzero((of.lane == lane) & (of.start_ns > start) & (of.start_ns < end))
        mine = launching[np.isin(launching, events)]
        mine = mine[np.lexsort((mine, of.start_ns[mine]))]
        found.append(Captured(events, np.searchsorted(events, mine)))
    return found


def graft(
    work: Work, of: Host, args: Arguments, texts: dict[int, str], trace: Trace, *, frames: bool
) -> Grafted:
    """The work of a trace (by device and start), with replays told by the captures of `trace`.
    Reads events of that. `frames`: names of Python functions are kept too."""
    theirs, their_args = host(trace), arguments(trace)
    is_call = distinct(theirs.name[_is_call(theirs)])
    known = captures(theirs, texts_of(trace, map(int, is_call)))
    by_size = {len(one.launches): one for one in reversed(known)}
    graphs = [i for i, text in texts.items() if base_name(text) in GRAPH_LAUNCHES]
    called = np.append(of.name, np.int32(-1))[work.launch]
    rows = np.flatnonzero(np.isin(called, graphs) & (work.kind != GpuKind.GRAPH))
    strings = 1 + max(
        (int(ids.max(initial=-1)) for ids in (of.name, work.name, *_columns(args))), default=-1
    )
    lists = len(args.shapes)
    launch, operator = work.launch.copy(), work.op.copy()
    parts: list[Host] = []
    size, replays, unmatched = len(of.kind), 0, 0
    used: set[int] = set()
    for call in distinct(work.launch[rows]).tolist():
        mine = rows[work.launch[rows] == call]
        found = by_size.get(len(mine))
        if found is None or not len(mine):
            unmatched += 1
            continue
        copy = _copied(theirs, found, of, call, size, strings, lists)
        launch[mine] = size + found.launches
        operator[mine] = _operators(copy, found.launches, size)
        parts.append(copy)
        size += len(found.events)
        replays += 1
        used.update(found.events.tolist())
    told = np.array(sorted(used), np.int64)
    own = _texts(trace, theirs, their_args, told, frames=frames)
    return Grafted(
        replace(work, launch=launch, op=operator),
        Host(*(np.concatenate(c) for c in zip(*map(_columns, [of, *parts]), strict=True))),
        Arguments(
            *(
                np.concatenate([a, np.where(b >= 0, b + strings, -1)]).astype(np.int32)
                for a, b in zip(_columns(args), _columns(their_args), strict=True)
            )
        ),
        texts | {i + strings: text for i, text in own.items()},
        {i + strings: text for i, text in context_names(trace).items()} if parts else {},
        replays,
        unmatched,
        tuple(sorted(by_size)),
    )


def _copied(
    theirs: Host, found: Captured, of: Host, call: int, base: int, strings: int, lists: int
) -> Host:
    """The captured events below a call, with the call's time: it is when all of them happened."""
    events = found.events
    parent = theirs.parent[events]
    place = np.minimum(np.searchsorted(events, parent), len(events) - 1)
    inside = (parent >= 0) & (events[place] == parent)
    rows = len(events)
    own = theirs.args[events]
    return Host(
        kind=theirs.kind[events],
        lane=np.full(rows, of.lane[call], of.lane.dtype),
        start_ns=np.full(rows, of.start_ns[call]),
        dur_ns=np.full(rows, of.dur_ns[call]),
        name=(theirs.name[events] + strings).astype(np.int32),
        parent=np.where(inside, place + base, call).astype(np.int32),
        args=np.where(own >= 0, own + lists, -1).astype(np.int32),
        sequence=np.full(rows, -1, np.int64),
        forward=np.full(rows, -1, np.int32),
    )


def _operators(copy: Host, launches: I64, base: int) -> I32:
    """The innermost operator around each launch, as numbered in the grafted columns; -1: none."""
    at = launches.copy()
    found = np.full(len(at), -1, np.int32)
    waiting = np.arange(len(at))
    while len(waiting):
        is_op = copy.kind[at] == HostKind.OP
        found[waiting[is_op]] = at[is_op] + base
        above = copy.parent[at].astype(np.int64) - base
        further = ~is_op & (above >= 0)
        waiting, at = waiting[further], above[further]
    return found


def _texts(trace: Trace, of: Host, args: Arguments, events: I64, *, frames: bool) -> dict[int, str]:
    named = events if frames else events[of.kind[events] != HostKind.PYTHON]
    lists = of.args[events]
    lists = distinct(lists[lists >= 0])
    ids = np.concatenate([of.name[named], *(column[lists] for column in _columns(args))])
    return texts_of(trace, (int(i) for i in distinct(ids) if i >= 0))


def _is_call(of: Host) -> NDArray[np.bool_]:
    return np.isin(of.kind, [int(HostKind.RUNTIME), int(HostKind.DRIVER)])


def _columns(of: Host | Arguments) -> Sequence[NDArray[np.integer]]:
    return [getattr(of, field.name) for field in fields(of)]
