"""Idle intervals of a device, cut at steps, and the threads to ask about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..queries.timeline import RUNNING_KINDS, launched_ops
from .launches import LaunchTimes
from .steps import Steps
from .trace_data import TraceData

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_ALSO_LAUNCHES = 0.2
"""A thread with at least this share of the launches of the busiest one is asked as well: backward
passes launch from a thread of their own."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Idle intervals of one device, none of which reaches over the begin or end of a step."""

    step: I32
    """Row of the steps, -1 outside."""
    start_ns: I64
    end_ns: I64

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True, slots=True, eq=False)
class StepEdges:
    """The steps of the rank that works on a device; of several ranks on one device the first is
    taken."""

    rows: I64
    """Of the steps."""
    first_ns: I64
    last_ns: I64
    """Start of the rank's next step."""
    edges: I64
    """All starts and ends, ascending."""

    @staticmethod
    def of(steps: Steps, device: int) -> StepEdges:
        """Of one device; without steps where no rank worked on it."""
        rank = next((i for i, r in enumerate(steps.ranks) if device in r.devices), None)
        rows = np.flatnonzero(steps.rank == rank) if rank is not None else np.zeros(0, np.int64)
        first, last = steps.start_ns[rows], steps.next_ns[rows]
        return StepEdges(rows, first, last, np.unique(np.concatenate([first, last])))

    def cut(self, start: I64, end: I64) -> Pieces:
        """The pieces of ascending, disjoint intervals."""
        edges = self.edges
        if len(edges) and len(start):
            at = np.searchsorted(start, edges, side="right") - 1
            inside = (at >= 0) & (edges > start[at]) & (edges < end[at])
            start = np.sort(np.concatenate([start, edges[inside]]))
            end = np.sort(np.concatenate([end, edges[inside]]))
        step = np.full(len(start), -1, np.int32)
        if len(self.rows):
            at = np.searchsorted(self.first_ns, start, side="right") - 1
            known = (at >= 0) & (start < self.last_ns[at])
            step[known] = self.rows[at[known]]
        return Pieces(step, start, end)


@dataclass(frozen=True, slots=True, eq=False)
class LaneOfPieces:
    """The threads that launch to one device, and where there are several, the starts of the
    operations they issued."""

    lane: int
    """The one that launches most, -1 where none is known."""
    start_ns: I64
    issuer: I32

    @staticmethod
    def of(data: TraceData, device: int, lanes: Sequence[int]) -> LaneOfPieces:
        """lanes: as `launching_lanes` finds them."""
        starts = [np.zeros(0, np.int64)]
        issuers = [np.zeros(0, np.int32)]
        if len(lanes) > 1:
            for ops in launched_ops(data.trace, RUNNING_KINDS):
                lane = data.calls.lanes_of(ops.launch)
                wanted = (ops.device == device) & np.isin(lane, lanes)
                starts.append(ops.start_ns[wanted])
                issuers.append(lane[wanted])
        start = np.concatenate(starts)
        order = np.argsort(start, kind="stable")
        return LaneOfPieces(lanes[0] if lanes else -1, start[order], np.concatenate(issuers)[order])

    def lanes(self, pieces: Pieces) -> I32:
        """The thread to ask about each piece: the launching one, of several the one that issued
        the next operation of the device. -1 where none is known."""
        lane = np.full(len(pieces), self.lane, np.int32)
        at = np.searchsorted(self.start_ns, pieces.end_ns)
        follows = at < len(self.start_ns)
        lane[follows] = self.issuer[at[follows]]
        return lane


def launching_lanes(
    data: TraceData, launches: LaunchTimes, devices: Sequence[int]
) -> dict[int, tuple[int, ...]]:
    """By device: the thread that launches most to it, and those that launch a good part of it.
    Where no launch is known, the thread that launches most of the processes that work on it. Only
    threads of the process that is judged alone."""
    counts = np.zeros((data.device_count, len(data.lanes)), np.int64)
    asked = np.append(data.lanes_asked, False)  # [-1]: a launch of no known thread
    for ops in launched_ops(data.trace, RUNNING_KINDS):
        lane = data.calls.lanes_of(ops.launch)
        known = asked[lane]
        group = ops.device[known].astype(np.int64) * len(data.lanes) + lane[known]
        counts += np.bincount(group, minlength=counts.size).reshape(counts.shape)
    return {device: _launching(counts[device], data, launches, device) for device in devices}


def _launching(counts: I64, data: TraceData, launches: LaunchTimes, device: int) -> tuple[int, ...]:
    if not counts.any():
        for lane, starts in zip(launches.lanes, launches.starts_ns, strict=True):
            if data.lanes[lane].process in data.owners[device]:
                counts[lane] = len(starts)
        return (int(np.argmax(counts)),) if counts.any() else ()
    order = np.argsort(-counts, kind="stable")
    near = order[counts[order] >= _ALSO_LAUNCHES * counts.max()]
    return tuple(near.tolist())
