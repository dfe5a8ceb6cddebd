"""Where the frames of a flame graph stand: whole cells, level by level."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of at least one cell on its line."""

    node: int
    x: int
    width: int


class FlameLayout:
    """Children stand inside their parents, the widest first. Frames too narrow for a cell are left
    out; edges are rounded, not widths, so that neighbours meet and none outgrows its parent."""

    def __init__(self, parent: I32, size: F64) -> None:
        """`parent`: -1 for a root; `size`: of a node with all below it, never negative."""
        self._parent = parent
        self._size = size
        order = np.lexsort((-size, parent))
        self._children = order.astype(np.int64)
        counts = np.bincount(parent + 1, minlength=len(parent) + 1)
        self._first = np.concatenate([[0], np.cumsum(counts)])
        """By node + 1 (0: the roots): where its children begin in `_children`."""

    def __len__(self) -> int:
        return len(self._parent)

    def parent(self, node: int) -> int:
        return int(self._parent[node])

    def size(self, node: int) -> float:
        return float(self._size[node])

    @property
    def roots(self) -> list[int]:
        found: list[int] = self._children[: self._first[1]].tolist()
        return found

    def way(self, node: int) -> list[int]:
        """The nodes above, outermost first, and the node."""
        found = [node]
        while (node := self.parent(node)) >= 0:
            found.append(node)
        return found[::-1]

    def levels(self, top: int, width: int, most: int) -> list[list[Frame]]:
        """Frames of `top` (-1: of all roots) and below it, at most so many levels."""
        nodes = np.array(self.roots if top < 0 else [top], np.int64)
        whole = float(self._size[nodes].sum())
        if whole <= 0 or width <= 0:
            return []
        scale = width / whole
        starts = np.concatenate([[0.0], np.cumsum(self._size[nodes])[:-1]])
        levels: list[list[Frame]] = []
        while len(nodes) and len(levels) < most:
            left = np.rint(starts * scale).astype(np.int64)
            cells = np.rint((starts + self._size[nodes]) * scale).astype(np.int64) - left
            seen = cells > 0
            nodes, starts = nodes[seen], starts[seen]
            placed: Sequence[tuple[int, int, int]] = list(
                zip(nodes.tolist(), left[seen].tolist(), cells[seen].tolist(), strict=True)
            )
            if placed:
                levels.append([Frame(*one) for one in placed])
            nodes, starts = self._below(nodes, starts)
        return levels

    def _below(self, nodes: NDArray[np.int64], starts: F64) -> tuple[NDArray[np.int64], F64]:
        """Children of the nodes and where each begins; those of one parent side by side."""
        first = self._first[nodes + 1]
        counts = self._first[nodes + 2] - first
        total = int(counts.sum())
        if not total:
            return nodes[:0], starts[:0]
        offsets = np.cumsum(counts) - counts
        at = np.arange(total) - np.repeat(offsets, counts) + np.repeat(first, counts)
        children = self._children[at]
        sizes = self._size[children]
        before = np.cumsum(sizes) - sizes
        in_parent = before - np.repeat(before[np.minimum(offsets, total - 1)], counts)
        return children, np.repeat(starts, counts) + in_parent

    def widest_child(self, node: int) -> int:
        """-1 for a leaf."""
        children = self._children[self._first[node + 1] : self._first[node + 2]]
        return int(children[self._size[children].argmax()]) if len(children) else -1
