"""How each device spent its time, as rows of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnStream, union_ns
from .gpu_split import gpu_class, gpu_split
from .metrics import OpColumns, rows_by_device
from .model import NO_WORK, GpuClass, GpuKind

I64 = NDArray[np.int64]

_BUSY: Final = (GpuKind.KERNEL, GpuKind.GRAPH)


def device_use(
    ops: Sequence[OpColumns], devices: int, kernels: Mapping[int, tuple[int, int]]
) -> tuple[ColumnStream | None, ColumnStream | None]:
    """Rows of device_time (split of the device's window) and device_busy (union of kernels and
    graph replays), for the devices with GPU work. One device at a time: the copies stay small."""
    split: dict[int, I64] = {}
    busy: list[tuple[int, ...]] = []
    parts = [part for part in ops if part.kind not in NO_WORK]
    rows = [rows_by_device(part.device_of[part.owner], devices) for part in parts]
    for device in range(devices):
        work = [_of_device(part, at(device)) for part, at in zip(parts, rows, strict=True)]
        work = [part for part in work if len(part.start)]
        if not work:
            continue
        start, end, classes = _joined(work)
        split[device] = gpu_split(classes, start, end)
        running = [part for part in work if part.kind in _BUSY]
        if running:
            bounds = (
                min(int(part.start.min()) for part in running),
                max(int(part.end.max()) for part in running),
            )
            if any(part.kind is GpuKind.MEMSET for part in work):
                union = _union(running)
            else:
                # What runs has all of its time in the first two, as copies come last.
                union = int(split[device][[GpuClass.COMPUTE, GpuClass.COMM_EXPOSED]].sum())
            busy.append((device, union, *kernels.get(device, (0, 0)), *bounds))
    return _split_stream(split), _busy_stream(busy)


def _union(work: list[_Work]) -> int:
    start, end, _ = _joined(work)
    return int(union_ns(np.zeros(len(start), np.int32), start, end, 1)[0])


def _joined(work: list[_Work]) -> tuple[I64, I64, NDArray[np.uint8]]:
    if len(work) == 1:
        return work[0].start, work[0].end, work[0].classes
    return (
        np.concatenate([part.start for part in work]),
        np.concatenate([part.end for part in work]),
        np.concatenate([part.classes for part in work]),
    )


@dataclass(slots=True)
class _Work:
    kind: GpuKind
    start: I64
    end: I64
    classes: NDArray[np.uint8]


def _of_device(part: OpColumns, here: NDArray[np.intp]) -> _Work:
    start = part.start[here]
    told = part.communicates
    communicates = np.zeros(len(here), bool) if told is None else told[part.label[here]]
    classes = gpu_class(part.kind, communicates)
    return _Work(part.kind, start, start + part.dur[here], classes)


def _split_stream(split: dict[int, I64]) -> ColumnStream | None:
    if not split:
        return None
    classes = len(GpuClass)
    return ColumnStream(
        {
            "device": np.repeat(np.array(list(split), np.int16), classes),
            "class": np.tile(np.arange(classes, dtype=np.uint8), len(split)),
            "ns": np.concatenate(list(split.values())),
        }
    )


def _busy_stream(busy: list[tuple[int, ...]]) -> ColumnStream | None:
    if not busy:
        return None
    names = ("device", "busy_ns", "kernel_count", "kernel_sum_ns", "first_ns", "last_ns")
    table = np.array(busy, np.int64)
    columns = {name: np.ascontiguousarray(table[:, at]) for at, name in enumerate(names)}
    return ColumnStream(columns)
