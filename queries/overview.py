"""What the first screen and the text overview show, asked in one go."""

from __future__ import annotations

from dataclasses import dataclass

from ..ingest.model import Layer
from .ancestry import ancestries
from .capture import Capture, DeviceTime, capture, device_times
from .kernels import OpStat, gpu_total, top_kernels
from .trace import Trace


@dataclass(frozen=True, slots=True)
class TopPath:
    """A context and the GPU work it launched itself."""

    node: int
    names: tuple[str, ...]
    """Display names from below the root to the context."""
    layers: tuple[Layer, ...]
    """Of the names, one each."""
    gpu_ns: int
    share: float
    """Of all GPU work of the trace."""
    kernels: int


@dataclass(frozen=True, slots=True)
class HostPath:
    """A context and the time its thread spent in itself."""

    node: int
    names: tuple[str, ...]
    """Display names from below the root to the context."""
    layers: tuple[Layer, ...]
    """Of the names, one each."""
    self_ns: int
    share: float
    """Of the time of all contexts of all threads."""
    calls: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Summary of a trace. Lists are empty where nothing was recorded."""

    capture: Capture
    devices: list[DeviceTime]
    kernels: list[OpStat]
    """Heaviest first."""
    paths: list[TopPath]
    """Heaviest first."""
    host_paths: list[HostPath]
    """Heaviest first; asked only where no GPU work was recorded."""


def overview(trace: Trace, top: int = 10) -> Overview:
    """The summary with the `top` heaviest kernels and paths. Reads summary tables only."""
    facts = capture(trace)
    return Overview(
        capture=facts,
        devices=device_times(trace),
        kernels=top_kernels(trace, top),
        paths=top_paths(trace, top),
        host_paths=top_host_paths(trace, top) if facts.gpu_window_ns is None else [],
    )


def top_host_paths(trace: Trace, limit: int) -> list[HostPath]:
    """The contexts that took most time of their threads themselves, heaviest first."""
    rows = trace.rows("paths.top_host", {"limit": limit})
    ways = ancestries(trace, [node for node, _, _ in rows])
    [(total,)] = trace.rows("paths.host_total")
    return [
        HostPath(
            node=node,
            names=ways[node].names,
            layers=ways[node].layers,
            self_ns=self_ns,
            share=self_ns / total,
            calls=calls,
        )
        for node, self_ns, calls in rows
    ]


def top_paths(trace: Trace, limit: int) -> list[TopPath]:
    """The contexts (API calls, annotations) that launched most GPU time, heaviest first."""
    rows = trace.rows("paths.top", {"limit": limit})
    ways = ancestries(trace, [node for node, _, _ in rows])
    total = gpu_total(trace)
    return [
        TopPath(
            node=node,
            names=ways[node].names,
            layers=ways[node].layers,
            gpu_ns=gpu_ns,
            share=gpu_ns / total if total else 0.0,
            kernels=kernels,
        )
        for node, gpu_ns, kernels in rows
    ]
