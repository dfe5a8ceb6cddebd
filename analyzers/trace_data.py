"""What the analyses of one trace share: when each GPU worked, and where the calls lie.

No column with a row per event is kept: the sets are what sweeps need, and who needs single events
reads them again (see `queries.timeline`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ingest.api_names import GRAPH_LAUNCHES, KERNEL_LAUNCHES, base_name
from ..ingest.comm import is_communication
from ..ingest.model import GpuKind
from ..native import IntervalSets
from ..queries.capture import Device, devices
from ..queries.lanes import Lane, Process, lanes, process_devices, processes
from ..queries.ops import kernel_names, spans_named
from ..queries.timeline import (
    COPY_KINDS,
    RUNNING_KINDS,
    ApiTable,
    Calls,
    api_table,
    calls_named,
    gpu_spans,
)
from ..queries.trace import Trace

I32 = NDArray[np.int32]

_NCCL = re.compile("nccl|rccl", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class TraceData:
    """Sets are by device; those of all trace time, no window cut."""

    trace: Trace
    devices: tuple[Device, ...]
    lanes: tuple[Lane, ...]
    processes: dict[int, Process]
    owners: tuple[tuple[int, ...], ...]
    """By device: the processes that worked on it."""
    running: IntervalSets
    """When a kernel or a graph replay ran."""
    copies: IntervalSets
    only_copies: IntervalSets
    """Copies while no kernel and no graph ran."""
    nccl: IntervalSets
    communication: IntervalSets
    """NCCL and every other kernel that moves data between GPUs."""
    calls: ApiTable
    launch_names: tuple[int, ...]
    """Of the calls that launch kernels or graphs: string ids."""
    graph_launches: Calls
    process: int | None = None
    """The process that launches are counted of; None: of all."""

    @property
    def device_count(self) -> int:
        return len(self.running)

    @property
    def lane_process(self) -> I32:
        """Process of each lane, the number of processes where it is not known."""
        unknown = self.process_count
        return np.array(
            [unknown if lane.process is None else lane.process for lane in self.lanes], np.int32
        )

    @property
    def process_count(self) -> int:
        return max(self.processes, default=-1) + 1

    @property
    def lanes_asked(self) -> NDArray[np.bool_]:
        """By lane: whether it belongs to what is judged."""
        if self.process is None:
            return np.ones(len(self.lanes), np.bool_)
        asked: NDArray[np.bool_] = self.lane_process == self.process
        return asked

    def devices_of(self, process: int) -> tuple[int, ...]:
        """The devices that a process worked on."""
        return tuple(d for d, owners in enumerate(self.owners) if process in owners)

    def base_names(self) -> dict[int, str]:
        """Name of a call without version, by string id."""
        return {name: base_name(text) for name, text in self.calls.names.items()}


def read_trace_data(trace: Trace) -> TraceData:
    """Read the columns. NotReadyError while events are being loaded."""
    all_devices = tuple(devices(trace))
    count = max((device.device for device in all_devices), default=-1) + 1
    all_lanes = lanes(trace)
    owners = process_devices(all_lanes)
    names = kernel_names(trace)
    calls = api_table(trace)
    base = {name: base_name(text) for name, text in calls.names.items()}
    graph_launches = [name for name, text in base.items() if text in GRAPH_LAUNCHES]
    launches = [name for name, text in base.items() if text in KERNEL_LAUNCHES]
    running = device_sets(trace, RUNNING_KINDS, count)
    copying = device_sets(trace, COPY_KINDS, count)
    return TraceData(
        trace=trace,
        devices=all_devices,
        lanes=tuple(all_lanes),
        processes=processes(trace),
        owners=tuple(
            tuple(p for p, worked in owners.items() if device in worked) for device in range(count)
        ),
        running=running,
        copies=copying,
        only_copies=copying - running,
        nccl=_kernels(trace, (n for n, text in names.items() if _NCCL.search(text)), count),
        communication=_kernels(
            trace, (n for n, text in names.items() if is_communication(text)), count
        ),
        calls=calls,
        launch_names=(*launches, *graph_launches),
        graph_launches=calls_named(trace, calls, graph_launches),
    )


def device_sets(trace: Trace, kinds: Sequence[GpuKind], devices: int) -> IntervalSets:
    """When operations of these kinds ran, by device."""
    spans = gpu_spans(trace, kinds)
    return IntervalSets(spans.place, spans.start_ns, spans.end_ns, devices)


def _kernels(trace: Trace, names: Iterable[int], devices: int) -> IntervalSets:
    spans = spans_named(trace, list(names))
    return IntervalSets(spans.device, spans.start_ns, spans.end_ns, devices)
