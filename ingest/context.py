"""The upper levels of a calling context tree: processes, threads, work without a launch."""

from collections.abc import Callable, Sequence

import numpy as np

from ..native import PathTree, StringPool
from .arrays import I32, distinct
from .model import GpuKind, Layer
from .owners import Lane

OP_LAYERS = {
    GpuKind.KERNEL: Layer.KERNEL,
    GpuKind.MEMCPY: Layer.MEMCPY,
    GpuKind.MEMSET: Layer.MEMSET,
    GpuKind.GRAPH: Layer.GRAPH,
}
_NOT_RECORDED = "[launch not recorded]"


class Contexts:
    """Grows the tree. Threads and processes get a node when something of theirs needs one."""

    def __init__(
        self,
        root_name: str,
        pool: StringPool,
        lanes: Sequence[Lane],
        process_label: Callable[[int], str],
    ) -> None:
        """`lanes` may still grow; `process_label` names a process for people."""
        self.tree = PathTree()
        self._pool = pool
        self._lanes = lanes
        self._process_label = process_label
        self._process_nodes: dict[int, int] = {}
        self._lane_nodes: dict[int, int] = {}
        self._orphan_nodes: dict[int, int] = {}
        self.tree.frame(Layer.ROOT, pool.intern(root_name))

    def process_node(self, process: int) -> int:
        """Node of a process; the root when the process is not known."""
        if process < 0:
            return 0
        found = self._process_nodes.get(process)
        if found is None:
            name = self._pool.intern(self._process_label(process))
            found = self.tree.child(0, self.tree.frame(Layer.PROCESS, name))
            self._process_nodes[process] = found
        return found

    def lane_node(self, lane: int) -> int:
        """Node of a thread, below its process."""
        found = self._lane_nodes.get(lane)
        if found is None:
            item = self._lanes[lane]
            frame = self.tree.frame(Layer.THREAD, self._pool.intern(item.name))
            found = self.tree.child(self.process_node(item.process), frame)
            self._lane_nodes[lane] = found
        return found

    def lane_nodes(self, lane: I32) -> I32:
        """Node of the thread of each event."""
        table = np.full(len(self._lanes) + 1, -1, np.int32)
        for used in distinct(lane, len(self._lanes)).tolist():
            table[used] = self.lane_node(used)
        return table[lane]

    def orphan_node(self, process: int) -> int:
        """Node of the work of a process (-1: not known) whose launch is not in the trace."""
        found = self._orphan_nodes.get(process)
        if found is None:
            name = self._pool.intern(_NOT_RECORDED)
            frame = self.tree.frame(Layer.NOT_RECORDED, name)
            found = self.tree.child(self.process_node(process), frame)
            self._orphan_nodes[process] = found
        return found
