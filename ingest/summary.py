"""Writes the tables that answer the first questions: who, where, how much."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnStream, PathTree, StringPool
from .arrays import I32, NULL32
from .background import Background
from .device_use import device_use
from .metrics import (
    HostColumns,
    OpColumns,
    gpu_metrics,
    gpu_window,
    host_metrics,
    op_stats,
    tree_streams,
)
from .owners import Device, Lane, Process, write_owners
from .writer import StoreWriter

CONFIG_COLUMNS: Final = (
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


@dataclass(slots=True)
class Summary:
    """What the summary tables are made from."""

    tree: PathTree
    processes: Sequence[Process]
    lanes: Sequence[Lane]
    devices: Sequence[Device]
    host: HostColumns | None
    ops: Sequence[OpColumns]
    sample_node: I32 | None
    configs: Mapping[str, NDArray[Any]]
    """Columns of launch_config; NULL32 or NaN where not known. May be empty."""


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
        count = len(summary.devices)
        sums.split, sums.busy = device_use(summary.ops, count, stats.kernels)
    return sums


def _write_paths(writer: StoreWriter, summary: Summary) -> None:
    """Who, the tree, and the sums over it."""
    write_owners(writer, summary.processes, summary.lanes, summary.devices)
    frames, nodes = tree_streams(summary.tree)
    writer.insert("frame", frames)
    writer.insert("path_node", nodes)
    if summary.configs:
        columns = dict(summary.configs)
        nulls = {name: NULL32 for name, column in columns.items() if column.dtype == np.int32}
        rows = len(next(iter(columns.values())))
        writer.insert("launch_config", ColumnStream({"id": range(rows), **columns}, nulls=nulls))
    parent = summary.tree.columns()["parent"]
    host = host_metrics(parent, summary.host, summary.sample_node)
    if host is not None:
        writer.insert("path_metric", host[0])
        writer.insert("path_total", host[1])
    exclusive, inclusive = gpu_metrics(parent, summary.ops, len(summary.devices))
    for stream in exclusive:
        writer.insert("path_metric", stream)
    for stream in inclusive:
        writer.insert("path_total", stream)


def write_strings(writer: StoreWriter, pool: StringPool) -> None:
    """The texts in use."""
    if len(pool):
        writer.insert("string", ColumnStream({"id": range(len(pool)), "text": pool}))
