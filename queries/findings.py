"""What the analyzers of findings read besides the columns of reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.model import NO_WORK
from ..ingest.profile_values import RAN_ONCE
from .trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    Bits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WorkPlaces:
    """Where GPU work lies, in the order of `report_events.work`."""

    node: I32
    """Path node, -1 where it is not known."""
    in_graph: Bits
    """A node of a CUDA graph."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the trace tells of a device. None: not recorded."""

    sm_count: int | None
    compute_major: int | None


@dataclass(frozen=True, slots=True)
class Reserve:
    """The allocator of a device at its highest marks."""

    device: int
    reserved_bytes: int
    """Taken from the device."""
    allocated_bytes: int
    """In use."""


def event_count(trace: Trace) -> int:
    """Events of the host and work of the GPU. Reads events."""
    [(count,)] = trace.event_rows("findings.event_count")
    return int(count)


def host_visits(trace: Trace) -> dict[str, NDArray[np.int64]]:
    """How often contexts ran on the host, and for how long with all below: `node`, `calls`,
    `sum_ns`, `max_ns`. Reads summary tables only."""
    return trace.arrays("findings.host_visits")


def ran_once(trace: Trace) -> dict[str, NDArray[np.int64]]:
    """Own host time of contexts that the program spent once: `node`, `ns`; empty where the trace
    does not tell. Reads summary tables only."""
    return trace.arrays("findings.ran_once", {"name": RAN_ONCE})


def host_nodes(trace: Trace) -> I32:
    """Path node of each host event by id, -1 outside the tree. Reads events."""
    return trace.event_arrays("findings.host_nodes")["node"]


def work_places(trace: Trace) -> WorkPlaces:
    """Of all GPU work whose device is known. Reads events."""
    kinds = sorted(int(kind) for kind in NO_WORK)
    return WorkPlaces(**trace.event_arrays("findings.gpu_nodes", {"no_work": kinds}))


def hardware(trace: Trace) -> dict[int, Hardware]:
    """By device."""
    return {device: Hardware(*row) for device, *row in trace.rows("findings.sm_counts")}


def reserves(trace: Trace) -> list[Reserve]:
    """Of the devices whose allocator was recorded. Reads events."""
    return [Reserve(*row) for row in trace.event_rows("findings.peak_memory")]
