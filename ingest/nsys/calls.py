"""CUDA runtime and driver calls."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import join_first
from ..model import HostKind
from .account import count
from .arrays import I16, I32, NULL32, U8, Mask, distinct
from .identity import Identity
from .names import GRAPH_LAUNCHES, LAUNCHES, base_name
from .reader import TableReader
from .strings import Strings
from .times import Clock, Span

TABLE: Final = "CUPTI_ACTIVITY_KIND_RUNTIME"
REQUIRED: Final = ("start", "end", "globalTid", "nameId")

_BACKTRACE: Final = 67
"""A second row for the same call, which carries the call chain."""
_KINDS: Final = {
    0: HostKind.RUNTIME,
    26: HostKind.RUNTIME,
    1: HostKind.DRIVER,
}


@dataclass(slots=True)
class Calls:
    """API calls, one row each. `name` as recorded, `base` without version; ids of the pool."""

    span: Span
    lane: I32
    kind: U8
    name: I32
    base: I32
    process: I16
    correlation: I32
    result: I32
    chain: I32 | None
    """callchainId as recorded, NULL32 where none."""

    def __len__(self) -> int:
        return len(self.lane)


def read_calls(
    reader: TableReader, strings: Strings, identity: Identity, clock: Clock
) -> Calls | None:
    """All calls but the class 67 twins, whose call chains go to the calls they stand for."""
    table = reader.find(TABLE, REQUIRED)
    if table is None:
        return None
    rows = reader.read(
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
    )
    span = clock.spans(rows)
    event_class = rows.i32("eventClass")
    has_class = rows.has("eventClass")
    lane = identity.thread_column(rows.i64("globalTid"))
    process = identity.lane_process()[lane] if len(lane) else np.empty(0, np.int16)
    name = rows.i32("nameId")
    correlation = rows.i32("correlationId")
    result = rows.i32("returnValue")
    chain = rows.i32("callchainId") if rows.has("callchainId") else None
    keep: Mask | None = None
    kind = np.full(len(lane), HostKind.RUNTIME, np.uint8)
    if has_class:
        kinds = np.full(256, 255, np.uint8)
        for code, host_kind in _KINDS.items():
            kinds[code] = host_kind
        kind = kinds[event_class.astype(np.uint8)]
        twin = event_class == _BACKTRACE
        keep = kind != 255
        if twin.any():
            reader.account.leave_out(table, "class_67", count(twin))
            if chain is not None:
                chain = _adopt_chains(chain, process, correlation, ~twin, twin)
        for code in np.unique(event_class[~keep & ~twin]).tolist():
            other = count(event_class == code)
            reader.account.leave_out(table, f"class_{code}", other)
        if keep.all():
            keep = None
    if keep is not None:
        span.start, span.end = span.start[keep], span.end[keep]
        span.open = None if span.open is None else span.open[keep]
        lane, kind, process = lane[keep], kind[keep], process[keep]
        name, correlation, result = name[keep], correlation[keep], result[keep]
        chain = None if chain is None else chain[keep]
    if chain is not None and not (chain != NULL32).any():
        chain = None
    pooled = strings.resolve(name)
    if (pooled < 0).any():
        pooled = np.where(pooled < 0, strings.pool.intern("<name not recorded>"), pooled)
    return Calls(
        span, lane, kind, pooled, _base_names(pooled, strings), process, correlation, result, chain
    )


def _adopt_chains(chain: I32, process: I16, correlation: I32, calls: Mask, twins: Mask) -> I32:
    """Give each call without a chain the one of its twin."""
    needy = np.flatnonzero(calls & (chain == NULL32))
    owners = np.flatnonzero(twins & (chain != NULL32))
    match = join_first([process[needy], correlation[needy]], [process[owners], correlation[owners]])
    found = match >= 0
    out = chain.copy()
    out[needy[found]] = chain[owners[match[found]]]
    return out


def _base_names(names: I32, strings: Strings) -> I32:
    pool = strings.pool
    used = distinct(names, len(pool))
    bases = [pool.intern(base_name(pool[index])) for index in used.tolist()]
    table = np.empty(len(pool), np.int32)
    table[used] = bases
    return table[names]


def launches(calls: Calls, strings: Strings) -> Mask:
    """True for calls that launch kernels or graphs."""
    return _named(calls, strings, LAUNCHES)


def count_graph_launches(calls: Calls, strings: Strings) -> int:
    """Calls that launch graphs."""
    return count(_named(calls, strings, GRAPH_LAUNCHES))


def _named(calls: Calls, strings: Strings, names: frozenset[str]) -> Mask:
    pool = strings.pool
    table = np.zeros(len(pool), np.bool_)
    for index in distinct(calls.base, len(pool)).tolist():
        table[index] = pool[index] in names
    return table[calls.base]


def correlated_process(calls: Calls | None) -> int:
    """The process to assume for GPU work that does not name one: -1 unless only one has calls."""
    if calls is None:
        return -1
    owners = np.unique(calls.process[calls.process >= 0])
    return int(owners[0]) if len(owners) == 1 else -1
