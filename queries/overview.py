"""What the first screen and the text overview show, asked in one go."""

from __future__ import annotations

from dataclasses import dataclass

from .ancestry import display_paths
from .capture import Capture, DeviceTime, capture, device_times
from .kernels import OpStat, gpu_total, top_kernels
from .trace import Trace


@dataclass(frozen=True, slots=True)
class TopPath:
    """A context and the GPU work it launched itself."""

    node: int
    names: tuple[str, ...]
    """Display names from below the root to the context."""
    gpu_ns: int
    share: float
    """Of all GPU work of the trace."""
    kernels: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Summary of a trace. Lists are empty where nothing was recorded."""

    capture: Capture
    devices: list[DeviceTime]
    kernels: list[OpStat]
    """Heaviest first."""
    paths: list[TopPath]
    """Heaviest first."""


def overview(trace: Trace, top: int = 10) -> Overview:
    """The summary with the `top` heaviest kernels and paths. Reads summary tables only."""
    return Overview(
        capture(trace), device_times(trace), top_kernels(trace, top), top_paths(trace, top)
    )


def top_paths(trace: Trace, limit: int) -> list[TopPath]:
    """The contexts (API calls, annotations) that launched most GPU time, heaviest first."""
    rows = trace.rows("paths.top", {"limit": limit})
    names = display_paths(trace, [node for node, _, _ in rows])
    total = gpu_total(trace)
    return [
        TopPath(node, names[node], gpu_ns, gpu_ns / total if total else 0.0, kernels)
        for node, gpu_ns, kernels in rows
    ]
