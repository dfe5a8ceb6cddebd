"""Grows the tree of a timeline, sums it up, and writes the store: the summary first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...native import ColumnStream, trim_memory
from ..arrays import I32, I64, Mask
from ..comm import is_communication
from ..metrics import HostColumns, OpColumns, outermost
from ..model import NO_WORK, GpuKind, Severity
from ..progress import Progress
from ..stalls import write_stalls
from ..summary import Summary, write_strings, write_summary
from ..writer import StoreWriter
from .columns import GpuOps, HostEvents
from .parts import Owners, Parts, null_of
from .stack import BACKWARD, Stack, around, enter_ops, memory_nodes, nest_host, operators
from .write import HostRows, write_counters, write_flows, write_memory, write_ops


class Build:
    """One build: the state that its stages share."""

    def __init__(
        self,
        parts: Parts,
        owners: Owners,
        writer: StoreWriter,
        progress: Progress,
        tolerance_ns: int,
    ) -> None:
        self._parts = parts
        self._owners = owners
        self._writer = writer
        self._progress = progress
        self._tolerance_ns = tolerance_ns
        self._stack: Stack | None = None
        self._op_nodes: list[I32 | None] = []
        self._memory_nodes: I32 | None = None

    def run(self, facts: Mapping[str, object], notes: Sequence[tuple[Severity, str, str]]) -> None:
        """All stages in order."""
        self._begin("Building call paths", 0.7)
        self._grow()
        self._begin("Summing up", 0.76)
        self._summarise(facts, notes)
        self._writer.summary_ready()
        self._begin("Writing events", 0.8)
        self._write_events()

    def _begin(self, stage: str, fraction: float) -> None:
        trim_memory()
        self._progress(stage, fraction)

    def _grow(self) -> None:
        parts, contexts = self._parts, self._owners.contexts
        work = [ops.lane for ops in parts.ops if ops.kind not in NO_WORK]
        if work:
            self._owners.place(np.concatenate(work))
        if parts.host is not None:
            backward = self._owners.pool.intern(BACKWARD)
            self._stack = nest_host(
                contexts, parts.host, parts.chains, backward, self._tolerance_ns
            )
        process_of = self._owners.process_of()
        nodes = [
            None
            if ops.kind in NO_WORK
            else enter_ops(contexts, ops, self._stack, parts.chains, process_of)
            for ops in parts.ops
        ]
        memory = None
        if parts.memory is not None:
            memory = memory_nodes(contexts, parts.memory, parts.host, self._stack)
        new_ids = np.append(contexts.tree.renumber(), np.int32(-1))  # -1 stays -1
        if self._stack is not None:
            self._stack.node = new_ids[self._stack.node]
        self._op_nodes = [None if node is None else new_ids[node] for node in nodes]
        self._memory_nodes = None if memory is None else new_ids[memory]

    def _summarise(
        self, facts: Mapping[str, object], notes: Sequence[tuple[Severity, str, str]]
    ) -> None:
        parts, owners, writer = self._parts, self._owners, self._writer
        found = write_summary(
            writer,
            Summary(
                tree=owners.contexts.tree,
                processes=owners.processes,
                lanes=owners.lanes,
                devices=owners.devices,
                host=self._host_columns(),
                ops=self._op_columns(),
                sample_node=None,
                configs=parts.tables.get("launch_config", {}),
            ),
        )
        for table in ("op_args", "collective"):
            columns = dict(parts.tables.get(table, {}))
            if columns:
                rows = len(next(iter(columns.values())))
                nulls = {
                    name: int(null_of(name, column.dtype))
                    for name, column in columns.items()
                    if column.dtype.kind != "f"
                }
                writer.insert(table, ColumnStream({"id": range(rows), **columns}, nulls=nulls))
        if parts.stalls is not None:
            write_stalls(writer, parts.stalls, self._kernel_nodes())
        write_strings(writer, owners.pool)
        orphans = {
            f"orphans.{ops.kind.name.lower()}": _orphans(ops)
            for ops in parts.ops
            if ops.kind not in NO_WORK
        }
        writer.facts({"span_ns": self._span_ns(), **orphans, **facts, **found})
        writer.notes(notes)

    def _kernel_nodes(self) -> I32:
        for ops, node in zip(self._parts.ops, self._op_nodes, strict=True):
            if ops.kind is GpuKind.KERNEL and node is not None:
                return node
        return np.empty(0, np.int32)

    def _host_columns(self) -> HostColumns | None:
        host, stack = self._parts.host, self._stack
        if host is None or stack is None:
            return None
        launches = _launches(host, self._parts.ops, stack.nesting.parent)
        return HostColumns(
            stack.node, stack.nesting.self_ns, host.end - host.start, host.open, launches
        )

    def _op_columns(self) -> list[OpColumns]:
        device_of = self._owners.device_of()
        columns: list[OpColumns] = []
        for ops, node in zip(self._parts.ops, self._op_nodes, strict=True):
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

    def _span_ns(self) -> int:
        parts = self._parts
        ends = [int(host.end.max()) for host in (parts.host, parts.loose) if host is not None]
        ends += [int((ops.start + ops.dur).max()) for ops in parts.ops]
        ends += [int(part.time.max()) for part in (parts.memory, parts.counters) if part]
        return max(ends, default=0)

    def _write_events(self) -> None:
        parts, writer, stack = self._parts, self._writer, self._stack
        rows = HostRows(parts.host, parts.loose)
        device_of = self._owners.device_of()
        first, total = 0, max(1, sum(len(ops) for ops in parts.ops))
        while parts.ops:
            ops, node = parts.ops.pop(0), self._op_nodes.pop(0)
            operator = None
            if ops.launch is not None and parts.host is not None and stack is not None:
                operator = operators(parts.host, stack.nesting.parent, ops.launch)
            first = write_ops(writer, ops, node, operator, rows.ids, device_of, first)
            self._progress("Writing events", 0.8 + 0.05 * first / total)
        if parts.memory is not None and self._memory_nodes is not None:
            write_memory(writer, parts.memory, self._memory_nodes)
        if parts.counters is not None:
            write_counters(writer, parts.counters)
        if parts.flows is not None:
            event = None
            if parts.host is not None and stack is not None:
                event = around(parts.host, stack, parts.flows.lane, parts.flows.time)
            write_flows(writer, parts.flows, event, rows.ids)
        self._begin("Writing events", 0.85)
        rows.write(writer, stack)


def _orphans(ops: GpuOps) -> int:
    return len(ops) if ops.launch is None else int(np.count_nonzero(ops.launch < 0))


def _launches(host: HostEvents, ops: Sequence[GpuOps], parent: I32) -> I64:
    """Rows that launch GPU work."""
    launches = host.launches
    if launches is None:
        launches = np.zeros(len(host), np.bool_)
        for part in ops:
            if part.launch is not None and part.kind in (GpuKind.KERNEL, GpuKind.GRAPH):
                launches[part.launch[part.launch >= 0]] = True
    return outermost(np.flatnonzero(launches), parent)
