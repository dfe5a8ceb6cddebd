"""Allocations and releases of XLA's allocators."""

import re
from typing import Final

import numpy as np

from ...native import intern_rows
from ..arrays import I32, I64, NULL64
from ..timeline import MemoryEvents, Timeline
from .recording import Recording

_DEVICE: Final = re.compile(r"GPU_(\d{1,4})_\w+")
"""An allocator's name; those of the host are called otherwise (`xla_gpu_host_bfc`)."""


def ordinals(recording: Recording, events: I64) -> tuple[I32, set[int]]:
    """Ordinal of the GPU whose memory each event is about (-1: the host's), and all of them."""
    names = recording.text("allocator_name")[events]
    if not len(events):
        return np.empty(0, np.int32), set()
    number, first = intern_rows([names])
    texts = ["" if name < 0 else recording.pool[name] for name in names[first].tolist()]
    found = [_DEVICE.fullmatch(text) for text in texts]
    ordinal = np.array([int(item[1]) if item else -1 for item in found], np.int32)
    return ordinal[number], {int(item[1]) for item in found if item}


def add_memory(
    line: Timeline,
    recording: Recording,
    events: I64,
    ordinal: I32,
    device: dict[int, int],
    lane_of: I32,
    process: int,
) -> int:
    """Add the events whose size is told. Returns how many are left out."""
    size = recording.number("allocation_bytes")[events]
    told = size != NULL64
    rows, ordinal, size = events[told], ordinal[told], size[told]
    freed = recording.name[rows] == line.pool.intern("MemoryDeallocation")
    table = np.full(max(device, default=-1) + 2, -1, np.int16)  # -1 marks the last
    for known, number in device.items():
        table[known] = number
    line.add_memory(
        MemoryEvents(
            time=recording.start[rows],
            bytes=np.where(freed, -size, size),
            device=table[ordinal],
            process=np.full(len(rows), process, np.int16),
            lane=lane_of[recording.line[rows]],
            address=recording.number("addr")[rows],
            allocated=recording.number("bytes_allocated")[rows],
        )
    )
    return int((~told).sum())
