"""One kernel from inside: how it is launched, what limits it on a multiprocessor, how its launches
spread, who launches it, and how to learn the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.detect import Content
from ..ingest.model import GpuKind
from ..queries.capture import capture
from ..queries.kernel_panel import (
    LaunchCounter,
    Outliers,
    PanelDevice,
    Shape,
    launch_counters,
    outliers,
    panel_devices,
    shapes,
)
from ..queries.kernels import (
    Caller,
    Histogram,
    OpSelection,
    OpStat,
    callers,
    duration_histogram,
)
from ..queries.stalls import stall_rows
from .collect_command import ncu_command, rocprof_command
from .kernel_samples import KernelSamples, of_trace
from .occupancy import Occupancy, OccupancyError, Waves, occupancy, waves

if TYPE_CHECKING:
    from ..queries.trace import Trace

LISTED = 20
"""Shapes, callers and slow launches of a panel at most."""


@dataclass(frozen=True, slots=True)
class ShapeUse:
    """One launch shape and how it uses its device."""

    shape: Shape
    device: PanelDevice | None
    occupancy: Occupancy | None
    no_occupancy: str
    """Why it is not known; empty where it is."""
    waves: Waves | None
    no_waves: str


@dataclass(frozen=True, slots=True)
class KernelPanel:
    """All that is known of the launches of one name."""

    op: OpStat
    shapes: tuple[ShapeUse, ...]
    """Most time first, at most `LISTED`."""
    histogram: Histogram | None
    outliers: Outliers | None
    callers: tuple[Caller, ...]
    devices: dict[int, PanelDevice]
    counters: tuple[LaunchCounter, ...]
    """Of single launches, where the recording has some."""
    samples: KernelSamples | None
    """Sampled instructions, where the trace itself recorded some."""
    no_samples: str
    """Why there are none; empty where there are some."""
    collect: str
    """The command that collects samples of this kernel."""


def kernel_panel(
    trace: Trace,
    op: OpStat,
    *,
    device: int | None = None,
    nodes: tuple[int, int] | None = None,
) -> KernelPanel:
    """Of the launches on a device and in a subtree (node ids first to last), by default of all.
    Reads events: NotReadyError while they are being loaded."""
    selection = OpSelection(op.kind, name_id=op.name_id, nodes=nodes, device=device)
    known = panel_devices(trace)
    samples = of_trace(stall_rows(trace, op.name_id, device=device, nodes=nodes))
    found = tuple(shape_use(shape, known) for shape in shapes(trace, selection, LISTED))
    return KernelPanel(
        op,
        found,
        duration_histogram(trace, selection),
        outliers(trace, selection, LISTED),
        tuple(callers(trace, op.kind, op.name_id, LISTED, device=device, nodes=nodes)),
        known,
        tuple(launch_counters(trace, selection)),
        samples,
        "" if samples is not None else _no_samples(op, capture(trace).format),
        _collect(op, known),
    )


def shape_use(shape: Shape, devices: dict[int, PanelDevice]) -> ShapeUse:
    """Occupancy and waves, or why they are not known."""
    device = None if shape.device is None else devices.get(shape.device)
    try:
        found = _occupancy(shape, device)
    except OccupancyError as error:
        why = str(error)
        return ShapeUse(shape, device, None, why, None, why)
    try:
        if device is None or device.multiprocessors is None:
            raise OccupancyError("the trace does not tell how many multiprocessors the GPU has")
        assert shape.grid is not None
        return ShapeUse(
            shape, device, found, "", waves(shape.grid, found.blocks, device.multiprocessors), ""
        )
    except OccupancyError as error:
        return ShapeUse(shape, device, found, "", None, str(error))


def _occupancy(shape: Shape, device: PanelDevice | None) -> Occupancy:
    if device is not None and is_amd(device):
        raise OccupancyError("traces of ROCm do not tell all registers that a kernel takes")
    if device is None or device.compute is None:
        raise OccupancyError("the trace does not tell the GPU's compute capability")
    if shape.block is None or shape.grid is None:
        raise OccupancyError("the trace does not tell the launch shape")
    if shape.registers is None:
        raise OccupancyError("the trace does not tell the kernel's registers")
    if shape.shared_bytes is None:
        raise OccupancyError("the trace does not tell the kernel's shared memory")
    x, y, z = shape.block
    return occupancy(device.compute, x * y * z, shape.registers, shape.shared_bytes)


def is_amd(device: PanelDevice) -> bool:
    """Told by its name."""
    name = device.name.lower()
    return any(word in name for word in ("amd", "instinct", "radeon", "gfx"))


def _no_samples(op: OpStat, trace_format: str) -> str:
    if op.kind is not GpuKind.KERNEL:
        return "this is no kernel"
    if trace_format == Content.ROCPD:
        return "a rocpd database holds no samples: rocprofv3 writes them to JSON and CSV"
    return "the trace has no samples of instructions"


def _collect(op: OpStat, devices: dict[int, PanelDevice]) -> str:
    if op.kind is not GpuKind.KERNEL:
        return ""
    amd = bool(devices) and all(map(is_amd, devices.values()))
    return rocprof_command() if amd else ncu_command(op.name)
