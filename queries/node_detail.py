"""Everything about one calling context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from ..ingest.model import GpuKind, Layer
from .allocated import Allocated, allocated_below
from .generated import Origin, origin_at
from .kernels import (
    Caller,
    Histogram,
    LaunchShape,
    OpSelection,
    OpStat,
    duration_histogram,
    launch_shapes,
    ops_below,
)
from .metric import Metric
from .operations import CompiledOperation, compiled_operations
from .operators import Arguments, arguments_at
from .paths import CallTree
from .trace import Trace


@dataclass(frozen=True, slots=True)
class HostStat:
    """Host events of one name below a context."""

    layer: Layer
    name: str
    calls: int
    self_ns: int | None
    """Time on the thread not covered by events inside; None where it was not measured."""


@dataclass(frozen=True, slots=True)
class NamedCount:
    """Events of a context that share a text."""

    text: str
    count: int
    sum_ns: int | None
    """Their time; None when no event has an end."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a context used beside time, as a recording measured it."""

    name: str
    """With its unit where it is no count: `thread CPU ns`."""
    value: float


@dataclass(frozen=True, slots=True)
class CallStat:
    """Durations of the context's own host events."""

    count: int
    sum_ns: int
    min_ns: int
    max_ns: int
    stddev_ns: float

    @property
    def mean_ns(self) -> float:
        return self.sum_ns / self.count


@dataclass(frozen=True, slots=True)
class NodeDetail:
    """A context and what lies below it."""

    node: int
    names: tuple[str, ...]
    """Display names from below the root to the node."""
    layer: Layer
    file: str | None
    line: int | None
    gpu_ns: int | None
    calls: CallStat | None
    """None when the context is no host event."""
    ops: list[OpStat]
    """GPU work below, by name, most time first; shares are of the node's GPU time."""
    host: list[HostStat]
    """Annotations and API calls at and below the node, most self time first."""
    shapes: list[LaunchShape] | None
    """Kernel launch shapes, most time first; None while the events are being loaded."""
    full_names: list[NamedCount]
    """Demangled names of a kernel context, most time first; empty while events are being loaded."""
    captured_from: list[Caller]
    """Where the CUDA graph work below was captured, most time first: its replay launched it. Empty
    while events are being loaded."""
    captured_here: list[NamedCount]
    """GPU work of graph nodes that were captured here, wherever they are replayed, by name; not
    part of `gpu_ns`. Empty while events are being loaded."""
    payloads: list[NamedCount]
    """Payloads of an annotation's events, as JSON, the most frequent first; empty while events are
    being loaded."""
    allocated: list[Allocated]
    """Memory that it and what it called took and gave back, by device; empty: not recorded."""
    measures: list[Measure]
    """Of the context itself on the host; empty: none were recorded."""
    origin: Origin | None
    """What the line of generated code it runs in was made from; None for code people wrote."""
    arguments: list[Arguments]
    """What the context's calls were called with; empty while events are being loaded."""
    operation: CompiledOperation | None
    """What a compiled (HLO) operation is; None for other contexts and while events are being
    loaded."""
    histogram: Histogram | None
    """Of the kernels' durations; None without kernels and while the events are being loaded."""


def node_detail(trace: Trace, tree: CallTree, node: int, *, limit: int = 20) -> NodeDetail:
    """Details of a node of the call-path tree, on the tree's device; lists up to `limit` rows.

    While the events are being loaded, what needs them is None.
    """
    below: dict[str, object] = {"first": node, "last": int(tree.last[node]), "limit": limit}
    gpu_ns = tree.value(node, Metric.GPU)
    selection = OpSelection(GpuKind.KERNEL, nodes=(node, int(tree.last[node])), device=tree.device)
    ready = trace.events_ready
    return NodeDetail(
        node=node,
        names=tree.names(node),
        layer=tree.layer(node),
        file=tree.file(node),
        line=tree.line(node),
        gpu_ns=gpu_ns,
        calls=_calls(trace, node),
        ops=ops_below(trace, (node, int(tree.last[node])), device=tree.device, limit=limit),
        host=[
            HostStat(Layer(layer), name, calls, self_ns)
            for layer, name, calls, self_ns in trace.rows("paths.host_below", below)
        ],
        shapes=launch_shapes(trace, selection, limit) if ready else None,
        full_names=_full_names(trace, tree, node, limit) if ready else [],
        captured_from=_captured_from(trace, tree, below) if ready else [],
        captured_here=_captured_here(trace, tree, below) if ready else [],
        payloads=_payloads(trace, tree, node, limit) if ready else [],
        allocated=allocated_below(trace, node, int(tree.last[node])),
        measures=[Measure(*row) for row in trace.rows("paths.measured_at", {"node": node})],
        origin=origin_at(trace, tree, node),
        arguments=_arguments(trace, tree, node, limit) if ready else [],
        operation=_operation(trace, tree, node) if ready else None,
        histogram=duration_histogram(trace, selection) if ready else None,
    )


def _full_names(trace: Trace, tree: CallTree, node: int, limit: int) -> list[NamedCount]:
    if tree.layer(node) is not Layer.KERNEL:
        return []
    parameters = {"node": node, "device": tree.device, "limit": limit}
    return [NamedCount(*row) for row in trace.rows("paths.full_names_at", parameters)]


def _captured_from(trace: Trace, tree: CallTree, below: Mapping[str, object]) -> list[Caller]:
    rows = trace.rows("paths.captured_from", {**below, "device": tree.device})
    total = sum(gpu_ns for _, gpu_ns, _ in rows)
    return [
        Caller(node, tree.names(node), gpu_ns, count, gpu_ns / total if total else 0.0)
        for node, gpu_ns, count in rows
    ]


def _captured_here(trace: Trace, tree: CallTree, below: Mapping[str, object]) -> list[NamedCount]:
    rows = trace.rows("paths.captured_here", {**below, "device": tree.device})
    return [NamedCount(*row) for row in rows]


def _payloads(trace: Trace, tree: CallTree, node: int, limit: int) -> list[NamedCount]:
    if tree.layer(node) is not Layer.ANNOTATION:
        return []
    rows = trace.rows("paths.payloads_at", {"node": node, "limit": limit})
    return [NamedCount(*row) for row in rows]


def _arguments(trace: Trace, tree: CallTree, node: int, limit: int) -> list[Arguments]:
    if tree.layer(node) is not Layer.OP:
        return []
    return arguments_at(trace, node, int(tree.last[node]), device=tree.device, limit=limit)


def _operation(trace: Trace, tree: CallTree, node: int) -> CompiledOperation | None:
    if tree.layer(node) is not Layer.HLO:
        return None
    name = tree.names(node)[-1]
    found = compiled_operations(trace, node)  # a loop holds the operations of its body too
    return next((item for item in found if item.name == name), None)


def _calls(trace: Trace, node: int) -> CallStat | None:
    [(count, low, high, total, sumsq)] = trace.rows("paths.host_calls", {"node": node})
    if not count or total is None:
        return None
    variance = sumsq / count - (total / count) ** 2
    return CallStat(count, total, low, high, sqrt(max(variance, 0.0)))
