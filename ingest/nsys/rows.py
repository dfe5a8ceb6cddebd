"""Rows of the event tables: sorted by (kind, lane, start), numbered in that order."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import ColumnStream, is_sorted, sort_order
from ..model import HostKind
from ..store import StoreWriter
from .arrays import I16, I32, NULL32, NULL64, U32, Mask
from .calls import Calls
from .counters import Counters, MemoryUsage
from .gpu import GpuOps
from .nvtx import Annotations
from .paths import HostStack
from .samples import Samples
from .threads import Intervals, ThreadEvents

_NO_DEVICE: Final = -1


def order_of(keys: list[NDArray[Any]]) -> U32 | None:
    """Order by the keys; None when they are in order already."""
    return None if is_sorted(keys) else sort_order(keys)


def _positions(order: U32 | None, rows: int, first: int) -> I32:
    """Id of each row when rows are numbered from `first` in `order`."""
    ids = np.arange(first, first + rows, dtype=np.int32)
    if order is None:
        return ids
    out = np.empty(rows, np.int32)
    out[order] = ids
    return out


@dataclass(slots=True)
class HostRows:
    """Ids of the host events of the call tree."""

    annotation_order: U32 | None
    call_order: U32 | None
    ids: I32
    """By row of the stack (annotations, then calls)."""


def number_host_rows(stack: Annotations | None, calls: Calls | None) -> HostRows:
    """Annotations come first, then runtime calls, then driver calls."""
    annotation_order = call_order = None
    parts: list[I32] = []
    first = 0
    if stack is not None:
        annotation_order = order_of([stack.lane, stack.span.start])
        parts.append(_positions(annotation_order, len(stack), 0))
        first = len(stack)
    if calls is not None:
        call_order = order_of([calls.kind, calls.lane, calls.span.start])
        parts.append(_positions(call_order, len(calls), first))
    ids = np.concatenate(parts) if parts else np.empty(0, np.int32)
    return HostRows(annotation_order, call_order, ids)


def _open(mask: Mask | None, rows: int) -> Mask:
    return np.zeros(rows, np.bool_) if mask is None else mask


def _parents(host: HostStack, rows: HostRows, part: slice) -> I32:
    parent = host.nesting.parent[part]
    return np.where(parent >= 0, rows.ids[parent], np.int32(-1))


def write_annotations(
    writer: StoreWriter, stack: Annotations, host: HostStack, rows: HostRows
) -> None:
    """Push-pop ranges."""
    part = slice(0, len(stack))
    columns: dict[str, NDArray[Any]] = {
        "id": rows.ids[part],
        "kind": np.full(len(stack), HostKind.ANNOTATION, np.uint8),
        "lane": stack.lane,
        "start_ns": stack.span.start,
        "dur_ns": stack.span.end - stack.span.start,
        "self_ns": host.nesting.self_ns[part],
        "name": stack.name,
        "domain": stack.domain,
        "parent": _parents(host, rows, part),
        "depth": host.nesting.depth[part],
        "node": host.node[part],
        "open": _open(stack.span.open, len(stack)),
    }
    nulls = {"domain": -1, "parent": -1}
    writer.insert("host_event", ColumnStream(columns, order=rows.annotation_order, nulls=nulls))
    _write_payloads(writer, stack, rows.ids[part])


def write_calls(writer: StoreWriter, calls: Calls, host: HostStack, rows: HostRows) -> None:
    """Runtime and driver calls."""
    part = slice(host.annotations, host.annotations + len(calls))
    columns: dict[str, NDArray[Any]] = {
        "id": rows.ids[part],
        "kind": calls.kind,
        "lane": calls.lane,
        "start_ns": calls.span.start,
        "dur_ns": calls.span.end - calls.span.start,
        "self_ns": host.nesting.self_ns[part],
        "name": calls.name,
        "parent": _parents(host, rows, part),
        "depth": host.nesting.depth[part],
        "correlation": calls.correlation.view(np.uint32),
        "node": host.node[part],
        "result": calls.result,
        "open": _open(calls.span.open, len(calls)),
    }
    nulls = {"parent": -1, "correlation": NULL32 & 0xFFFFFFFF, "result": NULL32}
    writer.insert("host_event", ColumnStream(columns, order=rows.call_order, nulls=nulls))


def write_thread_events(writer: StoreWriter, events: list[ThreadEvents], first: int) -> int:
    """Events outside the call tree, of one kind. Returns the next free id."""
    events = [part for part in events if len(part)]
    if not events:
        return first
    kind = events[0].kind
    lane = np.concatenate([part.lane for part in events])
    start = np.concatenate([part.span.start for part in events])
    order = order_of([lane, start])
    columns: dict[str, NDArray[Any]] = {
        "id": _positions(order, len(lane), first),
        "kind": np.full(len(lane), kind, np.uint8),
        "lane": lane,
        "start_ns": start,
        "dur_ns": np.concatenate([part.span.end - part.span.start for part in events]),
        "name": np.concatenate([part.name for part in events]),
        "open": np.concatenate([_open(part.span.open, len(part)) for part in events]),
    }
    nulls: dict[str, int] = {}
    if any(part.result is not None for part in events):
        columns["result"] = np.concatenate([_or_null(part.result, part) for part in events])
        nulls["result"] = NULL32
    if any(part.correlation is not None for part in events):
        columns["correlation"] = np.concatenate(
            [_or_null(part.correlation, part) for part in events]
        ).view(np.uint32)
        nulls["correlation"] = NULL32 & 0xFFFFFFFF
    writer.insert("host_event", ColumnStream(columns, order=order, nulls=nulls))
    return first + len(lane)


def _or_null(column: I32 | None, part: ThreadEvents) -> I32:
    return np.full(len(part), NULL32, np.int32) if column is None else column


def write_loose_annotations(
    writer: StoreWriter, kind: HostKind, events: Annotations, first: int
) -> int:
    """Start-end ranges or marks. Returns the next free id."""
    if not len(events):
        return first
    order = order_of([events.lane, events.span.start])
    ids = _positions(order, len(events), first)
    columns: dict[str, NDArray[Any]] = {
        "id": ids,
        "kind": np.full(len(events), kind, np.uint8),
        "lane": events.lane,
        "start_ns": events.span.start,
        "dur_ns": events.span.end - events.span.start,
        "name": events.name,
        "domain": events.domain,
        "open": _open(events.span.open, len(events)),
    }
    writer.insert("host_event", ColumnStream(columns, order=order, nulls={"domain": -1}))
    _write_payloads(writer, events, ids)
    return first + len(events)


def _write_payloads(writer: StoreWriter, events: Annotations, ids: I32) -> None:
    if events.payload is None:
        return
    rows = np.flatnonzero(events.payload >= 0)
    if not len(rows):
        return
    event, text = ids[rows], events.payload[rows]
    order = order_of([event])
    writer.insert("event_payload", ColumnStream({"event": event, "json": text}, order=order))


def write_ops(
    writer: StoreWriter,
    ops: GpuOps,
    device: I16,
    lane: I32,
    launch: I32,
    node: I32 | None,
    config: I32 | None,
    first: int,
) -> int:
    """GPU work of one kind; `launch` holds ids of host events. Returns the next free id."""
    order = order_of([lane, ops.start])
    columns: dict[str, NDArray[Any]] = {
        "id": _positions(order, len(ops), first),
        "kind": np.full(len(ops), ops.kind, np.uint8),
        "device": device,
        "lane": lane,
        "start_ns": ops.start,
        "dur_ns": ops.dur,
        "name": ops.name,
        "correlation": ops.correlation.view(np.uint32),
        "launch": launch,
    }
    nulls = {"device": _NO_DEVICE, "correlation": NULL32 & 0xFFFFFFFF, "launch": -1}
    optional: dict[str, tuple[NDArray[Any] | None, int]] = {
        "full_name": (ops.full_name, -1),
        "node": (node, -1),
        "config": (config, -1),
        "bytes": (ops.bytes, NULL64),
        "graph_node": (ops.graph_node, NULL64),
        "graph": (ops.graph, NULL64),
    }
    for name, (column, null) in optional.items():
        if column is not None:
            columns[name] = column
            nulls[name] = null
    writer.insert("gpu_op", ColumnStream(columns, order=order, nulls=nulls))
    return first + len(ops)


def write_samples(writer: StoreWriter, samples: Samples, node: I32) -> None:
    """CPU samples, by lane and time."""
    columns: dict[str, NDArray[Any]] = {
        "lane": samples.lane,
        "time_ns": samples.time,
        "node": node,
        "weight": samples.weight,
        "cpu": samples.cpu,
    }
    order = order_of([samples.lane, samples.time])
    writer.insert("cpu_sample", ColumnStream(columns, order=order, nulls={"cpu": NULL32}))


def write_intervals(writer: StoreWriter, intervals: Intervals) -> None:
    """Scheduling intervals; they are in order of (lane, start)."""
    columns: dict[str, NDArray[Any]] = {
        "lane": intervals.lane,
        "start_ns": intervals.start,
        "dur_ns": intervals.dur,
        "cpu": intervals.cpu,
    }
    writer.insert("sched_interval", ColumnStream(columns, nulls={"cpu": NULL32}))


def write_memory(writer: StoreWriter, usage: MemoryUsage, device: I16) -> None:
    """Allocations and releases, by time."""
    columns: dict[str, NDArray[Any]] = {
        "device": device,
        "process": usage.process,
        "time_ns": usage.time,
        "bytes": usage.bytes,
        "address": usage.address,
        "kind": usage.kind,
    }
    nulls = {"device": -1, "process": -1, "address": NULL64, "kind": NULL32}
    order = order_of([usage.time])
    writer.insert("memory_event", ColumnStream(columns, order=order, nulls=nulls))


def write_counters(writer: StoreWriter, counters: Counters) -> None:
    """Sampled metrics, by device, name and time."""
    columns: dict[str, NDArray[Any]] = {
        "device": counters.device,
        "name": counters.name,
        "time_ns": counters.time,
        "value": counters.value,
    }
    order = order_of([counters.device, counters.name, counters.time])
    writer.insert("counter", ColumnStream(columns, order=order, nulls={"device": -1}))
