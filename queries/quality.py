"""What is odd about the events of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..ingest.model import NO_WORK, GpuKind
from .trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NO_WORK = {"no_work": sorted(int(kind) for kind in NO_WORK)}


@dataclass(frozen=True, slots=True)
class Lengths:
    """Counts of GPU work."""

    unlinked: int
    """Neither its launch nor its operator is in the trace."""
    unlinked_ns: int
    work: int
    empty: int
    """Without length."""
    cut: int
    """Whose recorded duration cannot be."""


@dataclass(frozen=True, slots=True)
class GraphLaunches:
    """Launches of graphs whose operations were recorded one by one."""

    short: int
    """With fewer operations than another launch of the same graph."""
    launches: int
    short_ns: int


def lengths(trace: Trace) -> Lengths:
    """Reads events."""
    [row] = trace.event_rows("quality.lengths", _NO_WORK)
    return Lengths(*row)


_LONG_NS: Final = 1_000_000
_TIMES: Final = 10.0


def overruns(trace: Trace) -> list[tuple[int, int, int]]:
    """Work of at least 1 ms, and ten times the median of its name, that runs on when the next on
    its stream begins: `gpu_op.id`, that start, and by how many ns; by id. Reads events."""
    parameters = {**_NO_WORK, "long_ns": _LONG_NS, "times": _TIMES}
    return [(*row,) for row in trace.event_rows("quality.overruns", parameters)]


def early_work(trace: Trace) -> tuple[int, int]:
    """Work that begins before its launch: how many, and the largest lead in ns. Reads events."""
    [(count, lead_ns)] = trace.event_rows("quality.early", _NO_WORK)
    return count, lead_ns


def graph_launches(trace: Trace) -> GraphLaunches:
    """Reads events."""
    [row] = trace.event_rows("quality.graph_launches", {"whole": int(GpuKind.GRAPH)})
    return GraphLaunches(*row)


def work_starts(trace: Trace) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Device and start of all GPU work, by both. Reads events."""
    columns = trace.event_arrays("quality.work_starts", _NO_WORK)
    return columns["device"], columns["start_ns"]
