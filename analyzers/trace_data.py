"""What the analyses of one trace share, read once: GPU work by device, calls by thread."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ingest.api_names import GRAPH_LAUNCHES, KERNEL_LAUNCHES, base_name
from ..ingest.comm import is_communication
from ..native import IntervalSets
from ..queries.capture import Device, devices
from ..queries.lanes import Lane, Process, lanes, process_devices, processes
from ..queries.ops import kernel_names, spans_named
from ..queries.timeline import (
    COPY_KINDS,
    RUNNING_KINDS,
    ApiCalls,
    GpuSpans,
    api_calls,
    gpu_spans,
)
from ..queries.trace import Trace

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

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
    ops: GpuSpans
    """Kernels and graph replays."""
    running: IntervalSets
    """When a kernel or a graph replay ran."""
    copies: IntervalSets
    only_copies: IntervalSets
    """Copies while no kernel and no graph ran."""
    nccl: IntervalSets
    communication: IntervalSets
    """NCCL and every other kernel that moves data between GPUs."""
    calls: ApiCalls
    launch_rows: I64
    """Calls that launch kernels or graphs: rows of `calls`."""
    graph_launch_rows: I64

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
    ops = gpu_spans(trace, RUNNING_KINDS)
    copies = gpu_spans(trace, COPY_KINDS)
    names = kernel_names(trace)
    calls = api_calls(trace)
    base = {name: base_name(text) for name, text in calls.names.items()}
    graph_launches = [name for name, text in base.items() if text in GRAPH_LAUNCHES]
    launches = [name for name, text in base.items() if text in KERNEL_LAUNCHES]
    running = IntervalSets(ops.device, ops.start_ns, ops.end_ns, count)
    copying = IntervalSets(copies.device, copies.start_ns, copies.end_ns, count)
    return TraceData(
        trace=trace,
        devices=all_devices,
        lanes=tuple(all_lanes),
        processes=processes(trace),
        owners=tuple(
            tuple(p for p, worked in owners.items() if device in worked) for device in range(count)
        ),
        ops=ops,
        running=running,
        copies=copying,
        only_copies=copying - running,
        nccl=_kernels(trace, (n for n, text in names.items() if _NCCL.search(text)), count),
        communication=_kernels(
            trace, (n for n, text in names.items() if is_communication(text)), count
        ),
        calls=calls,
        launch_rows=np.flatnonzero(calls.named([*launches, *graph_launches])),
        graph_launch_rows=np.flatnonzero(calls.named(graph_launches)),
    )


def _kernels(trace: Trace, names: Iterable[int], devices: int) -> IntervalSets:
    spans = spans_named(trace, list(names))
    return IntervalSets(spans.device, spans.start_ns, spans.end_ns, devices)
