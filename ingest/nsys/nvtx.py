"""NVTX: ranges, marks, and the names that applications give to threads and domains."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import TextColumn, intern_rows
from ..account import count
from ..arrays import I32, I64, NULL32, Mask
from .identity import Identity
from .payloads import read_payloads
from .reader import Rows, TableReader
from .strings import Strings
from .times import Clock, Span

TABLE: Final = "NVTX_EVENTS"
REQUIRED: Final = ("start", "eventType")

_PUSH_POP: Final = (59, 70, 35, 66)
_START_END: Final = (60, 71, 37, 68)
_HALF_ENDS: Final = (36, 38, 67, 69)
_MARKS: Final = (34, 65)
_CATEGORIES: Final = (33, 64)
_THREAD_NAME: Final = 39
_DOMAIN_CREATE: Final = 75
_DOMAIN_DESTROY: Final = 76
_OBJECT_NAMES: Final = (97, 98, 99)
_GIL: Final = ("Holding GIL", "Waiting for GIL")


@dataclass(slots=True)
class Annotations:
    """NVTX events of one sort. Ids are of the pool; `domain` and `payload` -1 where none."""

    span: Span
    lane: I32
    name: I32
    domain: I32
    payload: I32 | None

    def __len__(self) -> int:
        return len(self.lane)


@dataclass(slots=True)
class Nvtx:
    """Push-pop ranges nest on their thread; start-end ranges and marks do not."""

    stack: Annotations
    ranges: Annotations
    marks: Annotations
    thread_names: dict[int, str]
    """Names given through NVTX, by lane."""


def read_nvtx(
    reader: TableReader, strings: Strings, identity: Identity, clock: Clock
) -> Nvtx | None:
    """All NVTX events; None when the table is absent."""
    table = reader.find(TABLE, REQUIRED)
    if table is None:
        return None
    rows = reader.read(
        table,
        {
            "start": "i64",
            "end": "i64",
            "eventType": "i32",
            "globalTid": "i64",
            "domainId": "i64",
            "text": "text",
            "textId": "i32",
            "jsonText": "text",
            "jsonTextId": "i32",
        },
    )
    event_type = rows.i32("eventType")
    is_event = np.isin(event_type, _PUSH_POP + _START_END + _MARKS)
    definitions = _definitions(rows, strings, identity, event_type, is_event)
    _account_rest(reader, table, event_type, is_event)
    if not is_event.all():
        rows.keep(is_event)
    span = _spans_of(rows, clock)
    event_type = rows.i32("eventType")
    lane = identity.thread_column(rows.i64("globalTid"))
    name = _texts(rows, strings, "text", "textId")
    if (name < 0).any():
        name = np.where(name < 0, strings.pool.intern("[no text]"), name)
    payload = _payload_texts(reader, table, rows, strings)
    everything = Annotations(
        span,
        lane,
        name,
        _domain_names(rows, strings, identity, lane, definitions.domains),
        payload if (payload >= 0).any() else None,
    )
    stacked = np.isin(event_type, _PUSH_POP)
    ranged = np.isin(event_type, _START_END)
    waiting = stacked & np.isin(name, [strings.pool.intern(text) for text in _GIL])
    stacked &= ~waiting
    marked = ~(stacked | ranged | waiting)
    ranges = _select(everything, ranged | waiting)
    moved = ranged[ranged | waiting]
    ranges.lane[moved] = _range_lanes(ranges.lane[moved], identity)
    marks = _select(everything, marked)
    marks.span = Span(marks.span.start, marks.span.start.copy(), None)
    stack = everything if stacked.all() else _select(everything, stacked)
    if everything.span.open is not None:
        reader.account.remark(table, "open_range", count(everything.span.open))
    return Nvtx(stack, ranges, marks, definitions.thread_names)


@dataclass(slots=True)
class _Definitions:
    domains: dict[tuple[int, int], str]
    thread_names: dict[int, str]


def _definitions(
    rows: Rows, strings: Strings, identity: Identity, event_type: I32, is_event: Mask
) -> _Definitions:
    """Domain names by (process, domain id), thread names by lane: few rows, one by one."""
    found = _Definitions({}, {})
    inline = rows.text("text")
    for row in np.flatnonzero(~is_event).tolist():
        code = int(event_type[row])
        if code not in (_DOMAIN_CREATE, _THREAD_NAME):
            continue
        text = _text_at(inline, rows, strings, row)
        if text is None:
            continue
        lane = identity.thread(int(rows.i64("globalTid")[row]))
        if code == _DOMAIN_CREATE:
            domain = int(rows.i64("domainId")[row])
            found.domains[identity.lanes[lane].process, domain] = text
        else:
            found.thread_names[lane] = text
    return found


def _text_at(inline: TextColumn | None, rows: Rows, strings: Strings, row: int) -> str | None:
    text = inline[row] if inline is not None else None
    if text is not None:
        return text
    string_id = int(rows.i32("textId")[row])
    return None if string_id == NULL32 else strings.text(string_id)


def _account_rest(reader: TableReader, table: str, event_type: I32, is_event: Mask) -> None:
    """Say why the rows that are neither ranges nor marks are not events."""
    reasons = {
        **dict.fromkeys(_CATEGORIES, "category_name"),
        **dict.fromkeys(_HALF_ENDS, "range_half"),
        **dict.fromkeys(_OBJECT_NAMES, "cuda_object_name"),
        _DOMAIN_DESTROY: "domain_destroyed",
    }
    for code in np.unique(event_type[~is_event]).tolist():
        if code in (_DOMAIN_CREATE, _THREAD_NAME):
            continue
        reason = reasons.get(code, f"type_{code}")
        reader.account.leave_out(table, reason, count(event_type == code))


def _payload_texts(reader: TableReader, table: str, rows: Rows, strings: Strings) -> I32:
    """Pool ids of the payloads as JSON: recorded so, else made from what is recorded; else -1."""
    recorded = _texts(rows, strings, "jsonText", "jsonTextId")
    made = read_payloads(reader, table, strings.pool)
    return recorded if made is None else np.where(recorded < 0, made[rows.kept_rows()], recorded)


def _spans_of(rows: Rows, clock: Clock) -> Span:
    span = clock.spans(rows)
    event_type = rows.i32("eventType")
    marks = np.isin(event_type, _MARKS)
    if span.open is not None:
        span.open &= ~marks
        if not span.open.any():
            span.open = None
    return span


def _texts(rows: Rows, strings: Strings, inline: str, registered: str) -> I32:
    """Pool ids of the inline texts, else of the registered ones, else -1."""
    column = rows.text(inline)
    if column is None:
        return strings.resolve(rows.i32(registered))
    kept = rows.kept_rows()
    if len(kept) == len(column):
        out = strings.pool.intern_column(column)
    else:
        out = strings.pool.intern_rows(column, kept)
    if column.null_count and rows.has(registered):
        lacking = out < 0
        out = out.copy()
        out[lacking] = strings.resolve(rows.i32(registered)[lacking])
    return out


def _domain_names(
    rows: Rows,
    strings: Strings,
    identity: Identity,
    lane: I32,
    names: dict[tuple[int, int], str],
) -> I32:
    """Pool id of each event's domain, -1 for the default domain."""
    if not rows.has("domainId") or not len(lane):
        return np.full(len(lane), -1, np.int32)
    domain: I64 = rows.i64("domainId")
    dense, first = intern_rows([identity.lane_process()[lane], domain])
    ids: list[int] = []
    for row in first.tolist():
        number = int(domain[row])
        process = identity.lanes[int(lane[row])].process
        if number <= 0:
            ids.append(-1)
        else:
            text = names.get((process, number), f"domain {number} (name not recorded)")
            ids.append(strings.pool.intern(text))
    return np.array(ids, np.int32)[dense]


def _select(events: Annotations, mask: Mask) -> Annotations:
    span = events.span
    return Annotations(
        Span(span.start[mask], span.end[mask], None if span.open is None else span.open[mask]),
        events.lane[mask],
        events.name[mask],
        events.domain[mask],
        None if events.payload is None else events.payload[mask],
    )


def _range_lanes(lane: I32, identity: Identity) -> I32:
    """Lane of the start-end ranges of the process that started each."""
    process = identity.lane_process()[lane]
    owners = np.unique(process)
    lanes = np.array([identity.ranges(owner) for owner in owners.tolist()], np.int32)
    return lanes[np.searchsorted(owners, process)]
