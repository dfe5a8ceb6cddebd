"""Grows the tree of a timeline, sums it up, and writes the store: the summary first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...native import ColumnStream, trim_memory
from ..model import NO_WORK, Severity
from ..progress import Progress
from ..stalls import write_stalls
from ..summary import Summary, write_strings, write_summary
from ..writer import StoreWriter
from .columns import GpuOps
from .grow import Grown
from .parts import Owners, Parts, null_of
from .stack import around, operators
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

    def run(self, facts: Mapping[str, object], notes: Sequence[tuple[Severity, str, str]]) -> None:
        """All stages in order."""
        self._begin("Building call paths", 0.7)
        grown = Grown(self._parts, self._owners, self._tolerance_ns)
        self._begin("Summing up", 0.76)
        self._summarise(grown, facts, notes)
        self._writer.summary_ready()
        self._begin("Writing events", 0.8)
        self._write_events(grown)

    def _begin(self, stage: str, fraction: float) -> None:
        trim_memory()
        self._progress(stage, fraction)

    def _summarise(
        self,
        grown: Grown,
        facts: Mapping[str, object],
        notes: Sequence[tuple[Severity, str, str]],
    ) -> None:
        parts, owners, writer = self._parts, self._owners, self._writer
        found = write_summary(
            writer,
            Summary(
                tree=owners.contexts.tree,
                processes=owners.processes,
                lanes=owners.lanes,
                devices=owners.devices,
                host=grown.host_columns(),
                ops=grown.op_columns(),
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
            write_stalls(writer, parts.stalls, grown.kernel_nodes())
        write_strings(writer, owners.pool)
        orphans = {
            f"orphans.{ops.kind.name.lower()}": _orphans(ops)
            for ops in parts.ops
            if ops.kind not in NO_WORK
        }
        writer.facts({"span_ns": self._span_ns(), **orphans, **facts, **found})
        writer.notes(notes)

    def _span_ns(self) -> int:
        parts = self._parts
        ends = [int(host.end.max()) for host in (parts.host, parts.loose) if host is not None]
        ends += [int((ops.start + ops.dur).max()) for ops in parts.ops]
        ends += [int(part.time.max()) for part in (parts.memory, parts.counters) if part]
        return max(ends, default=0)

    def _write_events(self, grown: Grown) -> None:
        parts, writer, stack = self._parts, self._writer, grown.stack
        rows = HostRows(parts.host, parts.loose)
        device_of = self._owners.device_of()
        first, total = 0, max(1, sum(len(ops) for ops in parts.ops))
        while parts.ops:
            ops, node = parts.ops.pop(0), grown.op_nodes.pop(0)
            operator = None
            if ops.launch is not None and parts.host is not None and stack is not None:
                operator = operators(parts.host, stack.nesting.parent, ops.launch)
            first = write_ops(writer, ops, node, operator, rows.ids, device_of, first)
            self._progress("Writing events", 0.8 + 0.05 * first / total)
        if parts.memory is not None and grown.memory_nodes is not None:
            write_memory(writer, parts.memory, grown.memory_nodes)
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
