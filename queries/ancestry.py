"""The way from the root of the call-path tree to a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..ingest.model import Layer
from .trace import Trace


@dataclass(frozen=True, slots=True)
class Ancestry:
    """Layers and display names from below the root to a node, both of one length."""

    layers: tuple[Layer, ...]
    names: tuple[str, ...]


def ancestries(trace: Trace, nodes: Sequence[int]) -> dict[int, Ancestry]:
    """The way to each node (empty for the root). Reads summary tables only."""
    steps: dict[int, list[tuple[Layer, str]]] = {node: [] for node in nodes}
    if steps:
        for node, layer, name in trace.rows("ancestry.names", {"nodes": list(steps)}):
            steps[node].append((Layer(layer), name))
    return {
        node: Ancestry(tuple(layer for layer, _ in way), tuple(name for _, name in way))
        for node, way in steps.items()
    }
