"""How a GPU's work follows kernel by kernel: its pauses, what runs in CUDA graphs, and the kernels
that repeat from layer to layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.model import Layer
from ..queries.ancestry import ancestries
from .gaps import Gaps, gaps
from .graph_coverage import GraphCoverage, graph_coverage
from .kernel_pattern import KernelPattern, kernel_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .host_overhead import HostOverhead

_OPERATIONS = frozenset(
    {Layer.ANNOTATION, Layer.PYTHON, Layer.MODULE, Layer.OP, Layer.SOURCE_LINE, Layer.HLO}
)


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


def kernel_level(overhead: HostOverhead) -> KernelLevel | None:
    """None where no kernel ran. Reads events."""
    pauses, coverage = gaps(overhead), graph_coverage(overhead)
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
    )
