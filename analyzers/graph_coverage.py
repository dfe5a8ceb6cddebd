"""How much of the GPU's work runs in CUDA graphs, and what is still launched one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..ingest.comm import is_communication
from ..ingest.model import GpuKind
from ..queries.ops import EagerKernel, eager_kernels
from ..queries.timeline import RUNNING_KINDS, launched_ops
from .findings import Evidence, Finding, Weight
from .host_overhead import HostOverhead
from .quantities import plural, us
from .trace_data import device_sets
from .windows import Window

_CAPTURABLE = re.compile(
    r"gemm|gemv|matmul|cutlass|cublas|nvjet|wmma|xmma|Cijk_|hgemm|sgemm|norm|splitK", re.IGNORECASE
)
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class EagerUse:
    """Kernels of one name and context that were launched one by one."""

    kernel: EagerKernel
    capturable: bool
    """A kind of kernel that graphs usually hold (GEMM, norm, all-reduce), in a window whose work
    is mostly graphs: worth a look."""


@dataclass(frozen=True, slots=True)
class GraphCoverage:
    """Share of graphs in the work of a window."""

    basis: str
    """`kernels`: graph kernels of all kernels; `launches`: the same, told by the call that launched
    them, for traces that do not number graph nodes; `time`: replay time of the busy time, for
    traces that record replays as a whole; `none`: no graph ran."""
    coverage: float
    """0 to 1."""
    graph_kernels: int
    kernels: int
    replays: int
    replay_ns: Mapping[int, int]
    """By device that takes part: when a replay ran."""
    eager: tuple[EagerUse, ...]
    """Most GPU time first."""

    @property
    def mostly_graphs(self) -> bool:
        return self.coverage >= _MOSTLY


def graph_kernels(overhead: HostOverhead) -> int | None:
    """Kernels of the window that ran in graphs; None where replays were recorded as a whole, which
    do not tell how many they held."""
    if overhead.window is None or overhead.graph_use.replays:
        return None
    return overhead.graph_use.node_kernels or _launched_by_graphs(overhead, overhead.window)


def graph_coverage(overhead: HostOverhead, *, limit: int = 1_000) -> GraphCoverage | None:
    """Coverage in the window; None where there is no window.

    limit: how many kinds of single launches are listed.
    """
    if overhead.window is None:
        return None
    window, use = overhead.window, overhead.graph_use
    replay_ns: dict[int, int] = {}
    busy = sum(device.busy_ns for device in overhead.measured.taking_part)
    if use.replays:
        data = overhead.data
        replays = device_sets(data.trace, (GpuKind.GRAPH,), data.device_count)
        inside = replays.clip(window.start_ns, window.end_ns).lengths().tolist()
        replay_ns = {d.device: inside[d.device] for d in overhead.measured.taking_part}
        basis, coverage = "time", sum(replay_ns.values()) / busy if busy else 0.0
    elif use.node_kernels:
        basis, coverage = "kernels", use.node_kernels / use.kernels
    else:
        basis, coverage = "none", 0.0
    nodes = use.node_kernels
    if basis == "none" and (nodes := _launched_by_graphs(overhead, window)):
        basis, coverage = "launches", nodes / use.kernels
    listed: list[EagerKernel] = []
    if basis != "launches":  # The rows themselves do not tell which of them are in graphs.
        devices = [device.device for device in overhead.data.devices]
        listed = eager_kernels(
            overhead.data.trace, window.start_ns, window.end_ns, limit, devices=devices
        )
    return GraphCoverage(
        basis=basis,
        coverage=coverage,
        graph_kernels=nodes,
        kernels=use.kernels,
        replays=use.replays,
        replay_ns=replay_ns,
        eager=tuple(
            EagerUse(kernel, coverage >= _MOSTLY and is_capturable(kernel.name))
            for kernel in listed
        ),
    )


def _launched_by_graphs(overhead: HostOverhead, window: Window) -> int:
    """Kernels of the window whose launch is that of a graph."""
    launches = overhead.data.graph_launches.id
    count = 0
    for ops in launched_ops(overhead.data.trace, RUNNING_KINDS):
        inside = (ops.start_ns >= window.start_ns) & (ops.start_ns < window.end_ns)
        count += int(np.isin(ops.launch[inside], launches).sum())
    return count


def eager_in_graphs(coverage: GraphCoverage, shown: int = 3) -> Finding | None:
    """Kernels that graphs usually hold are launched one by one, though most work is in graphs."""
    chosen = [use.kernel for use in coverage.eager if use.capturable]
    if not chosen:
        return None
    launches, total = sum(k.count for k in chosen), sum(k.gpu_ns for k in chosen)
    of = "kernels run" if coverage.basis != "time" else "GPU time is"
    return Finding(
        id="eager-in-graphs",
        weight=Weight.HINT,
        sentence=f"{100 * coverage.coverage:.0f} % of the {of} in CUDA graphs, but {launches:,} "
        "kernels that graphs usually hold (matrix products, norms, collectives) were launched one "
        f"by one, {us(total)} of GPU time.",
        remedy="Look for what ends the graph next to them: .item() and other waits, shapes that "
        "change, extensions the compiler cannot see into, branches on data, or one operator that "
        "splits a partition.",
        evidence=tuple(
            Evidence(
                what=f"{kernel.name}, {plural(kernel.count, 'launch', 'launches')}",
                unit="µs",
                value=kernel.gpu_ns / 1000,
                name=kernel.name,
                node=kernel.node,
                kind=GpuKind.KERNEL,
            )
            for kernel in by_name(chosen)[:shown]
        ),
    )


def by_name(kernels: list[EagerKernel]) -> list[EagerKernel]:
    """One entry a name, with its heaviest context, most GPU time first. `kernels`: likewise."""
    sums: dict[str, EagerKernel] = {}
    for kernel in kernels:
        seen = sums.get(kernel.name)
        sums[kernel.name] = (
            kernel
            if seen is None
            else EagerKernel(
                kernel.name, seen.node, seen.count + kernel.count, seen.gpu_ns + kernel.gpu_ns
            )
        )
    return sorted(sums.values(), key=lambda kernel: -kernel.gpu_ns)


def is_capturable(name: str) -> bool:
    """True for kernels that graphs usually hold: matrix products, norms, all-reduces."""
    return _CAPTURABLE.search(name) is not None or is_communication(name)
