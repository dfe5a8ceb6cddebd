"""What the first screen and the text overview show, asked in one go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..ingest.model import GpuKind, Layer
from .ancestry import ancestries
from .capture import Capture, DeviceTime, capture, device_times
from .kernels import OpStat, ops_below, top_kernels
from .operators import OperatorStat, top_operators
from .trace import Trace

if TYPE_CHECKING:
    from .ranks import Rank


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
    """Of all GPU work of the trace, or of the rank."""
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
    operators: list[OperatorStat] = field(default_factory=list["OperatorStat"])
    """Heaviest first; empty where the trace has none."""


def overview(trace: Trace, top: int = 10, rank: Rank | None = None) -> Overview:
    """The summary with the `top` heaviest kernels and paths, of one rank or all of them; the facts
    of the capture are of all. Reads summary tables only."""
    facts = capture(trace)
    times = device_times(trace)
    if rank is None:
        kernels = top_kernels(trace, top)
    else:
        kernels = ops_below(trace, rank.nodes, kinds=(GpuKind.KERNEL,), limit=top)
        times = [time for time in times if time.device in rank.devices]
    return Overview(
        capture=facts,
        devices=times,
        kernels=kernels,
        paths=top_paths(trace, top, rank),
        host_paths=top_host_paths(trace, top, rank) if facts.gpu_window_ns is None else [],
        operators=top_operators(trace, top, rank),
    )


def top_host_paths(trace: Trace, limit: int, rank: Rank | None = None) -> list[HostPath]:
    """The contexts that took most time of their threads themselves, heaviest first."""
    rows = trace.rows("paths.top_host", {**_within(rank), "limit": limit})
    ways = ancestries(trace, [node for node, _, _ in rows])
    [(total,)] = trace.rows("paths.host_total", _within(rank))
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


def top_paths(trace: Trace, limit: int, rank: Rank | None = None) -> list[TopPath]:
    """The contexts (API calls, annotations) that launched most GPU time, heaviest first."""
    rows = trace.rows("paths.top", {**_within(rank), "limit": limit})
    ways = ancestries(trace, [node for node, _, _, _ in rows])
    return [
        TopPath(
            node=node,
            names=ways[node].names,
            layers=ways[node].layers,
            gpu_ns=gpu_ns,
            share=gpu_ns / total if total else 0.0,
            kernels=kernels,
        )
        for node, gpu_ns, kernels, total in rows
    ]


def _within(rank: Rank | None) -> dict[str, object]:
    first, last = (None, None) if rank is None else rank.nodes
    return {"first": first, "last": last}
