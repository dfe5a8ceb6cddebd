"""Rows of the event tables: sorted by (kind, lane, start), numbered in that order."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..arrays import I32, NULL32, NULL64, U32, Mask
from ..model import HostKind
from ..rows import Column, insert, order_of, positions
from ..writer import StoreWriter
from .calls import Calls
from .nvtx import Annotations
from .paths import HostStack
from .placed import PlacedOps
from .threads import ThreadEvents

_NO_CORRELATION: Final = NULL32 & 0xFFFFFFFF


def _same(value: int, rows: int) -> NDArray[np.uint8]:
    return np.full(rows, value, np.uint8)


def _open(mask: Mask | None, rows: int) -> Mask:
    return np.zeros(rows, np.bool_) if mask is None else mask


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
        parts.append(positions(annotation_order, len(stack), 0))
        first = len(stack)
    if calls is not None:
        call_order = order_of([calls.kind, calls.lane, calls.span.start])
        parts.append(positions(call_order, len(calls), first))
    ids = np.concatenate(parts) if parts else np.empty(0, np.int32)
    return HostRows(annotation_order, call_order, ids)


def write_annotations(
    writer: StoreWriter, stack: Annotations, host: HostStack, rows: HostRows
) -> None:
    """Push-pop ranges. `host.end` holds durations by now."""
    part = slice(0, len(stack))
    columns: dict[str, Column] = {
        "id": range(len(stack)),
        "kind": _same(HostKind.ANNOTATION, len(stack)),
        "lane": stack.lane,
        "start_ns": stack.span.start,
        "dur_ns": host.end[part],
        "self_ns": host.nesting.self_ns[part],
        "name": stack.name,
        "domain": stack.domain,
        "parent": (rows.ids, host.nesting.parent[part]),
        "depth": host.nesting.depth[part],
        "node": host.node[part],
        "open": _open(stack.span.open, len(stack)),
    }
    insert(writer, "host_event", columns, rows.annotation_order, {"domain": -1})
    _write_payloads(writer, stack, rows.ids[part])


def write_calls(writer: StoreWriter, calls: Calls, host: HostStack, rows: HostRows) -> None:
    """Runtime and driver calls. `host.end` holds durations by now."""
    part = slice(host.annotations, host.annotations + len(calls))
    columns: dict[str, Column] = {
        "id": range(part.start, part.stop),
        "kind": calls.kind,
        "lane": calls.lane,
        "start_ns": calls.span.start,
        "dur_ns": host.end[part],
        "self_ns": host.nesting.self_ns[part],
        "name": calls.name,
        "parent": (rows.ids, host.nesting.parent[part]),
        "depth": host.nesting.depth[part],
        "correlation": calls.correlation.view(np.uint32),
        "node": host.node[part],
        "result": calls.result,
        "open": _open(calls.span.open, len(calls)),
    }
    nulls = {"correlation": _NO_CORRELATION, "result": NULL32}
    insert(writer, "host_event", columns, rows.call_order, nulls)


def write_thread_events(writer: StoreWriter, events: list[ThreadEvents], first: int) -> int:
    """Events outside the call tree, of one kind. Returns the next free id."""
    events = [part for part in events if len(part)]
    if not events:
        return first
    lane = np.concatenate([part.lane for part in events])
    start = np.concatenate([part.span.start for part in events])
    correlation = np.concatenate([_or_null(part.correlation, part) for part in events])
    columns: dict[str, Column] = {
        "id": range(first, first + len(lane)),
        "kind": _same(events[0].kind, len(lane)),
        "lane": lane,
        "start_ns": start,
        "dur_ns": np.concatenate([part.span.end - part.span.start for part in events]),
        "name": np.concatenate([part.name for part in events]),
        "correlation": correlation.view(np.uint32),
        "result": np.concatenate([_or_null(part.result, part) for part in events]),
        "open": np.concatenate([_open(part.span.open, len(part)) for part in events]),
    }
    nulls = {"correlation": _NO_CORRELATION, "result": NULL32}
    insert(writer, "host_event", columns, order_of([lane, start]), nulls)
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
    columns: dict[str, Column] = {
        "id": range(first, first + len(events)),
        "kind": _same(kind, len(events)),
        "lane": events.lane,
        "start_ns": events.span.start,
        "dur_ns": events.span.end - events.span.start,
        "name": events.name,
        "domain": events.domain,
        "open": _open(events.span.open, len(events)),
    }
    insert(writer, "host_event", columns, order, {"domain": -1})
    _write_payloads(writer, events, positions(order, len(events), first))
    return first + len(events)


def _write_payloads(writer: StoreWriter, events: Annotations, ids: I32) -> None:
    if events.payload is None:
        return
    rows = np.flatnonzero(events.payload >= 0)
    if len(rows):
        event = ids[rows]
        columns: dict[str, Column] = {"event": event, "json": events.payload[rows]}
        insert(writer, "event_payload", columns, order_of([event]), {})


def write_ops(writer: StoreWriter, placed: PlacedOps, call_ids: I32, first: int) -> int:
    """GPU work of one kind; `call_ids` are the ids of the calls. Returns the next free id."""
    ops = placed.ops
    columns: dict[str, Column] = {
        "id": range(first, first + len(ops)),
        "kind": _same(ops.kind, len(ops)),
        "device": (placed.device_of, ops.owner),
        "lane": (placed.lane_of, ops.owner),
        "start_ns": ops.start,
        "dur_ns": ops.dur,
        "name": (ops.name_of, ops.label),
        "correlation": ops.correlation.view(np.uint32),
        "launch": (call_ids, placed.launch),
    }
    by_label = {"full_name": ops.full_name_of, "config": ops.config_of}
    columns.update({name: (of, ops.label) for name, of in by_label.items() if of is not None})
    by_row: dict[str, NDArray[Any] | None] = {
        "node": placed.node,
        "bytes": ops.bytes,
        "graph_node": ops.graph_node,
        "graph": ops.graph,
    }
    columns.update({name: column for name, column in by_row.items() if column is not None})
    nulls = {
        "device": -1,
        "correlation": _NO_CORRELATION,
        "full_name": -1,
        "bytes": NULL64,
        "graph_node": NULL64,
        "graph": NULL64,
    }
    order = order_of([placed.lane_of[ops.owner], ops.start])
    insert(writer, "gpu_op", columns, order, nulls)
    return first + len(ops)
