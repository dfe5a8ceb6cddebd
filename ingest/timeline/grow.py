"""Grows the tree of a timeline from its events, and gives their columns for sums over it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import I32, I64, Mask
from ..comm import is_communication
from ..metrics import HostColumns, OpColumns, outermost
from ..model import NO_WORK, GpuKind
from .columns import GpuOps, HostEvents
from .parts import Owners, Parts
from .stack import BACKWARD, Stack, enter_ops, memory_nodes, nest_host


class Grown:
    """The events of a timeline in its tree, which is complete and numbered afterwards."""

    def __init__(self, parts: Parts, owners: Owners, tolerance_ns: int) -> None:
        """`tolerance_ns` of overhang still count as inside."""
        self._parts, self._owners = parts, owners
        self.stack: Stack | None = None
        """Of the host events."""
        contexts = owners.contexts
        work = [ops.lane for ops in parts.ops if ops.kind not in NO_WORK]
        if work:
            owners.place(np.concatenate(work))
        if parts.host is not None:
            backward = owners.pool.intern(BACKWARD)
            self.stack = nest_host(contexts, parts.host, parts.chains, backward, tolerance_ns)
        process_of = owners.process_of()
        nodes = [
            None
            if ops.kind in NO_WORK
            else enter_ops(contexts, ops, self.stack, parts.chains, process_of)
            for ops in parts.ops
        ]
        memory = None
        if parts.memory is not None:
            memory = memory_nodes(contexts, parts.memory, parts.host, self.stack)
        new_ids = np.append(contexts.tree.renumber(), np.int32(-1))  # -1 stays -1
        if self.stack is not None:
            self.stack.node = new_ids[self.stack.node]
        self.op_nodes = [None if node is None else new_ids[node] for node in nodes]
        """By entry of the parts' `ops`; None for what is no work."""
        self.memory_nodes = None if memory is None else new_ids[memory]

    def kernel_nodes(self) -> I32:
        """Node of each kernel."""
        for ops, node in zip(self._parts.ops, self.op_nodes, strict=True):
            if ops.kind is GpuKind.KERNEL and node is not None:
                return node
        return np.empty(0, np.int32)

    def host_columns(self) -> HostColumns | None:
        """The host events that nest; None without any."""
        host, stack = self._parts.host, self.stack
        if host is None or stack is None:
            return None
        launches = _launches(host, self._parts.ops, stack.nesting.parent)
        return HostColumns(
            stack.node, stack.nesting.self_ns, host.end - host.start, host.open, launches
        )

    def op_columns(self) -> list[OpColumns]:
        """GPU work, waits and spans by kind, as `parts.ops`."""
        device_of = self._owners.device_of()
        columns: list[OpColumns] = []
        for ops, node in zip(self._parts.ops, self.op_nodes, strict=True):
            names, label = np.unique(ops.name, return_inverse=True)
            communicates: Mask | None = None
            if ops.kind is GpuKind.KERNEL:
                pool = self._owners.pool
                told = [is_communication(pool[name]) for name in names.tolist()]
                communicates = np.array(told, np.bool_)
            columns.append(
                OpColumns(
                    kind=ops.kind,
                    device_of=device_of,
                    owner=ops.lane,
                    start=ops.start,
                    dur=ops.dur,
                    label=label.astype(np.int32),
                    name_of=names.astype(np.int32),
                    communicates=communicates,
                    node=np.empty(0, np.int32) if node is None else node,
                    bytes=ops.bytes,
                )
            )
        return columns


def _launches(host: HostEvents, ops: Sequence[GpuOps], parent: I32) -> I64:
    """Rows that launch GPU work."""
    launches = host.launches
    if launches is None:
        launches = np.zeros(len(host), np.bool_)
        for part in ops:
            if part.launch is not None and part.kind in (GpuKind.KERNEL, GpuKind.GRAPH):
                launches[part.launch[part.launch >= 0]] = True
    return outermost(np.flatnonzero(launches), parent)
