"""What contexts allocated: the chunk MEM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..arrays import I32
from ..path_memory import CPU, PathMemory
from .table import Table

_CPU_TYPE: Final = 0
_VALUES: Final = 4


@dataclass(slots=True)
class MemoryRows:
    """Of one process."""

    rows: dict[tuple[int, int, int, int], tuple[int, ...]] = field(
        default_factory=dict[tuple[int, int, int, int], tuple[int, ...]]
    )
    """By thread, node, type of device and its index: allocations, bytes, bytes given back, peak."""

    def take(self, table: Table, nodes: int) -> bool:
        """Sums of a thread that has so many nodes, in place of what was told of the same rows;
        False when a row refers to what is not there."""
        columns = [table.integers(column).tolist() for column in range(3 + _VALUES)]
        for node, kind, index, *values in zip(*columns, strict=True):
            self.rows[table.owner, node, kind, index] = tuple(values)
        return all(0 <= node < nodes for node in columns[0])

    def found(self, nodes: dict[int, I32]) -> PathMemory | None:
        """`nodes`: by thread the store's node of each of its nodes. None when there is nothing."""
        if not self.rows:
            return None
        node = [int(nodes[thread][node]) for thread, node, _, _ in self.rows]
        device = [CPU if kind == _CPU_TYPE else max(at, 0) for _, _, kind, at in self.rows]
        allocations, size, freed, peak = np.array(list(self.rows.values()), np.int64).T
        return PathMemory(
            np.array(node, np.int32),
            np.array(device, np.int32),
            np.ascontiguousarray(allocations),
            np.ascontiguousarray(size),
            np.ascontiguousarray(freed),
            np.ascontiguousarray(peak),
        )
