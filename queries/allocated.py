"""Memory that contexts took and gave back, where a trace tells sums of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .memory import MemoryContext, contexts_of

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


@dataclass(frozen=True, slots=True)
class Allocating:
    """One device of a trace that sums allocations up, over all processes."""

    total: Allocated
    taking: list[MemoryContext]
    """Contexts by what they took themselves, most first."""
    keeping: list[MemoryContext]
    """… by what they took more than was given back while they ran."""


def allocating(trace: Trace, *, limit: int = 30) -> list[Allocating]:
    """By device, the host first; empty where sums of allocations are not recorded."""
    [(last,)] = trace.rows("allocated.last_node")
    found: list[Allocating] = []
    for total in allocated_below(trace, 0, last):
        key = {"device": total.device, "limit": limit}
        taking = contexts_of(trace, trace.rows("allocated.contexts", key))
        keeping = contexts_of(trace, trace.rows("allocated.kept", key))
        found.append(Allocating(total, taking, keeping))
    return found
