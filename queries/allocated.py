"""Memory that contexts took and gave back, where a trace tells sums of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .trace import Trace


@dataclass(frozen=True, slots=True)
class Allocated:
    """By a context and what it called."""

    device: int | None
    """Number of the GPU; None: memory of the host."""
    allocations: int
    bytes: int
    """Sizes of the allocations, summed."""
    freed_bytes: int
    """Given back meanwhile, whoever took it."""
    peak_bytes: int
    """The most the allocator had in use after one of the allocations: by all of the process."""


def allocated_below(trace: Trace, node: int, last: int) -> list[Allocated]:
    """Of a context whose subtree ends at `last`, by device; empty where it is not recorded."""
    rows = trace.rows("allocated.below", {"node": node, "last": last})
    return [Allocated(*row) for row in rows]
