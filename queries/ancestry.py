"""Names along the way from the root of the call-path tree to a node."""

from __future__ import annotations

from collections.abc import Sequence

from .trace import Trace


def display_paths(trace: Trace, nodes: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """For each node the names from below the root to the node itself (empty for the root)."""
    names: dict[int, list[str]] = {node: [] for node in nodes}
    if names:
        for node, name in trace.rows("ancestry.names", {"nodes": list(names)}):
            names[node].append(name)
    return {node: tuple(path) for node, path in names.items()}
