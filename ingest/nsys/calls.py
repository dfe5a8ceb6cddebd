"""CUDA runtime and driver calls."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import join_first
from ..account import count
from ..api_names import GRAPH_LAUNCHES, LAUNCHES, base_name
from ..arrays import I16, I32, NULL32, U8, Mask, distinct
from ..model import HostKind
from .identity import Identity
from .reader import Rows, TableReader
from .stack import StackRoom
from .strings import Strings
from .times import Clock, Span

TABLE: Final = "CUPTI_ACTIVITY_KIND_RUNTIME"
REQUIRED: Final = ("start", "end", "globalTid", "nameId")

_BACKTRACE: Final = 67
"""A second row for the same call, which carries the call chain."""
_KINDS: Final = {0: HostKind.RUNTIME, 26: HostKind.RUNTIME, 1: HostKind.DRIVER}
_NO_KIND: Final = 255


@dataclass(slots=True)
class Calls:
    """API calls, one row each; `name` as recorded, an id of the pool."""

    span: Span
    lane: I32
    kind: U8
    name: I32
    correlation: I32
    result: I32
    chain: I32 | None
    """callchainId as recorded, NULL32 where none."""
    base_of: I32
    """Pool id of the name without version, by pool id of the name."""

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def base(self) -> I32:
        """Name of each call without API version."""
        return self.base_of[self.name]

    def process(self, identity: Identity) -> I16:
        """Process of each call, -1 where not recorded."""
        return identity.lane_process()[self.lane]


@dataclass(slots=True)
class _Twins:
    """Class 67 rows: whose chain belongs to the call with the same thread and correlation."""

    lane: list[I32]
    correlation: list[I32]
    chain: list[I32]


class _CallReader:
    """Collects the calls of one share after the other."""

    def __init__(
        self,
        reader: TableReader,
        table: str,
        strings: Strings,
        identity: Identity,
        clock: Clock,
        room: StackRoom,
    ) -> None:
        capacity = reader.row_count(table)
        self._account = reader.account
        self._table = table
        self._strings = strings
        self._identity = identity
        self._clock = clock
        self._room = room
        self._rows = 0
        self._kind = np.empty(capacity, np.uint8)
        self._name = np.empty(capacity, np.int32)
        self._correlation = np.empty(capacity, np.int32)
        self._result = np.zeros(capacity, np.int32)
        self._chain: I32 | None = None
        self._open: Mask | None = None
        self._twins = _Twins([], [], [])
        self._kinds = np.full(256, _NO_KIND, np.uint8)
        for code, kind in _KINDS.items():
            self._kinds[code] = kind

    def add(self, rows: Rows) -> None:
        span = self._clock.spans(rows)
        lane = self._identity.thread_column(rows.i64("globalTid"))
        correlation = rows.i32("correlationId")
        chain = rows.i32("callchainId") if rows.has("callchainId") else None
        keep: Mask | None = None
        kind = np.full(rows.count, HostKind.RUNTIME, np.uint8)
        if rows.has("eventClass"):
            event_class = rows.i32("eventClass")
            kind = self._kinds[event_class & 0xFF]
            known = (kind != _NO_KIND) & (event_class >= 0) & (event_class < len(self._kinds))
            if not known.all():
                keep = known
                self._leave_out(event_class, known, lane, correlation, chain)
        self._append(rows, span, lane, correlation, chain, kind, keep)

    def _leave_out(
        self, event_class: I32, keep: Mask, lane: I32, correlation: I32, chain: I32 | None
    ) -> None:
        for code in np.unique(event_class[~keep]).tolist():
            self._account.leave_out(self._table, f"class_{code}", count(event_class == code))
        twins = event_class == _BACKTRACE
        if chain is not None and twins.any():
            self._twins.lane.append(lane[twins])
            self._twins.correlation.append(correlation[twins])
            self._twins.chain.append(chain[twins])

    def _append(
        self,
        rows: Rows,
        span: Span,
        lane: I32,
        correlation: I32,
        chain: I32 | None,
        kind: U8,
        keep: Mask | None,
    ) -> None:
        name, result = self._strings.resolve(rows.i32("nameId")), rows.i32("returnValue")
        start, end, open_ = span.start, span.end, span.open
        if keep is not None:
            lane, start, end, kind = lane[keep], start[keep], end[keep], kind[keep]
            name, correlation, result = name[keep], correlation[keep], result[keep]
            chain = None if chain is None else chain[keep]
            open_ = None if open_ is None else open_[keep]
        if (name < 0).any():
            unnamed = self._strings.pool.intern("<name not recorded>")
            name = np.where(name < 0, unnamed, name)
        first = self._rows
        last = self._rows = first + len(lane)
        self._room.add(lane, start, end)
        self._kind[first:last] = kind
        self._name[first:last] = name
        self._correlation[first:last] = correlation
        failed = np.flatnonzero(result)  # untouched zeros take no memory
        self._result[first + failed] = result[failed]
        if chain is not None:
            if self._chain is None:
                self._chain = np.full(len(self._name), NULL32, np.int32)
            self._chain[first:last] = chain
        if open_ is not None:
            if self._open is None:
                self._open = np.zeros(len(self._name), np.bool_)
            self._open[first:last] = open_

    def finish(self) -> Calls:
        rows = self._rows
        lane, start, end = self._room.take(rows)
        name = self._name[:rows]
        calls = Calls(
            span=Span(start, end, None if self._open is None else self._open[:rows]),
            lane=lane,
            kind=self._kind[:rows],
            name=name,
            correlation=self._correlation[:rows],
            result=self._result[:rows],
            chain=None if self._chain is None else self._chain[:rows],
            base_of=_base_names(name, self._strings),
        )
        if self._twins.lane:
            calls.chain = self._adopt_chains(calls)
        if calls.chain is not None and not (calls.chain != NULL32).any():
            calls.chain = None
        return calls

    def _adopt_chains(self, calls: Calls) -> I32:
        """Give each call without a chain the one of its twin."""
        process_of = self._identity.lane_process()
        chain = np.full(len(calls), NULL32, np.int32) if calls.chain is None else calls.chain
        needy = np.flatnonzero(chain == NULL32)
        twin_chain = np.concatenate(self._twins.chain)
        match = join_first(
            [process_of[calls.lane[needy]], calls.correlation[needy]],
            [
                process_of[np.concatenate(self._twins.lane)],
                np.concatenate(self._twins.correlation),
            ],
        )
        found = match >= 0
        chain[needy[found]] = twin_chain[match[found]]
        return chain


def count_calls(reader: TableReader) -> int:
    """Rows of the table of calls, 0 when it is absent."""
    table = reader.find(TABLE, REQUIRED)
    return 0 if table is None else reader.row_count(table)


def read_calls(
    reader: TableReader, strings: Strings, identity: Identity, clock: Clock, room: StackRoom
) -> Calls | None:
    """All calls but the class 67 twins, whose call chains go to the calls they stand for. Lane,
    start and end are written to `room`."""
    table = reader.find(TABLE, REQUIRED)
    if table is None:
        return None
    collected = _CallReader(reader, table, strings, identity, clock, room)
    for rows in reader.shares(
        table,
        {
            "start": "i64",
            "end": "i64",
            "globalTid": "i64",
            "nameId": "i32",
            "eventClass": "i32",
            "correlationId": "i32",
            "returnValue": "i32",
            "callchainId": "i32",
        },
    ):
        collected.add(rows)
    return collected.finish()


def _base_names(names: I32, strings: Strings) -> I32:
    pool = strings.pool
    used = distinct(names, len(pool))
    bases = [pool.intern(base_name(pool[index])) for index in used.tolist()]
    table = np.full(len(pool), -1, np.int32)
    table[used] = bases
    return table


def launches(calls: Calls, strings: Strings) -> Mask:
    """True for calls that launch kernels or graphs."""
    return _named(calls, strings, LAUNCHES)


def count_graph_launches(calls: Calls, strings: Strings) -> int:
    """Calls that launch graphs."""
    if not any(strings.pool[base] in GRAPH_LAUNCHES for base in set(calls.base_of.tolist()) - {-1}):
        return 0
    return count(_named(calls, strings, GRAPH_LAUNCHES))


def _named(calls: Calls, strings: Strings, names: frozenset[str]) -> Mask:
    pool = strings.pool
    table = np.array([base >= 0 and pool[base] in names for base in calls.base_of.tolist()])
    return table[calls.name] if len(table) else np.empty(0, np.bool_)


def correlated_process(calls: Calls | None, identity: Identity) -> int:
    """The process to assume for GPU work that does not name one: -1 unless only one has calls."""
    if calls is None:
        return -1
    lanes: list[int] = distinct(calls.lane, len(identity.lanes)).tolist()
    owners = {identity.lanes[lane].process for lane in lanes} - {-1}
    return owners.pop() if len(owners) == 1 else -1
