"""GPU work: kernels, copies, memory sets, graph replays, and waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import ColumnKind, intern_rows, join_first
from ..account import count
from ..arrays import I16, I32, I64, MOST_BYTES, NULL32, NULL64, as_unsigned
from ..interner import Interner
from ..model import GpuKind
from .calls import Calls
from .identity import Identity
from .names import copy_name, sync_name
from .reader import Rows, TableReader
from .strings import Strings
from .times import Clock

_OWNER: Final = ("globalPid", "deviceId", "contextId", "greenContextId", "streamId")
_CONFIG: Final = (
    "gridX",
    "gridY",
    "gridZ",
    "blockX",
    "blockY",
    "blockZ",
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "localMemoryPerThread",
)
_NO_PROCESS: Final = -2
"""No call is of this process; calls of unknown threads are of -1."""
_WHOLE_CONTEXT: Final = -1
"""Stream or device 0xFFFFFFFF: a wait for a whole context."""


@dataclass(frozen=True, slots=True)
class _Source:
    kind: GpuKind
    table: str
    required: tuple[str, ...]
    details: Mapping[str, ColumnKind]


_GRAPH_COLUMNS: Final[Mapping[str, ColumnKind]] = {"graphNodeId": "i64", "graphId": "i32"}

SOURCES: Final = (
    _Source(
        GpuKind.KERNEL,
        "CUPTI_ACTIVITY_KIND_KERNEL",
        ("start", "end", "deviceId", "streamId"),
        {
            "shortName": "i32",
            "demangledName": "i32",
            **dict.fromkeys(_CONFIG, "i32"),
            **_GRAPH_COLUMNS,
        },
    ),
    _Source(
        GpuKind.MEMCPY,
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        ("start", "end", "deviceId", "bytes", "copyKind"),
        {"bytes": "i64", "copyKind": "i32", **_GRAPH_COLUMNS},
    ),
    _Source(
        GpuKind.MEMSET,
        "CUPTI_ACTIVITY_KIND_MEMSET",
        ("start", "end", "deviceId", "bytes"),
        {"bytes": "i64", **_GRAPH_COLUMNS},
    ),
    _Source(
        GpuKind.GRAPH,
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        ("start", "end", "deviceId", "correlationId"),
        {"graphId": "i32", "graphExecId": "i32"},
    ),
    _Source(
        GpuKind.SYNC,
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        ("start", "end", "syncType"),
        {"syncType": "i32"},
    ),
)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who did the work: None is not recorded, process -1 likewise; no green context is None."""

    process: int
    ordinal: int | None
    context: int | None
    green_context: int | None
    stream: int | None


@dataclass(slots=True)
class GpuOps:
    """GPU work of one kind. `owner` and `label` number the distinct owners and labels: few, so
    that an operation needs one number for all that repeats."""

    kind: GpuKind
    table: str
    start: I64
    dur: I64
    owner: I32
    owners: list[Owner]
    label: I32
    name_of: I32
    """Pool id of the name, by label."""
    full_name_of: I32 | None
    config_of: I32 | None
    """Launch configuration, by label: a row of `configs`."""
    configs: list[I32]
    """Columns of the distinct launch configurations, in the order of _CONFIG."""
    correlation: I32
    bytes: I64 | None
    graph_node: I64 | None
    graph: I64 | None

    def __len__(self) -> int:
        return len(self.start)

    def name(self) -> I32:
        """Pool id of the name of each op."""
        return self.name_of[self.label]

    def process(self) -> I16:
        """Process of each op, -1 where not recorded."""
        return np.array([owner.process for owner in self.owners], np.int16)[self.owner]


def event_tables() -> list[tuple[str, str]]:
    """(table, time column) of the GPU tables, the smaller ones first."""
    return [(source.table, "start") for source in reversed(SOURCES)]


def read_gpu(reader: TableReader, strings: Strings, clock: Clock) -> list[GpuReading]:
    """The GPU work of each kind, without rows that cannot be placed, yet without owners."""
    found: list[GpuReading] = []
    for source in SOURCES:
        table = reader.find(source.table, source.required)
        if table is None:
            continue
        if source.kind is GpuKind.KERNEL and not (
            reader.has_column(table, "shortName") or reader.has_column(table, "demangledName")
        ):
            continue
        collected = GpuReading(reader, table, source.kind, strings, clock)
        for rows in reader.shares(
            table,
            {
                "start": "i64",
                "end": "i64",
                "correlationId": "i32",
                "globalPid": "i64",
                **dict.fromkeys(_OWNER[1:], "i32"),
                **source.details,
            },
        ):
            collected.add(rows)
        found.append(collected)
    return found


class GpuReading:
    """Collects the work of one table, share by share: `add` each, then `finish`. Names and
    processes are looked up at the end, so that reading can go on beside other tables'."""

    def __init__(
        self, reader: TableReader, table: str, kind: GpuKind, strings: Strings, clock: Clock
    ) -> None:
        capacity = reader.row_count(table)
        self._account = reader.account
        self._table = table
        self._kind = kind
        self._strings = strings
        self._clock = clock
        self._rows = 0
        self._start: I64 = np.empty(capacity, np.int64)
        self._dur: I64 = np.empty(capacity, np.int64)
        self._owner: I32 = np.empty(capacity, np.int32)
        self._label: I32 = np.empty(capacity, np.int32)
        self._correlation: I32 = np.empty(capacity, np.int32)
        self._wide: dict[str, I64] = {}
        self._capacity = capacity
        self._owners = Interner()
        self._labels = Interner()
        self._label_columns = _LABELS[kind]

    def add(self, rows: Rows) -> None:
        if self._kind is GpuKind.GRAPH:
            self._drop_unplaced(rows)
        self._drop_placeless(rows)
        span = self._clock.spans(rows)
        if span.open is not None:
            self._account.remark(self._table, "bad_time", count(span.open))
        part = slice(self._rows, self._rows + rows.count)
        self._rows = part.stop
        self._start[part] = span.start
        np.subtract(span.end, span.start, out=self._dur[part])
        self._correlation[part] = rows.i32("correlationId")
        self._owner[part] = self._owners.ids(
            [rows.i64(_OWNER[0]), *(rows.i32(name) for name in _OWNER[1:])]
        )
        self._label[part] = self._labels.ids([rows.i32(n) for n in self._label_columns])
        for name, column in (("bytes", "bytes"), ("graph_node", "graphNodeId")):
            if rows.has(column):
                self._wide_column(name)[part] = rows.i64(column)
        if "bytes" in self._wide:
            self._check_sizes(self._wide["bytes"][part])
        graph = next((c for c in ("graphId", "graphExecId") if rows.has(c)), None)
        if graph is not None:
            self._wide_column("graph")[part] = as_unsigned(rows.i32(graph))

    def _check_sizes(self, sizes: I64) -> None:
        """Sizes that cannot be are not known: summed up they would hide all others."""
        wrong = (sizes != NULL64) & ((sizes < 0) | (sizes > MOST_BYTES))
        sizes[wrong] = NULL64
        self._account.remark(self._table, "bad_value", count(wrong))

    def _drop_unplaced(self, rows: Rows) -> None:
        """Replays without times say 0 for both: they happened, but not at 0."""
        unplaced = (rows.i64("start") == 0) & (rows.i64("end") == 0)
        if unplaced.any():
            self._account.leave_out(self._table, "no_time", count(unplaced))
            rows.keep(~unplaced)

    def _drop_placeless(self, rows: Rows) -> None:
        """Work without a device belongs to no GPU; waits need none."""
        if self._kind is not GpuKind.SYNC:
            placeless = rows.i32("deviceId") == NULL32
            if placeless.any():
                self._account.leave_out(self._table, "no_device", count(placeless))
                rows.keep(~placeless)

    def _wide_column(self, name: str) -> I64:
        if name not in self._wide:
            self._wide[name] = np.full(self._capacity, NULL64, np.int64)
        return self._wide[name]

    def finish(self, identity: Identity, sole_process: int) -> GpuOps:
        """All work of the table. `sole_process` owns work that names no process."""
        rows = self._rows
        owners: list[Owner] = []
        for pid, *rest in self._owners.values:
            process = sole_process if pid == NULL64 else identity.process(pid)
            known = [None if value in (NULL32, _WHOLE_CONTEXT) else value for value in rest]
            ordinal, context, green_context, stream = known
            owners.append(Owner(process, ordinal, context, green_context or None, stream))
        labels = self._labels.columns(len(self._label_columns))
        name_of, full_name_of = self._name_labels(labels)
        config_of: I32 | None = None
        configs: list[I32] = []
        if self._kind is GpuKind.KERNEL and len(name_of):
            shapes = labels[len(_KERNEL_NAMES) :]
            config_of, first = intern_rows(shapes)
            configs = [column[first] for column in shapes]
        wide = {name: column[:rows] for name, column in self._wide.items()}
        return GpuOps(
            kind=self._kind,
            table=self._table,
            start=self._start[:rows],
            dur=self._dur[:rows],
            owner=self._owner[:rows],
            owners=owners,
            label=self._label[:rows],
            name_of=name_of,
            full_name_of=full_name_of,
            config_of=config_of,
            configs=configs,
            correlation=self._correlation[:rows],
            bytes=wide.get("bytes"),
            graph_node=wide.get("graph_node"),
            graph=wide.get("graph"),
        )

    def _name_labels(self, labels: list[I32]) -> tuple[I32, I32 | None]:
        """Pool ids of the name and the full name of each label."""
        pool = self._strings.pool
        if self._kind is GpuKind.KERNEL:
            short, full = (self._strings.resolve(ids) for ids in labels[: len(_KERNEL_NAMES)])
            short = np.where(short < 0, full, short)
            if (short < 0).any():
                short = np.where(short < 0, pool.intern("<name not recorded>"), short)
            return short, full
        name = _NAMES[self._kind]
        rows = zip(*(column.tolist() for column in labels), strict=True)
        return np.array([pool.intern(name(*row)) for row in rows], np.int32), None


def _graph_name(graph: int, instance: int) -> str:
    known = next((number for number in (graph, instance) if number != NULL32), None)
    return "CUDA graph" if known is None else f"CUDA graph {known & 0xFFFFFFFF}"


def _set_name(_device: int) -> str:
    return "memset"


_KERNEL_NAMES: Final = ("shortName", "demangledName")
_LABELS: Final[Mapping[GpuKind, tuple[str, ...]]] = {
    GpuKind.KERNEL: (*_KERNEL_NAMES, *_CONFIG),
    GpuKind.MEMCPY: ("copyKind",),
    GpuKind.MEMSET: ("deviceId",),
    GpuKind.GRAPH: ("graphId", "graphExecId"),
    GpuKind.SYNC: ("syncType",),
}
_NAMES: Final[Mapping[GpuKind, Callable[..., str]]] = {
    GpuKind.MEMCPY: copy_name,
    GpuKind.MEMSET: _set_name,
    GpuKind.GRAPH: _graph_name,
    GpuKind.SYNC: sync_name,
}


def join_launches(parts: Sequence[GpuOps], calls: Calls | None, identity: Identity) -> list[I32]:
    """By part: row of the call that launched each op, -1 where it is not in the trace. All at
    once, since the calls are many."""
    if calls is None or not parts:
        return [np.full(len(part), -1, np.int32) for part in parts]
    process = np.concatenate([part.process() for part in parts])
    correlation = np.concatenate([part.correlation for part in parts])
    process[(process < 0) | (correlation == NULL32)] = _NO_PROCESS
    launch = join_first([process, correlation], [calls.process(identity), calls.correlation])
    return np.split(launch, np.cumsum([len(part) for part in parts])[:-1])
