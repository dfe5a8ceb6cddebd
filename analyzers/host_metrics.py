"""The metrics of a window or a phase: idle time, launch cost, exposed preparation, communication.

Device figures are taken per device and summed over the devices that take part: idle time of one GPU
never hides behind another one's work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..native import IntervalSets
from ..queries.ranges import ranges_named
from .launches import LaunchCost, LaunchTimes, launch_cost
from .steps import Steps
from .trace_data import TraceData
from .verdict import Metrics
from .windows import Parts, spread_over_devices

I32 = NDArray[np.int32]

PARTICIPATES = 0.05
"""A device with less busy time than this share of the busiest one's takes no part."""

NO_GPU_WORK = "no kernel or graph ran on a GPU in the window"
NO_CALLS = "the trace has no CUDA API call"
NO_LAUNCHES = "the trace has no launch call"
NO_PREP = "no range that prepares inputs was found"
HIDDEN_GRAPHS = (
    "graphs were launched, but the trace has neither their replays nor their kernels: "
    "record again with --cuda-graph-trace=node"
)


@dataclass(frozen=True, slots=True)
class DeviceFigures:
    """One device inside the windows; times in ns, all unions."""

    device: int
    label: str
    window_ns: int
    busy_ns: int
    """A kernel or a graph replay ran."""
    copy_only_ns: int
    """Only copies ran."""
    nccl_ns: int
    communication_ns: int
    prep_ns: int
    """Preparation on the host, of the processes that work on it."""
    prep_exposed_ns: int
    """Of it, while the device was idle."""
    takes_part: bool

    @property
    def idle_ns(self) -> int:
        """No kernel and no graph ran; copies do not count as work."""
        return self.window_ns - self.busy_ns

    @property
    def idle_ratio(self) -> float:
        return self.idle_ns / self.window_ns if self.window_ns else 0.0

    @property
    def nccl_ratio(self) -> float | None:
        return self.nccl_ns / self.busy_ns if self.busy_ns else None

    @property
    def comm_ratio(self) -> float | None:
        return self.communication_ns / self.busy_ns if self.busy_ns else None


@dataclass(frozen=True, slots=True)
class Measured:
    """Metrics and what they were made from."""

    metrics: Metrics
    devices: tuple[DeviceFigures, ...]
    launch: LaunchCost | None
    comm_ratio: float | None
    """As nccl_ratio, with every kernel that moves data between GPUs."""
    prep_ns: int | None
    """Sum over devices; None where no range prepares inputs."""
    prep_exposed_ns: int | None

    @property
    def taking_part(self) -> tuple[DeviceFigures, ...]:
        return tuple(device for device in self.devices if device.takes_part)

    @property
    def idle_spread(self) -> float:
        """Between the devices that take part."""
        ratios = [device.idle_ratio for device in self.taking_part]
        return max(ratios) - min(ratios) if ratios else 0.0


def prep_sets(data: TraceData, steps: Steps) -> IntervalSets | None:
    """Ranges that prepare inputs, by device of their process; None where there are none."""
    if not steps.prep:
        return None
    ranges = ranges_named(data.trace, list(steps.prep))
    process = data.lane_process[ranges.lane]
    return spread_over_devices(process, ranges.start_ns, ranges.end_ns, data)


def measure(
    data: TraceData,
    parts: Parts,
    times: LaunchTimes,
    prep: IntervalSets | None,
    *,
    hidden_graphs: bool = False,
) -> Measured:
    """Measure the windows `parts`. hidden_graphs: GPU work ran that nobody recorded, so that what
    is known of the GPUs' time is worth nothing."""
    devices = _devices(data, parts, prep)
    taking_part = [device for device in devices if device.takes_part]
    launch = launch_cost(times, parts, data)
    missing: dict[str, str] = {}
    if launch is None:
        missing["launch_overhead_ratio"] = NO_LAUNCHES if len(data.calls) else NO_CALLS
    window = sum(device.window_ns for device in taking_part)
    busy = sum(device.busy_ns for device in taking_part)
    no_gpu = HIDDEN_GRAPHS if hidden_graphs else NO_GPU_WORK
    known = bool(window) and not hidden_graphs
    prep_ns = exposed_ns = None
    if prep is not None:
        prep_ns = sum(device.prep_ns for device in taking_part)
        exposed_ns = sum(device.prep_exposed_ns for device in taking_part)
    if not known:
        missing |= dict.fromkeys(("gpu_idle_ratio", "gpu_utilization", "nccl_ratio"), no_gpu)
    prep_names = (
        "host_prep_exposed_ratio",
        "host_prep_perf_impact",
        "host_prep_idle_attribution",
    )
    if not known or not prep_ns:
        missing |= dict.fromkeys(prep_names, NO_PREP if known else no_gpu)
    values: dict[str, float] = {}
    comm_ratio: float | None = None
    if known:
        copies = sum(device.copy_only_ns for device in taking_part)
        nccl = [device.nccl_ratio for device in taking_part if device.nccl_ratio is not None]
        values["gpu_idle_ratio"] = (window - busy) / window
        values["gpu_utilization"] = busy / window
        values["idle_without_copies"] = (window - busy - copies) / window
        if busy:
            values["nccl_ratio"] = sum(device.nccl_ns for device in taking_part) / busy
            values["nccl_highest"] = max(nccl)
            comm_ratio = sum(device.communication_ns for device in taking_part) / busy
        if prep_ns and exposed_ns is not None:
            values["host_prep_exposed_ratio"] = exposed_ns / prep_ns
            values["host_prep_perf_impact"] = exposed_ns / window
            values["host_prep_idle_attribution"] = (
                exposed_ns / (window - busy) if window > busy else 0.0
            )
    if launch is not None:
        values["launch_overhead_ratio"] = launch.net_ratio
        values["launch_gross_ratio"] = launch.gross_ratio
    return Measured(
        metrics=Metrics(**values, missing=missing),
        devices=tuple(devices),
        launch=launch,
        comm_ratio=comm_ratio,
        prep_ns=prep_ns,
        prep_exposed_ns=exposed_ns,
    )


def _devices(data: TraceData, parts: Parts, prep: IntervalSets | None) -> list[DeviceFigures]:
    windows = parts.by_device
    length = windows.lengths().tolist()
    busy = windows.overlap(data.running).tolist()
    copy_only = windows.overlap(data.only_copies).tolist()
    nccl = windows.overlap(data.nccl).tolist()
    communication = windows.overlap(data.communication).tolist()
    prep_ns = exposed = [0] * data.device_count
    if prep is not None:
        inside = prep & windows
        prep_ns = inside.lengths().tolist()
        exposed = (inside.lengths() - inside.overlap(data.running)).tolist()
    busiest = max(busy, default=0)
    worked = _worked(data)
    return [
        DeviceFigures(
            device=device.device,
            label=device.label,
            window_ns=length[device.device],
            busy_ns=busy[device.device],
            copy_only_ns=copy_only[device.device],
            nccl_ns=nccl[device.device],
            communication_ns=communication[device.device],
            prep_ns=prep_ns[device.device],
            prep_exposed_ns=exposed[device.device],
            takes_part=busiest > 0 and busy[device.device] >= PARTICIPATES * busiest,
        )
        for device in data.devices
        if device.device in worked
    ]


def _worked(data: TraceData) -> Sequence[int]:
    """Devices with any GPU work in the trace."""
    lengths = data.running.lengths() + data.copies.lengths()
    devices: list[int] = np.flatnonzero(lengths).tolist()
    return devices
