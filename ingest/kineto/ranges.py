"""Hardware counters of the CUPTI range profiler: a range, mostly one kernel, and its values."""

from __future__ import annotations

import json
from array import array
from typing import Any, Final, cast

import numpy as np

from ...native import StringPool, intern_rows
from ..arrays import I16
from ..model import GpuKind, HostKind
from ..timeline import Counters, GpuOps, Timeline
from .args import Arguments
from .other import add_loose_events
from .owners import Owners
from .recording import Recording, Table
from .times import possible

_LARGEST: Final = 2.0**1023


def add_ranges(
    recording: Recording, timeline: Timeline, owners: Owners, arguments: Arguments
) -> tuple[int, int]:
    """Enter the ranges: on their GPU as spans, which are no work (the profiler runs kernels again
    and spreads its ranges evenly over the recording), and each value as a counter of the GPU at
    the start of its range. Ranges of a process that has threads are ranges on its thread. Returns
    how many are a GPU's, and how many of all had to be cut."""
    table = recording.table("range")
    if table is None:
        return 0, 0
    device = owners.gpus_by_process(table["lane"])
    on_gpu = device >= 0
    impossible = 0
    if not on_gpu.all():
        host = {name: column[~on_gpu] for name, column in table.items()}
        impossible += add_loose_events(host, HostKind.RANGE, timeline, owners, arguments)
    if not on_gpu.any():
        return 0, impossible
    table = {name: column[on_gpu] for name, column in table.items()}
    device = device[on_gpu]
    dur, cut = possible(table["dur_ns"])
    timeline.add_ops(
        GpuOps(
            kind=GpuKind.SPAN,
            lane=owners.counter_lanes(device),
            start=table["ts_ns"],
            dur=dur,
            name=table["name"],
            args=arguments.rows(table),
        )
    )
    timeline.add_counters(_values(table, device, timeline.pool))
    return len(dur), impossible + cut


def _values(table: Table, device: I16, pool: StringPool) -> Counters:
    """Every number among the arguments of the ranges."""
    text, first = intern_rows([table["args"]])
    names, values, bounds = array("i"), array("d"), array("q", [0])
    for id_ in table["args"][first].tolist():
        for name, value in _numbers_in(pool[id_] if id_ >= 0 else "{}"):
            names.append(pool.intern(name))
            values.append(value)
        bounds.append(len(names))
    begin, count = np.array(bounds)[text], np.diff(bounds)[text]
    owner = np.repeat(np.arange(len(text)), count)
    at = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(len(owner))
    return Counters(
        device[owner],
        np.array(names, np.int32)[at],
        table["ts_ns"][owner],
        np.array(values, np.float64)[at],
    )


def _numbers_in(text: str) -> list[tuple[str, float]]:
    try:
        args: Any = json.loads(text)
    except (ValueError, RecursionError):
        return []
    items = cast("dict[str, Any]", args).items() if isinstance(args, dict) else ()
    return [
        (name, float(value))
        for name, value in items
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < _LARGEST  # neither infinite, nor an integer without a double
    ]
