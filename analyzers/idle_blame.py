"""Why a GPU was idle: every idle interval is divided by what the launching thread did meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..native import IntervalSets, group_stats
from .host_overhead import HostOverhead
from .steps import Steps
from .thread_states import CLASSES, IdleClass, ThreadStates, thread_states
from .trace_data import TraceData

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_ALSO_LAUNCHES = 0.2
"""A thread with at least this share of the launches of the busiest one is asked as well: backward
passes launch from a thread of their own."""


@dataclass(frozen=True, slots=True)
class IdleCause:
    """Idle time of one device in one cause."""

    device: int
    idle_class: IdleClass
    text: str
    """Name of the call, range or function; empty for copies and unattributed time."""
    ns: int


@dataclass(frozen=True, slots=True, eq=False)
class IdleBlame:
    """Causes of all idle time of the devices inside the window; they sum to it exactly."""

    devices: tuple[int, ...]
    idle_ns: Mapping[int, int]
    """By device: no kernel and no graph ran."""
    causes: tuple[IdleCause, ...]
    """Most time first."""
    launching: Mapping[int, tuple[int, ...]]
    """By device: lanes of the threads that launch to it, most launches first."""
    by_step: I64
    """ns by (index into `devices`, row of the steps, class). A step reaches to the rank's next
    one; a row has values for the devices of its rank."""
    outside: I64
    """ns by (index into `devices`, class) outside the steps."""

    def totals(self) -> dict[IdleClass, int]:
        """ns over all devices, by class."""
        sums = dict.fromkeys(IdleClass, 0)
        for cause in self.causes:
            sums[cause.idle_class] += cause.ns
        return sums

    def top(self, limit: int) -> list[tuple[IdleClass, str, int]]:
        """Class, text and ns over all devices, most time first."""
        sums: dict[tuple[IdleClass, str], int] = {}
        for cause in self.causes:
            key = cause.idle_class, cause.text
            sums[key] = sums.get(key, 0) + cause.ns
        ordered = sorted(sums.items(), key=lambda item: -item[1])
        return [(kind, text, ns) for (kind, text), ns in ordered[:limit]]

    def per_step_ns(self, rows: I64) -> dict[IdleClass, float]:
        """Mean over some rows, by class: each the sum over the devices of its rank."""
        if not len(rows):
            return {}
        sums = self.by_step[:, rows, :].sum(axis=(0, 1)).tolist()
        return {kind: sums[kind] / len(rows) for kind in IdleClass}


@dataclass(slots=True)
class Pieces:
    """Idle intervals of devices, cut where a step begins or ends."""

    device: I32
    """Index into the devices of the question."""
    step: I32
    """Row of the steps, -1 outside."""
    start_ns: I64
    end_ns: I64


def idle_blame(overhead: HostOverhead) -> IdleBlame | None:
    """Explain the idle time of the devices that take part; None where there is no window."""
    if overhead.window is None:
        return None
    data, steps, window = overhead.data, overhead.steps, overhead.window
    devices = tuple(device.device for device in overhead.measured.taking_part)
    chosen = np.array(devices, np.int32)
    idle = data.running.take(chosen).gaps(window.start_ns, window.end_ns)
    copies = data.copies.take(chosen)
    copying = cut_at_steps(idle & copies, devices, steps)
    waiting = cut_at_steps(idle - copies, devices, steps)
    launching = {device: launching_lanes(data, device) for device in devices}
    lane = lanes_of_pieces(waiting, devices, launching, data)
    states = thread_states(data, overhead.waiting, overhead.launches, np.unique(lane))
    rows = len(steps) + 1
    found = states.blame(
        lane,
        waiting.device,
        waiting.device * np.int32(rows) + (waiting.step + np.int32(1)),
        waiting.start_ns,
        waiting.end_ns,
    )
    classes = np.append(states.label_class, np.uint8(IdleClass.UNATTRIBUTED))
    table = np.zeros(len(devices) * rows * CLASSES, np.int64)
    _add(table, found.key.astype(np.int64) * CLASSES + classes[found.label], found.ns)
    copy_key = copying.device.astype(np.int64) * rows + (copying.step + 1)
    _add(table, copy_key * CLASSES + IdleClass.COPY, copying.end_ns - copying.start_ns)
    cube = table.reshape(len(devices), rows, CLASSES)
    return IdleBlame(
        devices=devices,
        idle_ns=dict(zip(devices, idle.lengths().tolist(), strict=True)),
        causes=_causes(devices, found.key // rows, found.label, found.ns, states, cube),
        launching=launching,
        by_step=cube[:, 1:, :],
        outside=cube[:, 0, :],
    )


def _add(table: I64, key: I64, ns: I64) -> None:
    stats = group_stats(key, ns)
    table[stats.group] += stats.sum


def _causes(
    devices: Sequence[int],
    device: I32,
    label: I32,
    ns: I64,
    states: ThreadStates,
    cube: I64,
) -> tuple[IdleCause, ...]:
    labels = len(states.label_class) + 1
    stats = group_stats(device.astype(np.int64) * labels + (label + 1), ns)
    causes: list[IdleCause] = []
    groups: list[int] = stats.group.tolist()
    sums: list[int] = stats.sum.tolist()
    for group, total in zip(groups, sums, strict=True):
        index, own = divmod(group, labels)
        if own == 0:
            causes.append(IdleCause(devices[index], IdleClass.UNATTRIBUTED, "", total))
        else:
            kind = IdleClass(int(states.label_class[own - 1]))
            causes.append(IdleCause(devices[index], kind, states.label_text(own - 1), total))
    copied = cube[:, :, IdleClass.COPY].sum(axis=1).tolist()
    causes += [
        IdleCause(number, IdleClass.COPY, "", total)
        for number, total in zip(devices, copied, strict=True)
        if total
    ]
    return tuple(sorted(causes, key=lambda cause: (-cause.ns, cause.idle_class, cause.text)))


def cut_at_steps(idle: IntervalSets, devices: Sequence[int], steps: Steps) -> Pieces:
    """Cut each device's intervals at the steps of the rank that works on it; of several ranks on
    one device the first is taken."""
    parts: list[tuple[I64, I64, I32, int]] = []
    for index, device in enumerate(devices):
        own = idle.take(np.array([index], np.int32))
        start, end = own.start, own.end
        rank = next((i for i, r in enumerate(steps.ranks) if device in r.devices), None)
        rows = np.flatnonzero(steps.rank == rank) if rank is not None else np.zeros(0, np.int64)
        first, last = steps.start_ns[rows], steps.next_ns[rows]
        edges = np.unique(np.concatenate([first, last]))
        if len(edges) and len(start):
            at = np.searchsorted(start, edges, side="right") - 1
            inside = (at >= 0) & (edges > start[at]) & (edges < end[at])
            start = np.sort(np.concatenate([start, edges[inside]]))
            end = np.sort(np.concatenate([end, edges[inside]]))
        step = np.full(len(start), -1, np.int32)
        if len(rows):
            at = np.searchsorted(first, start, side="right") - 1
            known = (at >= 0) & (start < last[at])
            step[known] = rows[at[known]]
        parts.append((start, end, step, index))
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Pieces(nothing.astype(np.int32), nothing.astype(np.int32), nothing, nothing)
    return Pieces(
        device=np.concatenate([np.full(len(p[0]), p[3], np.int32) for p in parts]),
        step=np.concatenate([p[2] for p in parts]),
        start_ns=np.concatenate([p[0] for p in parts]),
        end_ns=np.concatenate([p[1] for p in parts]),
    )


def launching_lanes(data: TraceData, device: int) -> tuple[int, ...]:
    """The thread that launches most to the device, and those that launch a good part of it. Where
    no launch is known, the thread that launches most of the processes that work on it."""
    rows = data.calls.rows_of(data.ops.launch)
    known = (data.ops.device == device) & (rows >= 0)
    counts = np.bincount(data.calls.lane[rows[known]], minlength=len(data.lanes))
    if not counts.any():
        owners = data.owners[device]
        lane = data.calls.lane[data.launch_rows]
        counts = np.bincount(lane, minlength=len(data.lanes))
        counts = counts * np.isin(data.lane_process, owners)
        return (int(np.argmax(counts)),) if counts.any() else ()
    order = np.argsort(-counts, kind="stable")
    near = order[counts[order] >= _ALSO_LAUNCHES * counts.max()]
    return tuple(near.tolist())


def lanes_of_pieces(
    pieces: Pieces,
    devices: Sequence[int],
    launching: Mapping[int, tuple[int, ...]],
    data: TraceData,
) -> I32:
    """The thread to ask about each piece: the launching one, of several the one that issued the
    next operation of the device. -1 where none is known."""
    lane = np.full(len(pieces.device), -1, np.int32)
    for index, device in enumerate(devices):
        candidates = launching[device]
        own = np.flatnonzero(pieces.device == index)
        if not candidates:
            continue
        lane[own] = candidates[0]
        if len(candidates) > 1:
            start, issuer = _issued(data, device, candidates)
            at = np.searchsorted(start, pieces.end_ns[own])
            follows = at < len(start)
            lane[own[follows]] = issuer[at[follows]]
    return lane


def _issued(data: TraceData, device: int, lanes: Sequence[int]) -> tuple[I64, I32]:
    """Starts of the operations of a device that one of the threads issued, and the thread."""
    rows = data.calls.rows_of(data.ops.launch)
    known = np.flatnonzero((data.ops.device == device) & (rows >= 0))
    lane = data.calls.lane[rows[known]]
    wanted = np.isin(lane, lanes)
    start, lane = data.ops.start_ns[known[wanted]], lane[wanted]
    order = np.argsort(start, kind="stable")
    return start[order], lane[order]
