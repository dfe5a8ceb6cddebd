"""What the contexts of a timeline cost themselves: the events summed up, for a profile of sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...native import group_stats
from ..arrays import I16, I32, I64, NULL64
from ..metrics import HostColumns, OpColumns
from ..model import NO_WORK, GpuKind
from .grow import Grown
from .parts import Parts


@dataclass(slots=True)
class Summed:
    """A row a context and device (-1: the host); nodes are those of the timeline's tree."""

    node: I32
    device: I16
    columns: Mapping[str, I64]
    """Of path_metric by name; NULL64 where nothing was measured."""
    dur_sumsq: NDArray[np.float64]
    """Of host events."""
    kernel_name: I32
    """-1 where it is no kernel."""
    calls: tuple[I32, I32, I64, I64]
    """Host events with arguments, a row a context and row of op_args: node, args, how many, ns."""
    args_other: I32
    """By row of op_args: text of what has no column, -1: none."""


_COLUMNS = (
    "calls", "host_ns", "gpu_ops", "kernels", "gpu_ns", "bytes",
    "host_dur_sum_ns", "host_dur_min_ns", "host_dur_max_ns",
)  # fmt: skip


def summed(parts: Parts, grown: Grown) -> Summed:
    """Sum up what was grown from these parts."""
    tables = [_work(columns) for columns in grown.op_columns() if columns.kind not in NO_WORK]
    host = grown.host_columns()
    if host is not None:
        tables.insert(0, _host(host))
    rows = [len(table["node"]) for table in tables]

    def column(name: str, missing: Any, dtype: type[np.generic]) -> NDArray[Any]:
        found = [
            table.get(name, np.full(size, missing)).astype(dtype)
            for table, size in zip(tables, rows, strict=True)
        ]
        return np.concatenate([np.empty(0, dtype), *found])

    return Summed(
        node=column("node", -1, np.int32),
        device=column("device", -1, np.int16),
        columns={name: column(name, NULL64, np.int64) for name in _COLUMNS},
        dur_sumsq=column("sumsq", 0.0, np.float64),
        kernel_name=column("name", -1, np.int32),
        calls=_calls(parts, grown),
        args_other=np.asarray(parts.tables.get("op_args", {}).get("other", np.empty(0)), np.int32),
    )


def _host(host: HostColumns) -> dict[str, NDArray[Any]]:
    own, whole = group_stats(host.node, host.self_ns), group_stats(host.node, host.dur)
    return {
        "node": own.group,
        "calls": own.count,
        "host_ns": own.sum,
        "host_dur_sum_ns": whole.sum,
        "host_dur_min_ns": whole.min,
        "host_dur_max_ns": whole.max,
        "sumsq": whole.sum_squares,
    }


def _work(work: OpColumns) -> dict[str, NDArray[Any]]:
    devices = int(work.device_of.max()) + 1
    group = work.node.astype(np.int64) * devices + work.device_of[work.owner]
    time = group_stats(group, work.dur)
    found: dict[str, NDArray[Any]] = {
        "node": time.group // devices,
        "device": time.group % devices,
        "gpu_ops": time.count,
        "gpu_ns": time.sum,
        "kernels": np.zeros_like(time.count),
    }
    if work.kind is GpuKind.KERNEL:
        found["kernels"] = time.count
        names = np.empty(int(group.max()) + 1 if len(group) else 0, np.int32)
        names[group] = work.name_of[work.label]
        found["name"] = names[time.group]
    if work.bytes is not None:
        found["bytes"] = group_stats(group, np.maximum(work.bytes, 0)).sum
    return found


def _calls(parts: Parts, grown: Grown) -> tuple[I32, I32, I64, I64]:
    host, stack = parts.host, grown.stack
    if host is None or stack is None or host.args is None:
        nothing = np.empty(0, np.int64)
        return np.empty(0, np.int32), np.empty(0, np.int32), nothing, nothing
    sets = int(host.args.max(initial=-1)) + 1
    group = np.where(host.args >= 0, stack.node.astype(np.int64) * max(sets, 1) + host.args, -1)
    time = group_stats(group, host.end - host.start)
    node, args = time.group // max(sets, 1), time.group % max(sets, 1)
    return node.astype(np.int32), args.astype(np.int32), time.count, time.sum
