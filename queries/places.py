"""Where single events stand: in the call-path tree, and among the kernels by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.model import GpuKind

if TYPE_CHECKING:
    from .trace import Trace


@dataclass(frozen=True, slots=True)
class WorkPlace:
    """Kind and short name of a piece of GPU work, and its node of the call-path tree."""

    kind: GpuKind
    name: str
    node: int | None


def host_node(trace: Trace, host: int) -> int | None:
    """Node of a `host_event.id`; None where it has none. NotReadyError while events are read."""
    rows = trace.event_rows("places.host", {"id": host})
    return None if not rows or rows[0][0] is None else int(rows[0][0])


def work_place(trace: Trace, work: int) -> WorkPlace | None:
    """Of a `gpu_op.id`. NotReadyError while events are read."""
    return _place(trace.event_rows("places.gpu", {"id": work}))


def work_named(trace: Trace, name: int) -> WorkPlace | None:
    """Of some work with this `string.id` as its full name (or short one, where that is all it
    has). NotReadyError while events are read."""
    return _place(trace.event_rows("places.named", {"name": name}))


def _place(rows: list[tuple[int, str, int | None]]) -> WorkPlace | None:
    if not rows:
        return None
    kind, name, node = rows[0]
    return WorkPlace(GpuKind(kind), name, node)
