"""How a GPU's work follows kernel by kernel: its pauses, what runs in CUDA graphs, and the kernels
that repeat from layer to layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.model import Layer
from ..queries.ancestry import ancestries
from .gaps import Gaps, gaps
from .graph_coverage import EagerUse, GraphCoverage, graph_coverage
from .kernel_group import kernel_group
from .kernel_pattern import KernelPattern, Position, kernel_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .host_overhead import HostOverhead

_OPERATIONS = frozenset(
    {Layer.ANNOTATION, Layer.PYTHON, Layer.MODULE, Layer.OP, Layer.SOURCE_LINE, Layer.HLO}
)


@dataclass(frozen=True, slots=True)
class EagerGroup:
    """Kernels of one name that one operation launched one by one, on all GPUs."""

    name: str
    operation: str
    """The innermost around the launches; empty where none is known."""
    capturable: bool
    launches: int
    gpu_ns: int
    contexts: int
    """Call paths with that operation: ranks, layers."""
    node: int | None
    """The heaviest of them."""


@dataclass(frozen=True, slots=True)
class KernelLevel:
    """Of the window of a verdict."""

    pauses: Gaps
    coverage: GraphCoverage
    pattern: KernelPattern | None
    """None: no steady step, or its kernels do not repeat."""
    way: Mapping[int, tuple[str, ...]]
    """Ranges, functions and operators around the launches in all three, from the
    outside in, by path node."""
    labels: Mapping[int, str]
    """Names of the devices."""


def kernel_level(overhead: HostOverhead) -> KernelLevel | None:
    """None where no kernel ran. Reads events."""
    pauses, coverage = gaps(overhead, by_stream=True), graph_coverage(overhead)
    if pauses is None or coverage is None:
        return None
    pattern = kernel_pattern(overhead)
    nodes = {use.kernel.node for use in coverage.eager}
    nodes |= {gap.after.launch_node for gap in pauses.largest if gap.after is not None}
    nodes |= {position.node for position in pattern.positions} if pattern is not None else set()
    ways = ancestries(overhead.data.trace, [node for node in nodes if node is not None])
    return KernelLevel(
        pauses=pauses,
        coverage=coverage,
        pattern=pattern,
        way={
            node: tuple(
                name
                for layer, name in zip(found.layers, found.names, strict=True)
                if layer in _OPERATIONS
            )
            for node, found in ways.items()
        },
        labels={device.device: device.label for device in overhead.data.devices},
    )


def eager_groups(level: KernelLevel) -> list[EagerGroup]:
    """What is launched one by one, by kernel and operation; most GPU time first."""
    groups: dict[tuple[str, str], list[EagerUse]] = {}
    for use in level.coverage.eager:
        way = () if use.kernel.node is None else level.way.get(use.kernel.node, ())
        groups.setdefault((use.kernel.name, way[-1] if way else ""), []).append(use)
    found = [
        EagerGroup(
            name=name,
            operation=operation,
            capturable=uses[0].capturable,
            launches=sum(use.kernel.count for use in uses),
            gpu_ns=sum(use.kernel.gpu_ns for use in uses),
            contexts=len(uses),
            node=uses[0].kernel.node,  # they come with most GPU time first
        )
        for (name, operation), uses in groups.items()
    ]
    return sorted(found, key=lambda group: -group.gpu_ns)


@dataclass(frozen=True, slots=True)
class PartSum:
    """The kernels of one part of a repeating layer."""

    part: str
    positions: int
    kernel_ns: int
    """Of all repeats."""
    gap_ns: int
    """Gaps right before them, of all repeats."""


def pattern_parts(level: KernelLevel, pattern: KernelPattern) -> list[PartSum]:
    """The positions of the pattern by part of the layer, most gap time first; they sum to it."""
    sums: dict[str, list[int]] = {}
    for position in pattern.positions:
        entry = sums.setdefault(part_of(level, position), [0, 0, 0])
        for place, value in enumerate((1, position.kernel_ns, position.gap_ns)):
            entry[place] += value
    found = [PartSum(part, *values) for part, values in sums.items()]
    return sorted(found, key=lambda part: -part.gap_ns)


def part_of(level: KernelLevel, position: Position) -> str:
    """Part of a layer that a kernel of the pattern belongs to."""
    way = () if position.node is None else level.way.get(position.node, ())
    return kernel_group(position.name, way)
