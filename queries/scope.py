"""The call-path tree and the totals by name, of what happened in some windows of time only.

An event belongs to the window in which it starts, GPU work to the one in which it was launched
(where the launch is not in the trace: in which it starts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..ingest.model import NO_WORK, GpuKind
from ..native import group_stats
from .kernels import GPU_WORK, OpStat, op_stat
from .lanes import lanes
from .metric import Metric
from .paths import CallTree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .trace import Trace

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class TimeScope:
    """Windows of time, each of one process."""

    label: str
    """For people: what the windows are."""
    windows: tuple[tuple[int | None, int, int], ...]
    """(process, start, end) in ns, end excluded. Process None: the window holds for all."""

    @property
    def first_ns(self) -> int:
        return min(start for _, start, _ in self.windows)

    @property
    def last_ns(self) -> int:
        return max(end for _, _, end in self.windows)


def scoped_tree(trace: Trace, scope: TimeScope, device: int | None = None) -> CallTree:
    """The tree with the metrics of the scope alone; what was not measured in the whole trace is
    not there either. Reads events: NotReadyError while they are being loaded."""
    import numpy as np

    tree = CallTree.load(trace, device)
    size = tree.size
    # Sampled instructions have no time: of a part of the trace they are not known.
    measured = tree.measured - {Metric.GPU_SAMPLES}
    own = {metric: np.zeros(size, np.int64) for metric in measured}

    def add(metric: Metric, node: I32, value: I64 | None = None) -> None:
        if metric not in own or not len(node):
            return
        ones = np.ones(len(node), np.int64) if value is None else value
        stats = group_stats(node, ones)
        own[metric][stats.group] += stats.sum

    host = _host(trace, scope)
    add(Metric.HOST, host["node"], host["self_ns"])
    add(Metric.CALLS, host["node"])
    is_launch = np.zeros(size, np.bool_)
    is_launch[trace.arrays("step_events.launch_nodes")["node"]] = True
    add(Metric.LAUNCHES, host["node"][is_launch[host["node"]]])
    work = _work(trace, scope, device)
    add(Metric.GPU, work["node"], work["dur_ns"])
    add(Metric.CALLS, work["node"])
    add(Metric.KERNELS, work["node"][work["kind"] == GpuKind.KERNEL])
    add(Metric.BYTES, work["node"], work["bytes"])
    if Metric.SAMPLES in own:
        samples = _samples(trace, scope)
        add(Metric.SAMPLES, samples["node"])
    return tree.with_costs(own)


def scoped_op_stats(
    trace: Trace,
    scope: TimeScope,
    *,
    kinds: Sequence[GpuKind] = GPU_WORK,
    device: int | None = None,
    nodes: tuple[int, int] | None = None,
) -> list[OpStat]:
    """Totals by kind and name of the work launched in the scope, most time first; shares are of
    all of it. `nodes`: of a subtree (node ids first to last) alone. Reads events."""
    import numpy as np

    work = _work(trace, scope, device)
    if nodes is not None:
        work = _kept(work, (work["node"] >= nodes[0]) & (work["node"] <= nodes[1]))
    total = int(work["dur_ns"].sum())
    communication = {name for (name,) in trace.rows("scope.communication")}
    found: list[OpStat] = []
    for kind in kinds:
        rows = np.flatnonzero(work["kind"] == kind)
        stats = group_stats(work["name"][rows], work["dur_ns"][rows])
        size = np.zeros(int(stats.group.max()) + 1 if len(stats.group) else 0, np.int64)
        np.add.at(size, work["name"][rows], work["bytes"][rows])
        texts = dict(trace.rows("step_events.texts", {"ids": stats.group.tolist()}))
        for group, count, ns, low, high, squares in zip(
            stats.group.tolist(),
            stats.count.tolist(),
            stats.sum.tolist(),
            stats.min.tolist(),
            stats.max.tolist(),
            stats.sum_squares.tolist(),
            strict=True,
        ):
            found.append(
                op_stat(
                    int(kind),
                    group,
                    texts[group],
                    group in communication,
                    count,
                    ns,
                    low,
                    high,
                    squares,
                    int(size[group]) or None,
                    total=total,
                )
            )
    return sorted(found, key=lambda op: (-op.sum_ns, op.name, op.kind))


def _bounds(scope: TimeScope) -> dict[str, object]:
    return {"first": scope.first_ns, "last": scope.last_ns}


def _host(trace: Trace, scope: TimeScope) -> Columns:
    columns = trace.event_arrays("scope.host", _bounds(scope))
    return _kept(columns, inside(trace, scope, columns["lane"], columns["at_ns"]))


def _samples(trace: Trace, scope: TimeScope) -> Columns:
    columns = trace.event_arrays("scope.samples", _bounds(scope))
    return _kept(columns, inside(trace, scope, columns["lane"], columns["at_ns"]))


def _work(trace: Trace, scope: TimeScope, device: int | None) -> Columns:
    columns = trace.event_arrays(
        "scope.work",
        {**_bounds(scope), "no_work": sorted(map(int, NO_WORK)), "device": device},
    )
    return _kept(columns, inside(trace, scope, columns["lane"], columns["at_ns"]))


def _kept(columns: Columns, keep: Flags) -> Columns:
    return {name: column[keep] for name, column in columns.items()}


def inside(trace: Trace, scope: TimeScope, lane: I32, at_ns: I64) -> Flags:
    """Which events lie in a window of their process. A lane whose process is not known belongs to
    every window."""
    import numpy as np

    process = np.array(
        [-1 if line.process is None else line.process for line in lanes(trace)], np.int32
    )[lane]
    keep = np.zeros(len(lane), np.bool_)
    for owner, start, end in scope.windows:
        within = (at_ns >= start) & (at_ns < end)
        keep |= within if owner is None else within & ((process == owner) | (process < 0))
    return keep
