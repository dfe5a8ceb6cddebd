"""Events as numpy columns, all of one length. A column that is None is not known for any row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import I16, I32, I64, NULL64, U8, Mask
from ..model import GpuKind

F64 = NDArray[np.float64]

_MISSING: Final[dict[str, Any]] = {
    "correlation": NULL64,
    "sequence": NULL64,
    "bytes": NULL64,
    "graph": NULL64,
    "graph_node": NULL64,
    "allocated": NULL64,
    "reserved": NULL64,
    "result": -(2**31),
    "kind": -(2**31),
    "address": NULL64,
    "recorded_dur": NULL64,
    "open": False,
    "flow_linked": False,
    "launches": False,
    "rank": 0,
}
"""What stands for NULL in a column; -1 (no row, no text) in all others."""


@dataclass(slots=True)
class HostEvents:
    """What threads did. Texts are ids of the pool, `frame` is a frame of the tree; `forward` and
    `preferred` are rows as Timeline.add_host numbers them; -1: none."""

    kind: U8
    lane: I32
    start: I64
    end: I64
    name: I32
    frame: I32 | None = None
    """What the event adds to the tree; needed where events nest."""
    rank: U8 | None = None
    """Equal intervals nest by it, lowest outermost. Default: by kind."""
    correlation: I64 | None = None
    args: I32 | None = None
    open: Mask | None = None
    domain: I32 | None = None
    result: I32 | None = None
    sequence: I64 | None = None
    collective: I32 | None = None
    forward: I32 | None = None
    """The forward operator of a backward one: its subtree hangs below that operator."""
    preferred: I32 | None = None
    """A parent that ids tell: it wins where containment lands above it."""
    chain: I32 | None = None
    """Frames between the parent's node and the event's own."""
    launches: Mask | None = None
    """Calls that launch GPU work. Default: those that work names as its launch."""

    def __len__(self) -> int:
        return len(self.lane)


@dataclass(slots=True)
class GpuOps:
    """What GPUs did, of one kind. Device and process are those of the lane. `launch` is a row as
    Timeline.add_host numbers them, -1: not recorded."""

    kind: GpuKind
    lane: I32
    start: I64
    dur: I64
    """Used for all sums."""
    name: I32
    full_name: I32 | None = None
    correlation: I64 | None = None
    launch: I32 | None = None
    base: I32 | None = None
    """Node of the tree to hang below where no launch is known; -1: the default."""
    chain: I32 | None = None
    """Frames between the launch and the operation."""
    config: I32 | None = None
    bytes: I64 | None = None
    graph: I64 | None = None
    graph_node: I64 | None = None
    args: I32 | None = None
    collective: I32 | None = None
    recorded_dur: I64 | None = None
    """As recorded, where that is impossible and `dur` was cut; NULL64 elsewhere."""
    flow_linked: Mask | None = None
    """A flow from the launch leads here."""

    def __len__(self) -> int:
        return len(self.lane)


@dataclass(slots=True)
class MemoryEvents:
    """Allocations (bytes > 0) and releases (< 0). Device -1: none, or not known (see `host`).
    `allocated` and `reserved` are the allocator's totals after the event."""

    time: I64
    bytes: I64
    device: I16
    process: I16
    lane: I32
    """Thread, -1 where not known."""
    address: I64 | None = None
    allocated: I64 | None = None
    reserved: I64 | None = None
    kind: I32 | None = None
    host: Mask | None = None
    """Memory of the host. Default: where there is no device."""

    def __len__(self) -> int:
        return len(self.time)


@dataclass(slots=True)
class Counters:
    """Values over time. Device -1 where not known; NaN where the recorded value is impossible."""

    device: I16
    name: I32
    time: I64
    value: F64

    def __len__(self) -> int:
        return len(self.time)


@dataclass(slots=True)
class Flows:
    """Points of arrows between events of threads, in the order of the arrows. `flow` numbers the
    arrows from 0, `phase` is a FlowPhase, `category` -1 where there is none."""

    flow: I32
    phase: U8
    lane: I32
    time: I64
    name: I32
    category: I32

    def __len__(self) -> int:
        return len(self.time)


Part = TypeVar("Part", HostEvents, GpuOps, MemoryEvents, Counters, Flows)


def joined(parts: Sequence[Part]) -> Part:
    """One set of columns of several, in order. ValueError without any."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        raise ValueError("nothing to join")
    first = parts[0]
    columns: dict[str, Any] = {}
    for field in fields(first):
        values = [getattr(part, field.name) for part in parts]
        if isinstance(values[0], GpuKind):
            columns[field.name] = values[0]
            continue
        known = next((value for value in values if value is not None), None)
        if known is not None:
            missing = _MISSING.get(field.name, -1)
            columns[field.name] = np.concatenate(
                [
                    np.full(len(part), missing, known.dtype) if value is None else value
                    for part, value in zip(parts, values, strict=True)
                ]
            )
    return type(first)(**columns)
