"""Reads rocprofv3 JSON: one element a process, ids are its own."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...native import DocumentReader, StringPool
from ..account import RowAccount, count
from ..arrays import I32, I64, NULL64, Mask
from ..model import GpuKind, HostKind
from ..owners import Device, Process
from .document import API_TABLES, CORRELATION, HOST_TRAP, STOCHASTIC, Records, within
from .links import Lookup, launches, pick
from .pc_samples import read_pc_samples
from .recording import (
    Allocations,
    Calls,
    Recording,
    Values,
    Work,
    blocks,
    copy_name,
    kernel_kinds,
    narrow,
    signed_sizes,
    spans,
)

_GPU_AGENT: Final = 2
_SIDES: Final = ("x", "y", "z")
_API_KINDS: Final = {
    "hip_api": HostKind.RUNTIME,
    "hsa_api": HostKind.DRIVER,
    "marker_api": HostKind.ANNOTATION,
    "rccl_api": HostKind.RUNTIME,
}
_CROSSING: Final = ("roctxrangestart", "roctxprocessrange")


def read_processes(document: DocumentReader, label: str, pool: StringPool) -> list[Recording]:
    """The recordings of all processes of a document that has been read."""
    rows = range(document.rows("process"))
    return [_Process(document, row, label, pool).read() for row in rows]


class _Process:
    def __init__(self, document: DocumentReader, row: int, label: str, pool: StringPool) -> None:
        self._document, self._pool = document, pool
        self._row = np.array([row])
        self._found = Recording(label, RowAccount())
        self._unnamed = pool.intern("(no name)")
        self._dispatch_ids = np.empty(0, np.int64)

    def read(self) -> Recording:
        self._read_owners()
        self._read_names()
        self._read_calls()
        dispatches = self._events("kernel_dispatch")
        counted = self._events("counted")
        if dispatches.count or not counted.count:
            self._read_dispatches(dispatches)
        else:
            self._read_dispatches(self._events("counted"))
        self._read_copies()
        self._read_allocations()
        self._read_counters(counted)
        self._read_samples()
        return self._found

    def _events(self, table: str) -> Records:
        """The records of the process; one that the end of the file cuts is left out."""
        rows = within(self._document, table, self._row)
        self._found.account.rows[table] = rows.count
        self._found.account.read.add(table)
        last = self._document.rows(table) - 1
        if self._document.open(table) and rows.count and int(rows.rows[-1]) == last:
            self._found.account.leave_out(table, "cut", 1)
            rows.keep(rows.rows != last)
        return rows

    # ------------------------------------------------------------------ owners --

    def _read_owners(self) -> None:
        process = Records(self._document, "process", self._row)
        [pid] = process.i64("pid").tolist()
        self._found.machine = process.texts("machine")[0] or ""
        words = within(self._document, "command", self._row).texts("word")
        # Without its arguments: they may hold secrets.
        program = (words[0] or "").rsplit("/", 1)[-1] if words else ""
        known = None if pid == NULL64 else pid
        name = program or ("process" if known is None else f"pid {known}")
        self._found.processes.append(Process(name, known))
        agents = within(self._document, "agent", self._row)
        self._agents = Lookup(agents.i64("id.handle"))
        self._gpu = np.full(agents.count, -1, np.int64)
        numbers = zip(
            *(
                agents.i64(name).tolist()
                for name in (
                    "type",
                    "node_id",
                    "logical_node_type_id",
                    "cu_count",
                    "max_engine_clk_fcompute",
                )
            ),
            strict=True,
        )
        names = zip(agents.texts("product_name"), agents.texts("name"), strict=True)
        for row, ((kind, node, index, units, clock), (product, arch)) in enumerate(
            zip(numbers, names, strict=True)
        ):
            if kind != _GPU_AGENT:
                continue
            self._gpu[row] = len(self._found.devices)
            device = Device(
                ordinal=index if index >= 0 else max(node, 0),
                name=product or arch or f"GPU (agent {node}, model not recorded)",
                gpu_id=node,
                sm_count=units if units > 0 else None,
                clock_hz=clock * 10**6 if 0 < clock < 10**6 else None,
            )
            self._found.devices.append((node, device))

    def _read_names(self) -> None:
        symbols = within(self._document, "symbol", self._row)
        self._symbols = Lookup(symbols.i64("kernel_id"))
        names = np.full(symbols.count, self._unnamed, np.int32)
        for column in ("kernel_name", "demangled_kernel_name", "formatted_kernel_name"):
            given = symbols.names(column, self._pool)
            names = np.where(given >= 0, given, names).astype(np.int32)
        self._symbol_names = names
        registers = symbols.i64("arch_vgpr_count")
        self._registers = np.where(registers > 0, registers, NULL64)
        kinds = within(self._document, "kind", self._row)
        operations = within(self._document, "operation", kinds.rows)
        self._kind_names = kinds.names("kind", self._pool)
        names = operations.names("name", self._pool)
        # Where the operations of each kind begin: they stand one kind after the other.
        self._first_operation = np.searchsorted(operations.outer(), kinds.rows)
        self._operations = np.bincount(
            operations.outer() - (int(kinds.rows[0]) if kinds.count else 0), minlength=kinds.count
        )
        self._operation_names = names

    def _operation(self, kind: I64, operation: I64, otherwise: str) -> I32:
        """Name of each record by its kind and operation."""
        known = (kind >= 0) & (kind < len(self._kind_names))
        row = np.where(known, kind, 0)
        if len(self._kind_names):
            known &= (operation >= 0) & (operation < self._operations[row])
            at = np.where(known, self._first_operation[row] + operation, -1)
            names = pick(self._operation_names, at.astype(np.int32), -1)
        else:
            names = np.full(len(kind), -1, np.int32)
        return np.where(names >= 0, names, self._pool.intern(otherwise)).astype(np.int32)

    def _device(self, handle: I64) -> I32:
        return pick(self._gpu, self._agents.rows(handle), -1).astype(np.int32)

    # -------------------------------------------------------------------- host --

    def _read_calls(self) -> None:
        parts: list[tuple[Records, I64, I64, I32, Any]] = []
        for table in API_TABLES:
            rows = self._events(table)
            if not rows.count:
                continue
            start, end = spans(rows, self._found.account, "start_timestamp", "end_timestamp")
            name = self._operation(rows.i64("kind"), rows.i64("operation"), f"({table})")
            kind = np.full(len(start), _API_KINDS[table], np.uint8)
            if table == "marker_api":
                crosses = self._starts_with(name, _CROSSING)
                kind[start == end] = HostKind.MARK
                kind[crosses] = HostKind.RANGE
                name = self._messages(rows.i64(CORRELATION), name)
            parts.append((rows, start, end, name, kind))
        if not parts:
            return
        tables, starts, ends, names, kinds = zip(*parts, strict=True)
        start = np.concatenate(starts)
        none = np.full(len(start), -1, np.int32)
        self._found.calls = Calls(
            np.zeros(len(start), np.int32),
            np.concatenate([rows.i64("thread_id") for rows in tables]),
            start,
            np.concatenate(ends),
            np.concatenate(kinds),
            np.concatenate(names),
            np.concatenate([rows.i64(CORRELATION) for rows in tables]),
            none,
        )

    def _starts_with(self, names: I32, prefixes: tuple[str, ...]) -> Mask:
        used, index = np.unique(names, return_inverse=True)
        told = [self._pool[name].lower().startswith(prefixes) for name in used.tolist()]
        return np.array(told, np.bool_)[index]

    def _messages(self, correlation: I64, name: I32) -> I32:
        """Markers have the text that the program gave them, where the file holds it."""
        messages = within(self._document, "message", self._row)
        row = Lookup(messages.i64("key")).rows(correlation)
        text = pick(messages.names("value", self._pool), row, -1)
        return np.where(text >= 0, text, name).astype(np.int32)

    # --------------------------------------------------------------------- GPU --

    def _read_dispatches(self, rows: Records) -> None:
        start, end = spans(rows, self._found.account, "start_timestamp", "end_timestamp")
        start, end, device = self._on_gpu(rows, start, end, rows.i64("agent_id.handle"))
        self._dispatch_ids = rows.i64("dispatch_id")
        symbol = self._symbols.rows(rows.i64("kernel_id"))
        name = pick(self._symbol_names, symbol, self._unnamed)
        config = {
            "registers_per_thread": narrow(pick(self._registers, symbol)),
            "shared_bytes": narrow(rows.i64("group_segment_size")),
            "local_bytes_per_thread": narrow(rows.i64("private_segment_size")),
        }
        for side in _SIDES:
            group = rows.i64(f"workgroup_size.{side}")
            config[f"block_{side}"] = narrow(group)
            config[f"grid_{side}"] = blocks(rows.i64(f"grid_size.{side}"), group)
        stream = np.full(len(start), NULL64)
        if rows.table == "kernel_dispatch":
            stream = rows.i64("stream_id.handle")
        kind = kernel_kinds(self._pool, name)
        queue = rows.i64("queue_id.handle")
        self._add_work(rows, device, (stream, queue), (start, end), kind, name, config, None)

    def _read_samples(self) -> None:
        for table in (STOCHASTIC, HOST_TRAP):
            samples = read_pc_samples(
                self._document,
                self._row,
                self._events(table),
                self._dispatch_ids,
                self._pool,
                self._found.account,
            )
            if samples is not None:
                self._found.samples.append(samples)

    def _read_copies(self) -> None:
        rows = self._events("memory_copy")
        start, end = spans(rows, self._found.account, "start_timestamp", "end_timestamp")
        target = rows.i64("dst_agent_id.handle")
        source = rows.i64("src_agent_id.handle")
        agent = np.where(self._device(target) >= 0, target, source)
        start, end, device = self._on_gpu(rows, start, end, agent)
        operation = self._operation(rows.i64("kind"), rows.i64("operation"), "memcpy")
        used, index = np.unique(operation, return_inverse=True)
        named = [self._pool.intern(copy_name(self._pool[text])) for text in used.tolist()]
        name = np.array(named, np.int32)[index]
        kind = np.full(len(start), GpuKind.MEMCPY, np.uint8)
        stream = rows.i64("stream_id.handle")
        none = np.full(len(start), NULL64)
        size = rows.i64("bytes")
        self._add_work(rows, device, (stream, none), (start, end), kind, name, {}, size)

    def _on_gpu(self, rows: Records, start: I64, end: I64, agent: I64) -> tuple[I64, I64, I32]:
        """Work on an agent that is no GPU, or not listed, is left out."""
        device = self._device(agent)
        known = device >= 0
        if not known.all():
            self._found.account.leave_out(rows.table, "no_gpu", count(~known))
            rows.keep(known)
            start, end, device = start[known], end[known], device[known]
        return start, end, device

    def _add_work(
        self,
        rows: Records,
        device: I32,
        where: tuple[I64, I64],
        span: tuple[I64, I64],
        kind: Any,
        name: I32,
        config: dict[str, I32],
        size: I64 | None,
    ) -> None:
        correlation = rows.i64(CORRELATION)
        launch, calls = np.full(len(device), -1, np.int32), self._found.calls
        if calls is not None and len(device):
            launch, ambiguous = launches([correlation], span[0], [calls.correlation], calls.start)
            self._found.ambiguous += ambiguous
        process = np.zeros(len(device), np.int32)
        self._found.work.append(
            Work(process, device, *where, *span, kind, name, launch, correlation, config, size)
        )

    # -------------------------------------------------------- memory, counters --

    def _read_allocations(self) -> None:
        account = self._found.account
        scratch = self._events("scratch_memory")
        account.leave_out("scratch_memory", "scratch", scratch.count)
        rows = self._events("memory_allocation")
        if not rows.count:
            return
        start, _ = spans(rows, account, "start_timestamp", "end_timestamp")
        operation = self._operation(rows.i64("kind"), rows.i64("operation"), "")
        used, index = np.unique(operation, return_inverse=True)
        frees = [self._pool[text].endswith("FREE") for text in used.tolist()]
        address = rows.i64("address")
        address = np.where(address == NULL64, rows.i64("address.handle"), address)
        process = np.zeros(len(start), np.int32)
        size = signed_sizes(
            process,
            address,
            start,
            rows.i64("allocation_size"),
            np.array(frees, np.bool_)[index],
        )
        known = size != NULL64
        account.leave_out(rows.table, "no_size", count(~known))
        self._found.memory = Allocations(
            process[known],
            rows.i64("thread_id")[known],
            self._device(rows.i64("agent_id.handle"))[known],
            start[known],
            size[known],
            address[known],
        )

    def _read_counters(self, counted: Records) -> None:
        """Counters of single dispatches, at their start; their dimensions are summed up."""
        if not counted.count:
            return
        values = within(self._document, "value", counted.rows)
        counters = within(self._document, "counter", self._row)
        names = counters.names("name", self._pool)
        kind = Lookup(counters.i64("id.handle")).rows(values.i64("counter"))
        row = np.searchsorted(counted.rows, values.outer())
        start = counted.i64("start_timestamp")[row]
        used = (kind >= 0) & (start > 0)
        self._found.account.rows["value"] = values.count
        self._found.account.read.add("value")
        self._found.account.leave_out("value", "no_event", count(~used))
        key = np.stack([row[used], kind[used].astype(np.int64)])
        distinct, dense = np.unique(key, axis=1, return_inverse=True)
        device = self._device(counted.i64("agent_id.handle"))
        value = np.bincount(dense.ravel(), values.f64("value")[used], distinct.shape[1])
        self._found.counters.append(
            Values(
                device[distinct[0]],
                names[distinct[1]],
                counted.i64("start_timestamp")[distinct[0]],
                value.astype(np.float64),
            )
        )
