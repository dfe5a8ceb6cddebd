"""GPU work by name: totals, callers, launch shapes, distribution of durations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from ..ingest.model import GpuKind, Layer
from .ancestry import ancestries
from .trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]

GPU_WORK = (GpuKind.KERNEL, GpuKind.MEMCPY, GpuKind.MEMSET, GpuKind.GRAPH)
"""The kinds that are GPU time; a synchronisation is a wait."""

LAYER_OF_KIND = {
    GpuKind.KERNEL: Layer.KERNEL,
    GpuKind.MEMCPY: Layer.MEMCPY,
    GpuKind.MEMSET: Layer.MEMSET,
    GpuKind.GRAPH: Layer.GRAPH,
}
KIND_OF_LAYER = {layer: kind for kind, layer in LAYER_OF_KIND.items()}


@dataclass(frozen=True, slots=True)
class OpStat:
    """GPU operations of one kind and name. Times are ns of the operations' own durations."""

    kind: GpuKind
    name: str
    name_id: int
    comm: bool
    """A communication kernel (NCCL, all-reduce, …)."""
    count: int
    sum_ns: int
    min_ns: int | None
    """None here, as in the next two, where only the sum was recorded."""
    max_ns: int | None
    stddev_ns: float | None
    share: float | None
    """Of all GPU work of the selection (kernels, copies, memsets, graph replays); None for waits
    and where there is no GPU work."""
    bytes: int | None

    @property
    def mean_ns(self) -> float:
        return self.sum_ns / self.count


@dataclass(frozen=True, slots=True)
class Caller:
    """A calling context that launched operations of one name."""

    node: int
    """Node of the operation itself in the call-path tree."""
    names: tuple[str, ...]
    """Display names from below the root to the launching context."""
    gpu_ns: int
    count: int
    share: float
    """Of the time of all operations of this name."""
    layers: tuple[Layer, ...] = ()
    """Of the names, one each; empty where they are not told."""


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Launches of one shape. Values the trace does not tell are None."""

    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    registers: int | None
    """Per thread."""
    shared_bytes: int | None
    """Per block: static and dynamic."""
    count: int
    sum_ns: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """Durations in log-spaced buckets: bucket i holds edges_ns[i] <= duration < edges_ns[i + 1]."""

    edges_ns: tuple[int, ...]
    counts: tuple[int, ...]
    min_ns: int
    p50_ns: int
    p99_ns: int
    max_ns: int


@dataclass(frozen=True, slots=True)
class OpSelection:
    """Which GPU operations: one kind, by name, by subtree (node ids first to last) and device."""

    kind: GpuKind = GpuKind.KERNEL
    name_id: int | None = None
    nodes: tuple[int, int] | None = None
    device: int | None = None

    def parameters(self) -> dict[str, object]:
        first, last = self.nodes or (None, None)
        return {
            "kind": int(self.kind),
            "name": self.name_id,
            "first": first,
            "last": last,
            "device": self.device,
        }


def gpu_total(trace: Trace, device: int | None = None) -> int:
    """ns of all GPU work (kernels, copies, memsets, graph replays), 0 when there is none."""
    [(total,)] = trace.rows("kernels.gpu_total", {"sync": int(GpuKind.SYNC), "device": device})
    return int(total)


def op_stats(
    trace: Trace,
    *,
    kinds: Sequence[GpuKind] = GPU_WORK,
    device: int | None = None,
    limit: int | None = None,
) -> list[OpStat]:
    """Totals by kind and name, most time first. Reads summary tables only."""
    total = gpu_total(trace, device)
    rows = trace.rows(
        "kernels.op_stats",
        {"kinds": [int(kind) for kind in kinds], "device": device, "limit": limit},
    )
    return [op_stat(*row, total=total) for row in rows]


def top_kernels(trace: Trace, limit: int, *, device: int | None = None) -> list[OpStat]:
    """The kernels that took most time. Reads summary tables only."""
    return op_stats(trace, kinds=(GpuKind.KERNEL,), device=device, limit=limit)


def op_stat(
    kind: int,
    name_id: int,
    name: str,
    comm: bool,
    count: int,
    sum_ns: int,
    min_ns: int | None,
    max_ns: int | None,
    sumsq: float | None,
    size: int | None,
    *,
    total: int,
) -> OpStat:
    """An OpStat from the sums of a row; `total` is what shares are of."""
    variance = None if sumsq is None else sumsq / count - (sum_ns / count) ** 2
    return OpStat(
        kind=GpuKind(kind),
        name=name,
        name_id=name_id,
        comm=comm,
        count=count,
        sum_ns=sum_ns,
        min_ns=min_ns,
        max_ns=max_ns,
        stddev_ns=None if variance is None else sqrt(max(variance, 0.0)),
        share=None if total == 0 or kind == GpuKind.SYNC else sum_ns / total,
        bytes=size,
    )


def ops_below(
    trace: Trace,
    nodes: tuple[int, int],
    *,
    kinds: Sequence[GpuKind] = GPU_WORK,
    device: int | None = None,
    limit: int | None = None,
) -> list[OpStat]:
    """As `op_stats`, of the work launched in a subtree (node ids first to last) alone; shares are
    of all GPU work of it. Reads summary tables only."""
    first, last = nodes
    layers = [int(LAYER_OF_KIND[kind]) for kind in sorted(LAYER_OF_KIND)]
    rows = trace.rows(
        "paths.ops_below", {"first": first, "last": last, "layers": layers, "device": device}
    )
    total = sum(row[5] for row in rows)
    found = [op_stat(*row, total=total) for row in rows if row[0] in kinds]
    return found if limit is None else found[:limit]


def callers(
    trace: Trace,
    kind: GpuKind,
    name_id: int,
    limit: int,
    *,
    device: int | None = None,
    nodes: tuple[int, int] | None = None,
) -> list[Caller]:
    """Contexts that launched the operation, heaviest first; `nodes`: in a subtree alone. Reads
    summary tables only.

    Empty for synchronisations, which have no calling context.
    """
    layer = LAYER_OF_KIND.get(kind)
    if layer is None:
        return []
    first, last = nodes or (None, None)
    parameters = {"name": name_id, "device": device, "first": first, "last": last, "limit": limit}
    rows = trace.rows("kernels.callers", {"layer": int(layer), **parameters})
    ways = ancestries(trace, [node for node, _, _, _ in rows])
    return [
        Caller(
            node,
            ways[node].names[:-1],
            gpu_ns,
            count,
            gpu_ns / total if total else 0.0,
            ways[node].layers[:-1],
        )
        for node, gpu_ns, count, total in rows
    ]


def launch_shapes(trace: Trace, selection: OpSelection, limit: int) -> list[LaunchShape]:
    """Launch shapes, most time first. Reads events: NotReadyError while they are being loaded.

    Empty when the trace tells no shapes.
    """
    parameters = {**selection.parameters(), "limit": limit}
    return [
        LaunchShape(
            grid=_triple(gx, gy, gz),
            block=_triple(bx, by, bz),
            registers=registers,
            shared_bytes=shared,
            count=count,
            sum_ns=sum_ns,
        )
        for gx, gy, gz, bx, by, bz, registers, shared, count, sum_ns in trace.event_rows(
            "kernels.launch_shapes", parameters
        )
    ]


def duration_histogram(
    trace: Trace, selection: OpSelection, *, buckets: int = 24
) -> Histogram | None:
    """Distribution of durations, None when nothing is selected.

    At most `buckets` buckets, fewer where the range is too narrow. Reads events: NotReadyError
    while they are being loaded.
    """
    parameters = selection.parameters()
    [(count, low, p50, p99, high)] = trace.event_rows("kernels.duration_range", parameters)
    if count == 0:
        return None
    edges = log_edges(low, high, buckets)
    bounds = [edge - 1 for edge in edges[1:]]  # the database's buckets include their upper bound
    found = dict(trace.event_rows("kernels.duration_counts", {**parameters, "bounds": bounds}))
    counts = tuple(found.get(bound, 0) for bound in bounds)
    return Histogram(edges, counts, low, p50, p99, high)


def kernel_durations(trace: Trace, nodes: tuple[int, int]) -> tuple[I32, I64]:
    """Contexts (of node ids first to last) and ns of all kernels there. Reads events."""
    first, last = nodes
    parameters = {"kind": int(GpuKind.KERNEL), "first": first, "last": last}
    columns = trace.event_arrays("kernels.durations", parameters)
    return columns["node"], columns["dur_ns"]


def log_edges(low: int, high: int, buckets: int) -> tuple[int, ...]:
    """Strictly increasing whole edges from `low` to `high + 1`, at most `buckets` + 1."""
    start, stop = max(low, 1), high + 1
    ratio = stop / start
    inner = {round(start * ratio ** (i / buckets)) for i in range(1, buckets)}
    return (low, *sorted(edge for edge in inner if low < edge < stop), stop)


def _triple(x: int | None, y: int | None, z: int | None) -> tuple[int, int, int] | None:
    return None if x is None or y is None or z is None else (x, y, z)
