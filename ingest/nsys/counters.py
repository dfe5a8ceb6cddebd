"""GPU metric counters and device memory events."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...native import intern_rows
from ..account import count
from ..arrays import I16, I32, I64, MOST_BYTES, NULL32, NULL64
from .devices import Devices
from .identity import Identity
from .reader import TableReader
from .strings import Strings
from .times import Clock

METRIC_TABLE: Final = "GPU_METRICS"
METRIC_REQUIRED: Final = ("timestamp", "metricId", "value")
MEMORY_TABLE: Final = "CUDA_GPU_MEMORY_USAGE_EVENTS"
MEMORY_REQUIRED: Final = ("start", "bytes", "memoryOperationType")

_GPU_FIELD: Final = 0xFF
_FREED: Final = 1


@dataclass(slots=True)
class Counters:
    """Values over time. Device -1 where not known; NaN where the recorded value is impossible."""

    device: I16
    name: I32
    time: I64
    value: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.time)


@dataclass(slots=True)
class MemoryUsage:
    """Allocations (bytes > 0) and releases (< 0) of device memory."""

    process: I16
    ordinal: I32
    time: I64
    bytes: I64
    address: I64
    kind: I32

    def __len__(self) -> int:
        return len(self.time)


def read_counters(
    reader: TableReader, strings: Strings, clock: Clock, devices: Devices
) -> Counters | None:
    """The sampled GPU metrics."""
    table = reader.find(METRIC_TABLE, METRIC_REQUIRED)
    if table is None:
        return None
    rows = reader.read(
        table, {"timestamp": "i64", "metricId": "i64", "typeId": "i64", "value": "f64"}
    )
    time = clock.points(rows, "timestamp")
    type_id, metric = rows.i64("typeId"), rows.i64("metricId")
    value = rows.f64("value")
    impossible = value < 0
    reader.account.remark(table, "bad_value", count(impossible))
    if not rows.count:
        return None
    names = _metric_names(reader, strings)
    dense, first = intern_rows([type_id, metric])
    name_ids: list[int] = []
    device_ids: list[int] = []
    for row in first.tolist():
        kind, number = int(type_id[row]), int(metric[row])
        name = names.get((kind, number), names.get((NULL64, number), -1))
        if name < 0:
            name = strings.pool.intern(f"metric {number} (name not recorded)")
        name_ids.append(name)
        found = None if kind == NULL64 else devices.by_metrics_id(kind & _GPU_FIELD)
        device_ids.append(-1 if found is None else found)
    return Counters(
        np.array(device_ids, np.int16)[dense],
        np.array(name_ids, np.int32)[dense],
        time,
        np.where(impossible, np.nan, value),
    )


def _metric_names(reader: TableReader, strings: Strings) -> dict[tuple[int, int], int]:
    """Pool id of each metric's name by (typeId, metricId); typeId NULL64 when not recorded."""
    table = reader.find("TARGET_INFO_GPU_METRICS", ("metricId", "metricName"))
    if table is None:
        return {}
    rows = reader.read(table, {"metricId": "i64", "typeId": "i64", "metricName": "text"})
    names: dict[tuple[int, int], int] = {}
    for metric, kind, text in zip(
        rows.i64("metricId").tolist(),
        rows.i64("typeId").tolist(),
        rows.texts("metricName"),
        strict=True,
    ):
        if text is not None:
            names[kind, metric] = strings.pool.intern(text)
    return names


def read_memory(reader: TableReader, identity: Identity, clock: Clock) -> MemoryUsage | None:
    """Allocations and releases of device memory."""
    table = reader.find(MEMORY_TABLE, MEMORY_REQUIRED)
    if table is None:
        return None
    rows = reader.read(
        table,
        {
            "start": "i64",
            "bytes": "i64",
            "memoryOperationType": "i32",
            "deviceId": "i32",
            "globalPid": "i64",
            "address": "i64",
            "memKind": "i32",
        },
    )
    time = clock.points(rows)
    known = np.isin(rows.i32("memoryOperationType"), (0, _FREED))
    if not known.all():
        reader.account.leave_out(table, "unknown_operation", count(~known))
        time = time[known]
        rows.keep(known)
    size = rows.i64("bytes")
    wrong = (size < 0) | (size > MOST_BYTES)
    if wrong.any():
        reader.account.leave_out(table, "bad_value", count(wrong))
        time, size = time[~wrong], size[~wrong]
        rows.keep(~wrong)
    return MemoryUsage(
        identity.process_column(rows.i64("globalPid")),
        rows.i32("deviceId"),
        time,
        np.where(rows.i32("memoryOperationType") == _FREED, -size, size),
        rows.i64("address"),
        rows.i32("memKind"),
    )


def memory_devices(usage: MemoryUsage) -> list[tuple[int, int]]:
    """The (process, ordinal) pairs that own memory events."""
    if not len(usage):
        return []
    _, first = intern_rows([usage.process, usage.ordinal])
    return [
        (int(usage.process[row]), int(usage.ordinal[row]))
        for row in first.tolist()
        if usage.ordinal[row] != NULL32
    ]


def device_column(usage: MemoryUsage, devices: Devices) -> I16:
    """Device of each memory event, -1 where not recorded."""
    if not len(usage):
        return np.empty(0, np.int16)
    dense, first = intern_rows([usage.process, usage.ordinal])
    ids = [
        -1
        if usage.ordinal[row] == NULL32
        else devices.device(int(usage.process[row]), int(usage.ordinal[row]))
        for row in first.tolist()
    ]
    return np.array(ids, np.int16)[dense]
