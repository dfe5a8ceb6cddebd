"""CUDA graph nodes: in which context each was created, when its graph was captured."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import ColumnStream, intern_rows, join_first, locate
from ..account import count
from ..arrays import I16, I32, I64, NULL64
from ..writer import StoreWriter
from .identity import Identity
from .paths import HostStack
from .reader import TableReader
from .times import Clock

TABLES: Final = ("CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS")
"""The second name means graphs instead of nodes in newer exports: the columns tell."""
_REQUIRED: Final = ("start", "globalTid", "graphNodeId")
_DOUBLINGS: Final = 32
"""A line of clones is followed in steps that double: no longer one has room in memory."""


@dataclass(slots=True)
class GraphNodes:
    """Creations of graph nodes, one row a node. Ids are of their process; a clone names the node
    it was made from. `event` is filled by `place`."""

    table: str
    process: I16
    node: I64
    original: I64
    lane: I32
    time: I64
    event: I32
    """Row of the host stack that was running, -1 where none."""

    def place(self, host: HostStack, reader: TableReader) -> None:
        """Find what the host did when each node, or the first that it was cloned from, was
        created. Ends must not have become durations yet."""
        first = self._first_nodes()
        placed = first >= 0
        self.event = np.full(len(first), -1, np.int32)
        if len(host) and placed.any():
            rows = first[placed]
            self.event[placed] = locate(
                host.nesting, host.lane, host.start, host.end, self.lane[rows], self.time[rows]
            )
        reader.account.leave_out(self.table, "no_host_event", count(self.event < 0))

    def _first_nodes(self) -> I32:
        """Row of the node that each was cloned from in the first place, itself when it is no
        clone; -1 where that node is not recorded, or clones go in a circle."""
        own = np.arange(len(self.node), dtype=np.int32)
        is_first = (self.original == NULL64) | (self.original == 0)
        source = join_first([self.process, self.original], [self.process, self.node])
        row = np.where(is_first | (source < 0), own, source)
        for _ in range(_DOUBLINGS):
            further = row[row]
            if np.array_equal(further, row):
                break
            row = further
        return np.where(is_first[row], row, np.int32(-1))


def read_graph_nodes(reader: TableReader, identity: Identity, clock: Clock) -> GraphNodes | None:
    """The nodes that were created in the capture; None when the export does not tell."""
    table = next((t for name in TABLES if (t := reader.find(name, _REQUIRED)) is not None), None)
    if table is None:
        return None
    columns = ("start", "globalTid", "graphNodeId", "originalGraphNodeId")
    rows = reader.read(table, dict.fromkeys(columns, "i64"))
    time = clock.points(rows)
    lane = identity.thread_column(rows.i64("globalTid"))
    process = identity.lane_process()[lane]
    node, original = rows.i64("graphNodeId"), rows.i64("originalGraphNodeId")
    # The rows of one node: that which tells where it comes from goes first.
    order = np.argsort(original == NULL64, kind="stable")
    _, first = intern_rows([process[order], node[order]])
    kept = order[first]
    reader.account.leave_out(table, "repeated", rows.count - len(kept))
    return GraphNodes(
        table,
        process[kept],
        node[kept],
        original[kept],
        lane[kept],
        time[kept],
        np.full(len(kept), -1, np.int32),
    )


def write_graph_sites(writer: StoreWriter, nodes: GraphNodes, host: HostStack) -> None:
    """The context of each node that has one."""
    rows = np.flatnonzero(nodes.event >= 0)
    if len(rows):
        columns: dict[str, NDArray[Any]] = {
            "process": nodes.process[rows],
            "graph_node": nodes.node[rows],
            "node": host.node[nodes.event[rows]],
        }
        writer.insert("graph_site", ColumnStream(columns, nulls={"process": -1}))
