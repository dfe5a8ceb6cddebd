"""Writes the tables that answer the first questions: who, where, how much."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...native import ColumnStream, PathTree
from ..metrics import (
    HostColumns,
    OpColumns,
    device_use,
    gpu_metrics,
    gpu_window,
    host_metrics,
    op_stats,
    tree_streams,
)
from ..writer import StoreWriter
from .arrays import I32, NULL32
from .background import Background
from .devices import Devices
from .identity import Identity
from .strings import Strings

_CONFIG_COLUMNS = (
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
    "registers_per_thread",
    "static_shared_bytes",
    "dynamic_shared_bytes",
    "local_bytes_per_thread",
)
_UNSIGNED = (1 << 64) - 1


@dataclass(slots=True)
class Summary:
    """What the summary tables are made from."""

    tree: PathTree
    strings: Strings
    identity: Identity
    devices: Devices
    host: HostColumns | None
    ops: Sequence[OpColumns]
    sample_node: I32 | None
    configs: list[I32]


def write_summary(writer: StoreWriter, summary: Summary) -> Mapping[str, object]:
    """Fill every table but those of events, facts and notes. Returns facts found on the way."""
    with Background(lambda: _device_sums(summary)) as device_sums:
        _write_paths(writer, summary)
        sums = device_sums.result()
    for stream in sums.ops:
        writer.insert("op_stat", stream)
    if sums.split is not None:
        writer.insert("device_time", sums.split)
    if sums.busy is not None:
        writer.insert("device_busy", sums.busy)
    if sums.window is None:
        return {}
    return {"gpu_window_start_ns": sums.window[0], "gpu_window_end_ns": sums.window[1]}


@dataclass(slots=True)
class _DeviceSums:
    window: tuple[int, int] | None
    ops: list[ColumnStream]
    split: ColumnStream | None = None
    busy: ColumnStream | None = None


def _device_sums(summary: Summary) -> _DeviceSums:
    """What each GPU did. Needs no database: it is found beside the sums over the tree."""
    stats = op_stats(summary.ops)
    sums = _DeviceSums(gpu_window(summary.ops), stats.rows)
    if sums.window is not None:
        count = len(summary.devices.items)
        sums.split, sums.busy = device_use(summary.ops, count, sums.window, stats.kernels)
    return sums


def _write_paths(writer: StoreWriter, summary: Summary) -> None:
    """Who, the tree, and the sums over it."""
    _write_owners(writer, summary.identity, summary.devices)
    frames, nodes = tree_streams(summary.tree)
    writer.insert("frame", frames)
    writer.insert("path_node", nodes)
    if summary.configs:
        columns = dict(zip(_CONFIG_COLUMNS, summary.configs, strict=True))
        nulls: dict[str, int] = dict.fromkeys(_CONFIG_COLUMNS, NULL32)
        stream = ColumnStream({"id": _ids(len(summary.configs[0])), **columns}, nulls=nulls)
        writer.insert("launch_config", stream)
    parent = summary.tree.columns()["parent"]
    host = host_metrics(parent, summary.host, summary.sample_node)
    if host is not None:
        writer.insert("path_metric", host[0])
        writer.insert("path_total", host[1])
    exclusive, inclusive = gpu_metrics(parent, summary.ops, len(summary.devices.items))
    for stream in exclusive:
        writer.insert("path_metric", stream)
    for stream in inclusive:
        writer.insert("path_total", stream)


def write_strings(writer: StoreWriter, strings: Strings) -> None:
    """The texts in use."""
    pool = strings.pool
    if len(pool):
        writer.insert("string", ColumnStream({"id": _ids(len(pool)), "text": pool}))


def _ids(rows: int) -> I32:
    return np.arange(rows, dtype=np.int32)


def _write_owners(writer: StoreWriter, identity: Identity, devices: Devices) -> None:
    processes, lanes, gpus = identity.processes, identity.lanes, devices.items
    writer.insert_lists(
        "process",
        {
            "id": range(len(processes)),
            "global_pid": [process.key & _UNSIGNED for process in processes],
            "pid": [process.pid for process in processes],
            "name": [process.name for process in processes],
            "rank": [process.rank for process in processes],
        },
    )
    writer.insert_lists(
        "lane",
        {
            "id": range(len(lanes)),
            "kind": [lane.kind.value for lane in lanes],
            "process": [None if lane.process < 0 else lane.process for lane in lanes],
            "device": [lane.device for lane in lanes],
            "tid": [lane.tid for lane in lanes],
            "context_id": [lane.context for lane in lanes],
            "green_context_id": [lane.green_context for lane in lanes],
            "stream_id": [lane.stream for lane in lanes],
            "name": [lane.name for lane in lanes],
        },
    )
    names = (
        "ordinal",
        "process",
        "gpu_id",
        "name",
        "uuid",
        "sm_count",
        "clock_hz",
        "memory_bytes",
        "bandwidth_bytes_per_s",
        "compute_major",
        "compute_minor",
        "assumed",
    )
    columns: dict[str, Sequence[object]] = {
        name: [getattr(gpu, name) for gpu in gpus] for name in names
    }
    writer.insert_lists("device", {"id": range(len(gpus)), **columns})
