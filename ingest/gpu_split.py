"""How the time of a GPU splits: one definition, for the store and for reports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..native import cover
from .model import GpuClass, GpuKind

I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]


def gpu_class(kind: U8 | GpuKind, communicates: NDArray[np.bool_]) -> U8:
    """The `GpuClass` of each piece of work; `communicates` marks kernels that move data between
    GPUs. Memory sets and whole graph replays are computation."""
    copies = np.asarray(kind == GpuKind.MEMCPY)
    other = np.where(copies, GpuClass.COPY_EXPOSED, GpuClass.COMPUTE)
    return np.where(communicates, GpuClass.COMM_EXPOSED, other).astype(np.uint8)


def gpu_split(of: U8, start: I64, end: I64, window: tuple[int, int] | None = None) -> I64:
    """Time in ns of each `GpuClass` of one device in a window, by default from its first start to
    its last end; `of` is the class of each piece. They sum to the window exactly: where classes
    overlap, computation takes the instant before communication, and that before copies; idle is
    what is left."""
    if window is None:
        window = (int(start.min()), int(end.max())) if len(start) else (0, 0)
    group = np.zeros(len(start), np.int32)
    split: I64 = cover(group, of, start, end, 1, int(GpuClass.IDLE), window)[0]
    return split
