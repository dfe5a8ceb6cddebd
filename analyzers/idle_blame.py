"""Why a GPU was idle: every idle interval is divided by what the launching thread did meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..native import group_stats
from .host_overhead import HostOverhead
from .idle_pieces import LaneOfPieces, StepEdges, launching_lanes
from .thread_states import CLASSES, IdleClass, ThreadStates, thread_states

I64 = NDArray[np.int64]

_FEW_PIECES = 131_072
_MOST_PARTS = 32
"""Pieces are explained so many at once, so that memory hardly grows with the trace, and in at most
so many parts, each of which has to look for its states."""


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


def idle_blame(overhead: HostOverhead) -> IdleBlame | None:
    """Explain the idle time of the devices that take part; None where there is no window."""
    if overhead.window is None:
        return None
    data, steps, window = overhead.data, overhead.steps, overhead.window
    devices = tuple(device.device for device in overhead.measured.taking_part)
    launching = launching_lanes(data, overhead.launches, devices)
    states = thread_states(data, overhead.waiting, overhead.launches)
    cube = np.zeros((len(devices), len(steps) + 1, CLASSES), np.int64)
    by_label = np.zeros((len(devices), len(states.label_class) + 1), np.int64)
    idle_ns: dict[int, int] = {}
    for index, device in enumerate(devices):
        own = np.array([device], np.int32)
        idle = data.running.take(own).gaps(window.start_ns, window.end_ns)
        idle_ns[device] = int(idle.lengths()[0])
        copies = data.copies.take(own)
        edges = StepEdges.of(steps, device)
        copying = edges.cut((idle & copies).start, (idle & copies).end)
        step = copying.step.astype(np.int64) + 1
        copied = step * CLASSES + IdleClass.COPY
        _add(cube[index], copied, copying.end_ns - copying.start_ns)
        idle -= copies
        ask = LaneOfPieces.of(data, device, launching[device])
        ahead = states.ahead(launching[device])
        for rows in _parts(idle.count):
            pieces = edges.cut(idle.start[rows], idle.end[rows])
            found = ahead.blame(
                ask.lanes(pieces),
                np.zeros(len(pieces), np.int32),
                pieces.step + np.int32(1),
                pieces.start_ns,
                pieces.end_ns,
            )
            label = found.label.astype(np.int64)
            classes = np.append(states.label_class, np.uint8(IdleClass.UNATTRIBUTED))
            _add(cube[index], found.key.astype(np.int64) * CLASSES + classes[label], found.ns)
            _add(by_label[index], label + 1, found.ns)
    return IdleBlame(
        devices=devices,
        idle_ns=idle_ns,
        causes=_causes(devices, by_label, states, cube),
        launching=launching,
        by_step=cube[:, 1:, :],
        outside=cube[:, 0, :],
    )


def _parts(count: int) -> list[slice]:
    size = max(_FEW_PIECES, -(-count // _MOST_PARTS))
    return [slice(first, first + size) for first in range(0, count, size)]


def _add(table: I64, key: I64, ns: I64) -> None:
    """Add to a contiguous table, of any shape."""
    stats = group_stats(key, ns)
    table.reshape(-1)[stats.group] += stats.sum


def _causes(
    devices: Sequence[int], by_label: I64, states: ThreadStates, cube: I64
) -> tuple[IdleCause, ...]:
    causes: list[IdleCause] = []
    for device, sums in zip(devices, by_label, strict=True):
        labels: list[int] = np.flatnonzero(sums).tolist()
        for own in labels:
            kind, text = IdleClass.UNATTRIBUTED, ""
            if own:
                kind = IdleClass(int(states.label_class[own - 1]))
                text = states.label_text(own - 1)
            causes.append(IdleCause(device, kind, text, int(sums[own])))
    copied = cube[:, :, IdleClass.COPY].sum(axis=1).tolist()
    causes += [
        IdleCause(number, IdleClass.COPY, "", total)
        for number, total in zip(devices, copied, strict=True)
        if total
    ]
    return tuple(sorted(causes, key=lambda cause: (-cause.ns, cause.idle_class, cause.text)))
