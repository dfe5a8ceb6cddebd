"""Sums over the calling context tree and over names, from columns of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnStream, GroupStats, PathTree, group_stats, inclusive
from .model import NO_WORK, GpuKind

I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

NULL: Final = -(2**63)
"""Stands for NULL in int64 columns of these results."""

_SUMMED: Final = ("gpu_ops", "kernels", "gpu_ns", "bytes")
_ROWS_AT_ONCE: Final = 2**16


@dataclass(slots=True)
class OpColumns:
    """GPU work of one kind. `owner` and `label` number what repeats; `device_of` is by owner (-1:
    not known), `name_of` and `communicates` (kernels only) by label. `node` is empty for waits."""

    kind: GpuKind
    device_of: I16
    owner: I32
    start: I64
    dur: I64
    label: I32
    name_of: I32
    communicates: Mask | None
    node: I32
    bytes: I64 | None


@dataclass(slots=True)
class HostColumns:
    """Host events of the call tree. `launches` are the rows that launch GPU work."""

    node: I32
    self_ns: I64
    dur: I64
    open: Mask | None
    launches: NDArray[np.int64]


def _known(sizes: I64) -> I64:
    """Sizes for a sum: one that is not known adds nothing."""
    return np.maximum(sizes, 0) if len(sizes) and int(sizes.min()) < 0 else sizes


def _dense(stats: GroupStats, values: NDArray[Any], size: int) -> NDArray[Any]:
    out = np.zeros(size, values.dtype)
    out[stats.group] = values
    return out


def outermost(launch_rows: I64, parent: I32) -> I64:
    """The launches (rows, ascending) without those whose parent is one: a runtime call over a
    driver call is one launch."""
    outer = parent[launch_rows]
    if not len(launch_rows) or int(outer.max()) < int(launch_rows[0]):
        return launch_rows  # no parent is among them
    is_launch = np.zeros(len(parent) + 1, np.bool_)  # the last stands for no parent
    is_launch[launch_rows] = True
    return launch_rows[~is_launch[outer]]


def host_metrics(
    parent: I32, host: HostColumns | None, sample_node: I32 | None
) -> tuple[ColumnStream, ColumnStream] | None:
    """Exclusive and inclusive values per context on the host; None when nothing was measured."""
    nodes = len(parent)
    calls = launches = self_ns = samples = np.zeros(nodes, np.int64)
    durations: GroupStats | None = None
    if host is not None and len(host.node):
        own = group_stats(host.node, host.self_ns)
        calls, self_ns = _dense(own, own.count, nodes), _dense(own, own.sum, nodes)
        launches = np.bincount(host.node[host.launches], minlength=nodes)
        closed = host.node if host.open is None else np.where(host.open, -1, host.node)
        durations = group_stats(closed, host.dur)
    if sample_node is not None:
        samples = np.bincount(sample_node, minlength=nodes)
    measured = np.flatnonzero((calls > 0) | (samples > 0)).astype(np.int32)
    if not len(measured):
        return None
    exclusive: dict[str, NDArray[Any]] = {
        "node": measured,
        "calls": calls[measured],
        "launches": launches[measured],
        "host_ns": self_ns[measured],
        "samples": samples[measured],
    }
    if durations is not None:
        minimum = np.full(nodes, NULL, np.int64)
        minimum[durations.group] = durations.min
        maximum = np.full(nodes, NULL, np.int64)
        maximum[durations.group] = durations.max
        exclusive["host_dur_min_ns"] = minimum[measured]
        exclusive["host_dur_max_ns"] = maximum[measured]
        exclusive["host_dur_sum_ns"] = _dense(durations, durations.sum, nodes)[measured]
        exclusive["host_dur_sumsq"] = _dense(durations, durations.sum_squares, nodes)[measured]
    below = inclusive(parent, calls + samples)
    reached = np.flatnonzero(below > 0).astype(np.int32)
    total = {
        "node": reached,
        "launches": inclusive(parent, launches)[reached],
        "host_ns": inclusive(parent, self_ns)[reached],
        "samples": inclusive(parent, samples)[reached],
    }
    nulls = {"host_dur_min_ns": NULL, "host_dur_max_ns": NULL} if durations is not None else {}
    return ColumnStream(exclusive, nulls=nulls), ColumnStream(total)


def gpu_metrics(
    parent: I32, ops: Sequence[OpColumns], devices: int
) -> tuple[list[ColumnStream], list[ColumnStream]]:
    """Exclusive and inclusive values per context and device. Waits count for nothing."""
    nodes = len(parent)
    exclusive: list[ColumnStream] = []
    values: list[dict[str, NDArray[Any]]] = []
    for part in ops:
        if part.kind in NO_WORK:
            continue
        narrow = nodes * devices < 2**31
        group: NDArray[Any] = part.node.astype(np.int32 if narrow else np.int64)
        group *= devices
        group += part.device_of[part.owner]
        time = group_stats(group, part.dur)
        node, device = time.group // devices, time.group % devices
        columns: dict[str, NDArray[Any]] = {
            "node": node.astype(np.int32),
            "device": device.astype(np.int16),
            "gpu_ops": time.count,
            "kernels": time.count if part.kind is GpuKind.KERNEL else np.zeros_like(time.count),
            "gpu_ns": time.sum,
            "gpu_min_ns": time.min,
            "gpu_max_ns": time.max,
            "gpu_sumsq": time.sum_squares,
        }
        if part.bytes is not None:
            columns["bytes"] = group_stats(group, _known(part.bytes)).sum
        exclusive.append(ColumnStream(columns))
        values.append(
            {name: columns[name] for name in ("node", "device", *_SUMMED) & columns.keys()}
        )
    return exclusive, _gpu_totals(parent, values, devices)


def _gpu_totals(
    parent: I32, values: Sequence[Mapping[str, NDArray[Any]]], devices: int
) -> list[ColumnStream]:
    """Inclusive values by device. Only contexts above work of the device are touched, so that
    hundreds of ranks cost no more than their own trees."""
    rows = [rows_by_device(part["device"], devices) for part in values]
    marked = np.zeros(len(parent), np.bool_)
    totals: list[dict[str, NDArray[Any]]] = []
    for device in range(devices):
        here = [rows_of(device) for rows_of in rows]
        used = [part["node"][at] for part, at in zip(values, here, strict=True) if len(at)]
        if not used:
            continue
        reached = _with_ancestors(np.concatenate(used), parent, marked)
        above = parent[reached]
        own_parent = np.where(above < 0, -1, np.searchsorted(reached, above)).astype(np.int32)
        columns: dict[str, NDArray[Any]] = {
            "node": reached,
            "device": np.full(len(reached), device, np.int16),
        }
        for name in _SUMMED:
            sums = np.zeros(len(reached), np.int64)
            for part, at in zip(values, here, strict=True):
                if name in part:
                    sums[np.searchsorted(reached, part["node"][at])] += part[name][at]
            columns[name] = inclusive(own_parent, sums)
        totals.append(columns)
    return _gathered(totals)


def _gathered(tables: Sequence[Mapping[str, NDArray[Any]]]) -> list[ColumnStream]:
    """Small tables with the same columns put together: each one costs a statement to write."""
    streams: list[ColumnStream] = []
    waiting: list[Mapping[str, NDArray[Any]]] = []
    rows = 0
    for number, table in enumerate(tables, 1):
        waiting.append(table)
        rows += len(next(iter(table.values())))
        if rows >= _ROWS_AT_ONCE or number == len(tables):
            joined = {name: np.concatenate([t[name] for t in waiting]) for name in table}
            streams.append(ColumnStream(joined))
            waiting, rows = [], 0
    return streams


def _with_ancestors(nodes: I32, parent: I32, marked: Mask) -> I32:
    """The nodes and all above them, ascending. `marked` is all false, also afterwards."""
    found: list[I32] = []
    level = np.unique(nodes)
    while len(level):
        marked[level] = True
        found.append(level)
        above = parent[level]
        level = np.unique(above[(above >= 0) & ~marked[above]])
    reached = np.sort(np.concatenate(found))
    marked[reached] = False
    return reached


def rows_by_device(device: I16, devices: int) -> Callable[[int], NDArray[np.intp]]:
    """For a device the rows that name it, ascending."""
    order = np.argsort(device, kind="stable")
    bounds = np.searchsorted(device[order], np.arange(devices + 1))
    return lambda index: order[bounds[index] : bounds[index + 1]]


@dataclass(slots=True)
class OpStats:
    """Rows of op_stat; kernels and their total time by device."""

    rows: list[ColumnStream]
    kernels: dict[int, tuple[int, int]]


def op_stats(ops: Sequence[OpColumns]) -> OpStats:
    """GPU work by device, kind and name."""
    found = OpStats([], {})
    for part in ops:
        if part.kind is GpuKind.SPAN:
            continue
        names, name_index = np.unique(part.name_of, return_inverse=True)
        group = (part.device_of.astype(np.int32) * len(names))[part.owner]
        group += name_index.astype(np.int32)[part.label]
        if (part.device_of < 0).any():
            group[(part.device_of < 0)[part.owner]] = -1
        time = group_stats(group, part.dur)
        if not len(time.group):
            continue
        index, device = time.group % len(names), time.group // len(names)
        communicates = np.zeros(len(names), np.bool_)
        if part.communicates is not None:
            communicates[name_index] = part.communicates
        columns: dict[str, NDArray[Any]] = {
            "device": device.astype(np.int16),
            "kind": np.full(len(index), part.kind, np.uint8),
            "name": names[index],
            "comm": communicates[index],
            "count": time.count,
            "sum_ns": time.sum,
            "min_ns": time.min,
            "max_ns": time.max,
            "sumsq": time.sum_squares,
        }
        if part.bytes is not None:
            columns["bytes"] = group_stats(group, _known(part.bytes)).sum
        if part.kind is GpuKind.KERNEL:
            counts, sums = np.zeros((2, int(device.max()) + 1), np.int64)
            np.add.at(counts, device, time.count)
            np.add.at(sums, device, time.sum)
            for here in np.flatnonzero(counts).tolist():
                found.kernels[here] = int(counts[here]), int(sums[here])
        found.rows.append(ColumnStream(columns))
    return found


def gpu_window(ops: Sequence[OpColumns]) -> tuple[int, int] | None:
    """First start to last end of all GPU work; None without any. Waits are no work."""
    parts = [part for part in ops if part.kind not in NO_WORK and len(part.start)]
    if not parts:
        return None
    return (
        min(int(part.start.min()) for part in parts),
        max(int((part.start + part.dur).max()) for part in parts),
    )


def tree_streams(tree: PathTree) -> tuple[ColumnStream, ColumnStream]:
    """Rows of `frame` and `path_node`, after the tree is renumbered."""
    frames = tree.frame_columns()
    frames = {"id": np.arange(len(frames["layer"]), dtype=np.int32), **frames}
    nodes = tree.columns()
    nodes = {"id": np.arange(len(nodes["parent"]), dtype=np.int32), **nodes}
    return (
        ColumnStream(frames, nulls={"file": -1, "line": -1}),
        ColumnStream(nodes, nulls={"parent": -1}),
    )
