"""GPU work: kernels, copies, memory sets, graph replays, and waits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import ColumnKind, intern_rows, join_first
from ..model import GpuKind
from .account import count
from .arrays import I16, I32, I64, NULL32, NULL64, Mask
from .calls import Calls
from .identity import Identity
from .names import copy_name, sync_name
from .reader import Rows, TableReader
from .strings import Strings
from .times import Clock

_OWNER_COLUMNS: Final[Mapping[str, ColumnKind]] = {
    "globalPid": "i64",
    "deviceId": "i32",
    "contextId": "i32",
    "greenContextId": "i32",
    "streamId": "i32",
}
_WHOLE_CONTEXT: Final = -1
"""Stream or device 0xFFFFFFFF: a wait for a whole context."""


@dataclass(frozen=True, slots=True)
class _Source:
    kind: GpuKind
    table: str
    required: tuple[str, ...]


SOURCES: Final = (
    _Source(GpuKind.KERNEL, "CUPTI_ACTIVITY_KIND_KERNEL", ("start", "end", "deviceId", "streamId")),
    _Source(
        GpuKind.MEMCPY,
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        ("start", "end", "deviceId", "bytes", "copyKind"),
    ),
    _Source(GpuKind.MEMSET, "CUPTI_ACTIVITY_KIND_MEMSET", ("start", "end", "deviceId", "bytes")),
    _Source(
        GpuKind.GRAPH,
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        ("start", "end", "deviceId", "correlationId"),
    ),
    _Source(GpuKind.SYNC, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", ("start", "end", "syncType")),
)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who did the work: None is not recorded, process -1 likewise."""

    process: int
    ordinal: int | None
    context: int | None
    green_context: int | None
    stream: int | None


@dataclass(slots=True)
class GpuOps:
    """GPU work of one kind. `owner` numbers the distinct (process, device, stream …)."""

    kind: GpuKind
    table: str
    start: I64
    dur: I64
    owner: I32
    owners: list[Owner]
    name: I32
    correlation: I32
    process: I16
    kept: Mask | None
    full_name: I32 | None = None
    bytes: I64 | None = None
    graph_node: I64 | None = None
    graph: I64 | None = None

    def __len__(self) -> int:
        return len(self.start)


def event_tables() -> list[tuple[str, str]]:
    """(table, time column) of the GPU tables, the smaller ones first."""
    return [(source.table, "start") for source in reversed(SOURCES)]


def read_gpu(
    reader: TableReader,
    strings: Strings,
    identity: Identity,
    clock: Clock,
    sole_process: int,
) -> list[GpuOps]:
    """The GPU work of each kind, without rows that cannot be placed. `sole_process` owns work that
    names no process."""
    found: list[GpuOps] = []
    for source in SOURCES:
        table = reader.find(source.table, source.required)
        if table is None:
            continue
        if source.kind is GpuKind.KERNEL and not (
            reader.has_column(table, "shortName") or reader.has_column(table, "demangledName")
        ):
            continue
        ops = _read_ops(reader, table, source.kind, strings, identity, clock, sole_process)
        if len(ops):
            found.append(ops)
    return found


def _read_ops(
    reader: TableReader,
    table: str,
    kind: GpuKind,
    strings: Strings,
    identity: Identity,
    clock: Clock,
    sole_process: int,
) -> GpuOps:
    rows = reader.read(table, {"start": "i64", "end": "i64", "correlationId": "i32"})
    if kind is GpuKind.GRAPH:
        _drop_unplaced_graphs(reader, table, rows)
    span = clock.spans(rows)
    if span.open is not None:
        reader.account.remark(table, "bad_time", count(span.open))
    correlation = rows.i32("correlationId")
    kept = rows.kept
    owner, owners = _read_owners(reader, table, kept, identity, sole_process)
    process_of = np.array([o.process for o in owners], np.int16)
    ops = GpuOps(
        kind=kind,
        table=table,
        start=span.start,
        dur=span.end - span.start,
        owner=owner,
        owners=owners,
        name=np.empty(0, np.int32),
        correlation=correlation,
        process=process_of[owner] if len(owner) else np.empty(0, np.int16),
        kept=kept,
    )
    _DETAILS[kind](reader, ops, kept, strings)
    return ops


def _drop_unplaced_graphs(reader: TableReader, table: str, rows: Rows) -> None:
    """Replays for which CUPTI had no times say 0 for both: they happened, but not at 0."""
    unplaced = (rows.i64("start") == 0) & (rows.i64("end") == 0)
    if unplaced.any():
        reader.account.leave_out(table, "no_time", count(unplaced))
        rows.keep(~unplaced)


def _read_owners(
    reader: TableReader, table: str, kept: Mask | None, identity: Identity, sole_process: int
) -> tuple[I32, list[Owner]]:
    """Number of each row's owner, and the owners."""
    rows = reader.read(table, _OWNER_COLUMNS, kept)
    if rows.count == 0:
        return np.empty(0, np.int32), []
    pids = rows.i64("globalPid")
    others = [rows.i32(name) for name in _OWNER_COLUMNS if name != "globalPid"]
    owner, first = intern_rows([pids, *others])
    owners: list[Owner] = []
    for row in first.tolist():
        pid = int(pids[row])
        process = sole_process if pid == NULL64 else identity.process(pid)
        owners.append(Owner(process, *(_known(int(column[row])) for column in others)))
    return owner, owners


def _known(value: int) -> int | None:
    return None if value in (NULL32, _WHOLE_CONTEXT) else value


def _labels(codes: I32, label: Callable[[int], str], strings: Strings) -> I32:
    """Pool ids of the labels of small codes."""
    values, inverse = np.unique(codes, return_inverse=True)
    ids = np.array([strings.pool.intern(label(code)) for code in values.tolist()], np.int32)
    return ids[inverse] if len(ids) else np.empty(0, np.int32)


def _graph_columns(ops: GpuOps, rows: Rows) -> None:
    if rows.has("graphNodeId"):
        ops.graph_node = rows.i64("graphNodeId")
    if rows.has("graphId"):
        ops.graph = rows.i64("graphId")


def _kernel_details(reader: TableReader, ops: GpuOps, kept: Mask | None, strings: Strings) -> None:
    rows = reader.read(ops.table, {"shortName": "i32", "demangledName": "i32"}, kept)
    full = strings.resolve(rows.i32("demangledName"))
    short = strings.resolve(rows.i32("shortName"))
    if (short < 0).any():
        short = np.where(short < 0, full, short)
    if (short < 0).any():
        short = np.where(short < 0, strings.pool.intern("<name not recorded>"), short)
    ops.name = short
    ops.full_name = full if (full >= 0).any() else None
    _graph_columns(ops, reader.read(ops.table, {"graphNodeId": "i64", "graphId": "i64"}, kept))


def _copy_details(reader: TableReader, ops: GpuOps, kept: Mask | None, strings: Strings) -> None:
    rows = reader.read(
        ops.table,
        {"bytes": "i64", "copyKind": "i32", "graphNodeId": "i64", "graphId": "i64"},
        kept,
    )
    ops.name = _labels(rows.i32("copyKind"), copy_name, strings)
    ops.bytes = rows.i64("bytes")
    _graph_columns(ops, rows)


def _set_details(reader: TableReader, ops: GpuOps, kept: Mask | None, strings: Strings) -> None:
    rows = reader.read(ops.table, {"bytes": "i64", "graphNodeId": "i64", "graphId": "i64"}, kept)
    ops.name = np.full(rows.count, strings.pool.intern("memset"), np.int32)
    ops.bytes = rows.i64("bytes")
    _graph_columns(ops, rows)


def _graph_details(reader: TableReader, ops: GpuOps, kept: Mask | None, strings: Strings) -> None:
    rows = reader.read(ops.table, {"graphId": "i64", "graphExecId": "i64"}, kept)
    ids = rows.i64("graphId" if rows.has("graphId") else "graphExecId")
    values, inverse = np.unique(ids, return_inverse=True)
    names = [
        strings.pool.intern("CUDA graph" if value == NULL64 else f"CUDA graph {value}")
        for value in values.tolist()
    ]
    ops.name = np.array(names, np.int32)[inverse] if names else np.empty(0, np.int32)
    _graph_columns(ops, rows)


def _wait_details(reader: TableReader, ops: GpuOps, kept: Mask | None, strings: Strings) -> None:
    rows = reader.read(ops.table, {"syncType": "i32"}, kept)
    ops.name = _labels(rows.i32("syncType"), sync_name, strings)


_DETAILS: Final = {
    GpuKind.KERNEL: _kernel_details,
    GpuKind.MEMCPY: _copy_details,
    GpuKind.MEMSET: _set_details,
    GpuKind.GRAPH: _graph_details,
    GpuKind.SYNC: _wait_details,
}


_SHAPE: Final = ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")
_RESOURCES: Final = (
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "localMemoryPerThread",
)


def read_launch_configs(
    reader: TableReader, table: str, kept: Mask | None
) -> tuple[I32, list[I32]]:
    """Launch configuration of each kernel, and the distinct ones: grid, block, registers, static
    and dynamic shared memory, local memory per thread (NULL32 where not recorded)."""
    rows = reader.read(table, dict.fromkeys(_SHAPE, "i32"), kept)
    shape = [rows.i32(name) for name in _SHAPE]
    dense, first = intern_rows(shape)
    shapes = [column[first] for column in shape]
    del rows, shape
    rows = reader.read(table, dict.fromkeys(_RESOURCES, "i32"), kept)
    resources = [rows.i32(name) for name in _RESOURCES]
    config, where = intern_rows([dense, *resources])
    shape_of = dense[where]
    return config, [column[shape_of] for column in shapes] + [c[where] for c in resources]


def join_launches(ops: GpuOps, calls: Calls | None) -> I32:
    """Row of the call that launched each op, -1 where it is not in the trace."""
    if calls is None or not len(ops):
        return np.full(len(ops), -1, np.int32)
    process = ops.process
    lacking = (process < 0) | (ops.correlation == NULL32)
    if lacking.any():
        process = np.where(lacking, np.int16(-2), process)
    return join_first([process, ops.correlation], [calls.process, calls.correlation])
