"""Rows of the event tables: sorted by (kind, lane, start), numbered in that order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import ColumnStream, is_sorted, sort_order
from ..model import HostKind
from ..store import StoreWriter
from .arrays import I32, NULL32, NULL64, U32, Mask
from .calls import Calls
from .nvtx import Annotations
from .paths import HostStack
from .placed import PlacedOps
from .threads import ThreadEvents

Columns = dict[str, NDArray[Any]]
Pick = U32 | slice
"""Rows of one portion, as an index into the columns."""

_NO_CORRELATION: Final = NULL32 & 0xFFFFFFFF
_PORTION_ROWS: Final = 2 * 122_880
"""Rows handed over at a time (a multiple of a row group): what is derived stays small."""


def order_of(keys: list[NDArray[Any]]) -> U32 | None:
    """Order by the keys; None when they are in order already."""
    return None if is_sorted(keys) else sort_order(keys)


def positions(order: U32 | None, rows: int, first: int) -> I32:
    """Id of each row when rows are numbered from `first` in `order`."""
    ids = np.arange(first, first + rows, dtype=np.int32)
    if order is None:
        return ids
    out = np.empty(rows, np.int32)
    out[order] = ids
    return out


def write_portions(
    writer: StoreWriter,
    table: str,
    rows: int,
    order: U32 | None,
    columns: Callable[[Pick], Columns],
    nulls: dict[str, int],
    first_id: int,
) -> int:
    """Write rows in order, with ids from `first_id`. Returns the next free id."""
    for begin in range(0, rows, _PORTION_ROWS):
        end = min(begin + _PORTION_ROWS, rows)
        pick = slice(begin, end) if order is None else order[begin:end]
        ids = np.arange(first_id + begin, first_id + end, dtype=np.int32)
        writer.insert(table, _portion(ids, columns(pick), nulls))
    return first_id + rows


def _portion(ids: I32, columns: Columns, nulls: dict[str, int]) -> ColumnStream:
    part = {"id": ids, **columns}
    given = {name: null for name, null in nulls.items() if name in part}
    return ColumnStream(part, nulls=given)


def _size(pick: Pick) -> int:
    return pick.stop - pick.start if isinstance(pick, slice) else len(pick)


def _same(value: int, pick: Pick) -> NDArray[np.uint8]:
    return np.full(_size(pick), value, np.uint8)


def _open(mask: Mask | None, pick: Pick) -> Mask:
    return np.zeros(_size(pick), np.bool_) if mask is None else mask[pick]


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


def _ids_of(rows: I32, ids: I32) -> I32:
    """Ids of rows, -1 for -1."""
    return np.where(rows >= 0, ids[rows], np.int32(-1)) if len(ids) else rows


def write_annotations(
    writer: StoreWriter, stack: Annotations, host: HostStack, rows: HostRows
) -> None:
    """Push-pop ranges."""
    part = slice(0, len(stack))
    parent, depth = host.nesting.parent[part], host.nesting.depth[part]
    self_ns, node, span = host.nesting.self_ns[part], host.node[part], stack.span

    def columns(pick: Pick) -> Columns:
        return {
            "kind": _same(HostKind.ANNOTATION, pick),
            "lane": stack.lane[pick],
            "start_ns": span.start[pick],
            "dur_ns": span.end[pick] - span.start[pick],
            "self_ns": self_ns[pick],
            "name": stack.name[pick],
            "domain": stack.domain[pick],
            "parent": _ids_of(parent[pick], rows.ids),
            "depth": depth[pick],
            "node": node[pick],
            "open": _open(span.open, pick),
        }

    nulls = {"domain": -1, "parent": -1}
    write_portions(
        writer, "host_event", len(stack), rows.annotation_order, columns, nulls, first_id=0
    )
    _write_payloads(writer, stack, rows.ids[part])


def write_calls(writer: StoreWriter, calls: Calls, host: HostStack, rows: HostRows) -> int:
    """Runtime and driver calls. Returns the next free id."""
    part = slice(host.annotations, host.annotations + len(calls))
    parent, depth = host.nesting.parent[part], host.nesting.depth[part]
    self_ns, node, span = host.nesting.self_ns[part], host.node[part], calls.span

    def columns(pick: Pick) -> Columns:
        return {
            "kind": calls.kind[pick],
            "lane": calls.lane[pick],
            "start_ns": span.start[pick],
            "dur_ns": span.end[pick] - span.start[pick],
            "self_ns": self_ns[pick],
            "name": calls.name[pick],
            "parent": _ids_of(parent[pick], rows.ids),
            "depth": depth[pick],
            "correlation": calls.correlation[pick].view(np.uint32),
            "node": node[pick],
            "result": calls.result[pick],
            "open": _open(span.open, pick),
        }

    nulls = {"parent": -1, "correlation": _NO_CORRELATION, "result": NULL32}
    return write_portions(
        writer,
        "host_event",
        len(calls),
        rows.call_order,
        columns,
        nulls,
        first_id=host.annotations,
    )


def write_thread_events(writer: StoreWriter, events: list[ThreadEvents], first: int) -> int:
    """Events outside the call tree, of one kind. Returns the next free id."""
    events = [part for part in events if len(part)]
    if not events:
        return first
    kind = events[0].kind
    lane = np.concatenate([part.lane for part in events])
    start = np.concatenate([part.span.start for part in events])
    end = np.concatenate([part.span.end for part in events])
    name = np.concatenate([part.name for part in events])
    open_ = np.concatenate([_open(part.span.open, slice(0, len(part))) for part in events])
    result = np.concatenate([_or_null(part.result, part) for part in events])
    correlation = np.concatenate([_or_null(part.correlation, part) for part in events])

    def columns(pick: Pick) -> Columns:
        return {
            "kind": _same(kind, pick),
            "lane": lane[pick],
            "start_ns": start[pick],
            "dur_ns": end[pick] - start[pick],
            "name": name[pick],
            "correlation": correlation[pick].view(np.uint32),
            "result": result[pick],
            "open": open_[pick],
        }

    nulls = {"correlation": _NO_CORRELATION, "result": NULL32}
    order = order_of([lane, start])
    return write_portions(writer, "host_event", len(lane), order, columns, nulls, first)


def _or_null(column: I32 | None, part: ThreadEvents) -> I32:
    return np.full(len(part), NULL32, np.int32) if column is None else column


def write_loose_annotations(
    writer: StoreWriter, kind: HostKind, events: Annotations, first: int
) -> int:
    """Start-end ranges or marks. Returns the next free id."""
    span = events.span

    def columns(pick: Pick) -> Columns:
        return {
            "kind": _same(kind, pick),
            "lane": events.lane[pick],
            "start_ns": span.start[pick],
            "dur_ns": span.end[pick] - span.start[pick],
            "name": events.name[pick],
            "domain": events.domain[pick],
            "open": _open(span.open, pick),
        }

    order = order_of([events.lane, span.start])
    _write_payloads(writer, events, positions(order, len(events), first))
    return write_portions(writer, "host_event", len(events), order, columns, {"domain": -1}, first)


def _write_payloads(writer: StoreWriter, events: Annotations, ids: I32) -> None:
    if events.payload is None:
        return
    rows = np.flatnonzero(events.payload >= 0)
    if len(rows):
        event, text = ids[rows], events.payload[rows]
        stream = ColumnStream({"event": event, "json": text}, order=order_of([event]))
        writer.insert("event_payload", stream)


def write_ops(writer: StoreWriter, placed: PlacedOps, call_ids: I32, first: int) -> int:
    """GPU work of one kind; `call_ids` are the ids of the calls. Returns the next free id."""
    ops = placed.ops

    def columns(pick: Pick) -> Columns:
        owner, label = ops.owner[pick], ops.label[pick]
        part: Columns = {
            "kind": _same(ops.kind, pick),
            "device": placed.device_of[owner],
            "lane": placed.lane_of[owner],
            "start_ns": ops.start[pick],
            "dur_ns": ops.dur[pick],
            "name": ops.name_of[label],
            "correlation": ops.correlation[pick].view(np.uint32),
            "launch": _ids_of(placed.launch[pick], call_ids),
        }
        by_label = {"full_name": ops.full_name_of, "config": ops.config_of}
        by_row: dict[str, NDArray[Any] | None] = {
            "node": placed.node,
            "bytes": ops.bytes,
            "graph_node": ops.graph_node,
            "graph": ops.graph,
        }
        part.update({name: of[label] for name, of in by_label.items() if of is not None})
        part.update({name: column[pick] for name, column in by_row.items() if column is not None})
        return part

    nulls = {
        "device": -1,
        "correlation": _NO_CORRELATION,
        "launch": -1,
        "full_name": -1,
        "bytes": NULL64,
        "graph_node": NULL64,
        "graph": NULL64,
    }
    order = order_of([placed.lane_of[ops.owner], ops.start])
    return write_portions(writer, "gpu_op", len(ops), order, columns, nulls, first)
