"""Rows of the event tables."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..arrays import I16, I32, NULL32, NULL64, U32
from ..rows import Column, insert, order_of
from ..writer import StoreWriter
from .columns import Counters, Flows, GpuOps, HostEvents, MemoryEvents
from .stack import Stack

_NULLS: Final[Mapping[str, int]] = {
    "domain": -1,
    "correlation": NULL64,
    "result": NULL32,
    "args": -1,
    "sequence": NULL64,
    "forward": -1,
    "collective": -1,
    "full_name": -1,
    "config": -1,
    "bytes": NULL64,
    "graph_node": NULL64,
    "graph": NULL64,
    "device": -1,
    "node": -1,
    "event": -1,
    "category": -1,
    "op": -1,
    "recorded_dur_ns": NULL64,
}


def _put(columns: dict[str, Column], optional: Mapping[str, NDArray[Any] | None]) -> None:
    columns.update({name: column for name, column in optional.items() if column is not None})


class HostRows:
    """Numbers and writes the host events: by kind, lane and start, nested ones or not."""

    def __init__(self, host: HostEvents | None, loose: HostEvents | None) -> None:
        self._host = host
        self._loose = loose
        self.ids: I32 = np.empty(0, np.int32)
        """Id by row of the nested events."""
        self._order: U32 = np.empty(0, np.uint32)
        counts = np.zeros((2, 256), np.int64)
        if host is not None:
            counts[0] = np.bincount(host.kind, minlength=256)
            self._order = _order([host.kind, host.lane, host.start], len(host))
        self._loose_order: U32 = np.empty(0, np.uint32)
        if loose is not None:
            counts[1] = np.bincount(loose.kind, minlength=256)
            self._loose_order = _order([loose.kind, loose.lane, loose.start], len(loose))
        self._counts = counts
        if host is not None:
            before = np.cumsum(counts[1]) - counts[1]
            self.ids = np.empty(len(host), np.int32)
            self.ids[self._order] = np.arange(len(host)) + np.repeat(before, counts[0])

    def write(self, writer: StoreWriter, stack: Stack | None) -> None:
        """All host events, kind by kind."""
        first = 0
        at = [0, 0]
        for side, rows in self._runs():
            part = slice(at[side], at[side] + rows)
            at[side] += rows
            if side == 0 and self._host is not None and stack is not None:
                columns = self._nested(self._host, stack)
                order, length = self._order[part], len(self._host)
            elif self._loose is not None:
                columns, order = _common(self._loose), self._loose_order[part]
                length = len(self._loose)
            else:
                continue
            # A range counts the rows as they are delivered; its length is that of the columns.
            columns["id"] = range(first, first + length)
            insert(writer, "host_event", columns, order, _NULLS)
            first += rows

    def _runs(self) -> list[tuple[int, int]]:
        """(0 nested or 1 loose, rows) of consecutive kinds."""
        runs: list[tuple[int, int]] = []
        for kind in range(self._counts.shape[1]):
            for side in (0, 1):
                rows = int(self._counts[side, kind])
                if rows and runs and runs[-1][0] == side:
                    runs[-1] = (side, runs[-1][1] + rows)
                elif rows:
                    runs.append((side, rows))
        return runs

    def _nested(self, host: HostEvents, stack: Stack) -> dict[str, Column]:
        columns: dict[str, Column] = {
            **_common(host),
            "self_ns": stack.nesting.self_ns,
            "parent": (self.ids, stack.nesting.parent),
            "depth": stack.nesting.depth,
            "node": stack.node,
        }
        if host.forward is not None:
            columns["forward"] = (self.ids, host.forward)
        return columns


def _order(keys: list[NDArray[Any]], rows: int) -> U32:
    order = order_of(keys)
    return np.arange(rows, dtype=np.uint32) if order is None else order


def _common(host: HostEvents) -> dict[str, Column]:
    columns: dict[str, Column] = {
        "kind": host.kind,
        "lane": host.lane,
        "start_ns": host.start,
        "dur_ns": host.end - host.start,
        "name": host.name,
        "open": np.zeros(len(host), np.bool_) if host.open is None else host.open,
    }
    _put(
        columns,
        {
            "domain": host.domain,
            "correlation": host.correlation,
            "result": host.result,
            "args": host.args,
            "sequence": host.sequence,
            "collective": host.collective,
        },
    )
    return columns


def write_ops(
    writer: StoreWriter,
    ops: GpuOps,
    node: I32 | None,
    operator: I32 | None,
    host_ids: I32,
    device_of: I16,
    first: int,
) -> int:
    """GPU rows of one kind; `operator` rows of the host events. Returns the next free id."""
    columns: dict[str, Column] = {
        "id": range(first, first + len(ops)),
        "kind": np.full(len(ops), ops.kind, np.uint8),
        "device": (device_of, ops.lane),
        "lane": ops.lane,
        "start_ns": ops.start,
        "dur_ns": ops.dur,
        "name": ops.name,
    }
    if ops.launch is not None and len(host_ids):
        columns["launch"] = (host_ids, ops.launch)
    if operator is not None:
        columns["op"] = (host_ids, operator)
    _put(
        columns,
        {
            "full_name": ops.full_name,
            "correlation": ops.correlation,
            "node": node,
            "config": ops.config,
            "bytes": ops.bytes,
            "graph_node": ops.graph_node,
            "graph": ops.graph,
            "args": ops.args,
            "collective": ops.collective,
            "recorded_dur_ns": ops.recorded_dur,
            "flow_linked": ops.flow_linked,
        },
    )
    insert(writer, "gpu_op", columns, order_of([ops.lane, ops.start]), _NULLS)
    return first + len(ops)


def write_memory(writer: StoreWriter, memory: MemoryEvents, node: I32) -> None:
    """Allocations and releases, by time."""
    columns: dict[str, Column] = {
        "device": memory.device,
        "process": memory.process,
        "lane": memory.lane,
        "time_ns": memory.time,
        "bytes": memory.bytes,
        "host": memory.device < 0 if memory.host is None else memory.host,
        "node": node,
    }
    _put(
        columns,
        {
            "allocated_bytes": memory.allocated,
            "reserved_bytes": memory.reserved,
            "kind": memory.kind,
            "address": memory.address,
        },
    )
    nulls = {
        "device": -1,
        "process": -1,
        "lane": -1,
        "node": -1,
        "allocated_bytes": NULL64,
        "reserved_bytes": NULL64,
        "kind": NULL32,
        "address": NULL64,
    }
    insert(writer, "memory_event", columns, order_of([memory.time]), nulls)


def write_counters(writer: StoreWriter, counters: Counters) -> None:
    """Values over time, by device, name and time."""
    columns: dict[str, Column] = {
        "device": counters.device,
        "name": counters.name,
        "time_ns": counters.time,
        "value": counters.value,
    }
    order = order_of([counters.device, counters.name, counters.time])
    insert(writer, "counter", columns, order, {"device": -1})


def write_flows(writer: StoreWriter, flows: Flows, event: I32 | None, host_ids: I32) -> None:
    """Points of arrows; `event` rows of the host events around them."""
    columns: dict[str, Column] = {
        "flow": flows.flow,
        "phase": flows.phase,
        "lane": flows.lane,
        "time_ns": flows.time,
        "name": flows.name,
        "category": flows.category,
    }
    if event is not None:
        columns["event"] = (host_ids, event)
    insert(writer, "flow", columns, None, _NULLS)
