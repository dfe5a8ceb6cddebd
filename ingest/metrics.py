"""Sums over the calling context tree and over devices, from columns of events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnStream, GroupStats, PathTree, cover, group_stats, inclusive, union_ns
from .model import GpuClass, GpuKind

I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

NULL: Final = -(2**63)
"""Stands for NULL in int64 columns of these results."""

_BUSY: Final = (GpuKind.KERNEL, GpuKind.GRAPH)


@dataclass(slots=True)
class OpColumns:
    """GPU work of one kind. `node` is empty for waits, `bytes` None where there are none."""

    kind: GpuKind
    device: I16
    start: I64
    dur: I64
    name: I32
    node: I32
    bytes: I64 | None
    communication: Mask | None
    """Kernels only."""


@dataclass(slots=True)
class HostColumns:
    """Host events of the call tree."""

    node: I32
    self_ns: I64
    dur: I64
    open: Mask | None
    launch: Mask


def _dense(stats: GroupStats, values: NDArray[Any], size: int) -> NDArray[Any]:
    out = np.zeros(size, values.dtype)
    out[stats.group] = values
    return out


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
        launches = np.bincount(host.node[host.launch], minlength=nodes)
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
    totals = [
        {name: np.zeros(nodes, np.int64) for name in ("gpu_ops", "kernels", "gpu_ns", "bytes")}
        for _ in range(devices)
    ]
    for part in ops:
        if part.kind is GpuKind.SYNC:
            continue
        group = part.node.astype(np.int64) * devices + part.device
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
            columns["bytes"] = group_stats(group, part.bytes).sum
        exclusive.append(ColumnStream(columns))
        for index in range(devices):
            here = device == index
            for name, sums in totals[index].items():
                if name in columns:
                    sums[node[here]] += columns[name][here]
    inclusives: list[ColumnStream] = []
    for index, sums in enumerate(totals):
        gpu_ops = inclusive(parent, sums["gpu_ops"])
        reached = np.flatnonzero(gpu_ops > 0).astype(np.int32)
        if not len(reached):
            continue
        inclusives.append(
            ColumnStream(
                {
                    "node": reached,
                    "device": np.full(len(reached), index, np.int16),
                    "gpu_ops": gpu_ops[reached],
                    **{
                        name: inclusive(parent, sums[name])[reached]
                        for name in ("kernels", "gpu_ns", "bytes")
                    },
                }
            )
        )
        sums.clear()
    return exclusive, inclusives


def op_stats(ops: Sequence[OpColumns], names: int) -> list[ColumnStream]:
    """GPU work by device, kind and name; `names` bounds the name ids."""
    streams: list[ColumnStream] = []
    for part in ops:
        known = part.device >= 0
        group = np.where(known, part.device.astype(np.int64) * names + part.name, -1)
        time = group_stats(group, part.dur)
        if not len(time.group):
            continue
        name = (time.group % names).astype(np.int32)
        communication = np.zeros(len(name), np.bool_)
        if part.communication is not None:
            by_name = np.zeros(names, np.bool_)
            by_name[part.name[part.communication]] = True
            communication = by_name[name]
        columns: dict[str, NDArray[Any]] = {
            "device": (time.group // names).astype(np.int16),
            "kind": np.full(len(name), part.kind, np.uint8),
            "name": name,
            "comm": communication,
            "count": time.count,
            "sum_ns": time.sum,
            "min_ns": time.min,
            "max_ns": time.max,
            "sumsq": time.sum_squares,
        }
        if part.bytes is not None:
            columns["bytes"] = group_stats(group, part.bytes).sum
        streams.append(ColumnStream(columns))
    return streams


def gpu_window(ops: Sequence[OpColumns]) -> tuple[int, int] | None:
    """First start to last end of kernels and graph replays, else of copies; None without any."""
    for kinds in (_BUSY, (GpuKind.MEMCPY, GpuKind.MEMSET)):
        parts = [part for part in ops if part.kind in kinds and len(part.start)]
        if parts:
            return (
                min(int(part.start.min()) for part in parts),
                max(int((part.start + part.dur).max()) for part in parts),
            )
    return None


def _joined(parts: Sequence[OpColumns]) -> tuple[I32, I64, I64]:
    return (
        np.concatenate([part.device.astype(np.int32) for part in parts]),
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.start + part.dur for part in parts]),
    )


def device_time(
    ops: Sequence[OpColumns], devices: int, window: tuple[int, int]
) -> ColumnStream | None:
    """Split of the window per device that has GPU work; None when there is none."""
    parts = [part for part in ops if part.kind is not GpuKind.SYNC and len(part.start)]
    if not parts:
        return None
    rank = np.concatenate([_classes(part) for part in parts])
    device, start, end = _joined(parts)
    split = cover(device, rank, start, end, devices, int(GpuClass.IDLE), window)
    active = np.unique(device)
    classes = len(GpuClass)
    return ColumnStream(
        {
            "device": np.repeat(active, classes).astype(np.int16),
            "class": np.tile(np.arange(classes, dtype=np.uint8), len(active)),
            "ns": np.ascontiguousarray(split[active]).reshape(-1),
        }
    )


def _classes(part: OpColumns) -> NDArray[np.uint8]:
    if part.kind in (GpuKind.MEMCPY, GpuKind.MEMSET):
        return np.full(len(part.start), GpuClass.COPY_EXPOSED, np.uint8)
    classes = np.full(len(part.start), GpuClass.COMPUTE, np.uint8)
    if part.communication is not None:
        classes[part.communication] = GpuClass.COMM_EXPOSED
    return classes


def device_busy(ops: Sequence[OpColumns], devices: int) -> ColumnStream | None:
    """Union of kernels and graph replays per device that has any."""
    parts = [part for part in ops if part.kind in _BUSY and len(part.start)]
    if not parts:
        return None
    device, start, end = _joined(parts)
    busy = union_ns(device, start, end, devices)
    first, last = group_stats(device, start), group_stats(device, end)
    kernels = next((part for part in parts if part.kind is GpuKind.KERNEL), None)
    count, total = np.zeros(devices, np.int64), np.zeros(devices, np.int64)
    if kernels is not None:
        stats = group_stats(kernels.device, kernels.dur)
        count, total = _dense(stats, stats.count, devices), _dense(stats, stats.sum, devices)
    active = first.group
    return ColumnStream(
        {
            "device": active.astype(np.int16),
            "busy_ns": busy[active],
            "kernel_count": count[active],
            "kernel_sum_ns": total[active],
            "first_ns": first.min,
            "last_ns": last.max,
        }
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
