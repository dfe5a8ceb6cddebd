"""Memory that contexts took and gave back, where it was summed up as they ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..native import ColumnStream, intern_rows, sort_order
from .arrays import I32, I64
from .writer import StoreWriter

CPU: Final = -1


@dataclass(slots=True)
class PathMemory:
    """A row a context and device; rows of the same two add up."""

    node: I32
    device: I32
    """Number of the GPU as torch counts them; CPU: memory of the host."""
    allocations: I64
    bytes: I64
    freed_bytes: I64
    peak_bytes: I64
    """The most the allocator had in use after one of the allocations."""


def write_memory(writer: StoreWriter, parts: Sequence[PathMemory], nodes: I32) -> None:
    """Fill `path_memory`; nodes: the store's node of each value of `node`."""
    if not parts:
        return
    keys = [
        nodes[np.concatenate([part.node for part in parts])],
        np.concatenate([part.device for part in parts]),
    ]
    row, first = intern_rows(keys)
    columns: dict[str, I32 | I64] = {"node": keys[0][first], "device": keys[1][first]}
    for name in ("allocations", "bytes", "freed_bytes", "peak_bytes"):
        sums = np.zeros(len(first), np.int64)
        values = np.concatenate([getattr(part, name) for part in parts])
        (np.maximum if name == "peak_bytes" else np.add).at(sums, row, values)
        columns[name] = sums
    order = sort_order([columns["node"], columns["device"]])
    writer.insert("path_memory", ColumnStream(columns, order=order, nulls={"device": CPU}))
