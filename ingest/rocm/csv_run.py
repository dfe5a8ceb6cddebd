"""Reads the CSV files that rocprofv3 wrote of one process.

Dispatches have the number that samples and counters name, and the correlation id of the call that
launched them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from ...native import StringPool, intern_rows
from ..account import RowAccount, count
from ..arrays import I32, I64, NULL64
from ..model import GpuKind, HostKind
from ..owners import Process
from .csv_agents import Agents
from .csv_rows import CsvRows
from .links import Lookup, launches
from .pc_samples import reason_names, source_places
from .recording import (
    Allocations,
    Calls,
    PcSamples,
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

_SIDES: Final = ("x", "y", "z")
_KINDS: Final = {"HSA": HostKind.DRIVER, "MARKER": HostKind.ANNOTATION}
"""Kinds of calls by how their domain begins; others are of a runtime."""


def read_run(
    tables: Sequence[CsvRows], account: RowAccount, label: str, pool: StringPool, pid: int | None
) -> Recording:
    """The recording of one process. `pid`: as the names of the files tell it."""
    return _Run(tables, account, label, pool, pid).read()


class _Run:
    def __init__(
        self,
        tables: Sequence[CsvRows],
        account: RowAccount,
        label: str,
        pool: StringPool,
        pid: int | None,
    ) -> None:
        self._tables, self._pool = tables, pool
        self._found = Recording(label, account)
        told = (int(pids[0]) for rows in tables if len(pids := rows.i64("process_id")))
        pid = next((number for number in told if number != NULL64), pid)
        self._found.processes.append(Process("process" if pid is None else f"pid {pid}", pid))
        self._agents = Agents([*self._of("agent_info")], [*self._of("kernel_trace")])
        self._dispatch_ids = np.empty(0, np.int64)

    def _of(self, *names: str) -> Iterable[CsvRows]:
        return (rows for rows in self._tables if rows.table in names)

    def read(self) -> Recording:
        self._read_calls()
        counted = [*self._of("counter_collection")]
        for rows in ([*self._of("kernel_trace")] or counted)[:1]:
            self._read_dispatches(rows)
        for rows in self._of("memory_copy_trace"):
            self._read_copies(rows)
        for rows in self._of("memory_allocation_trace"):
            self._read_allocations(rows)
        for rows in self._of("scratch_memory_trace"):
            self._found.account.leave_out(rows.table, "scratch", rows.count)
        for rows in counted:
            self._read_counters(rows)
        for rows in self._of("pc_sampling"):
            self._read_samples(rows)
        self._found.devices = self._agents.devices
        return self._found

    def _span(self, rows: CsvRows) -> tuple[I64, I64]:
        return spans(rows, self._found.account, "start_timestamp", "end_timestamp")

    def _read_calls(self) -> None:
        parts = [(rows, *self._span(rows)) for rows in self._of("api_trace") if rows.count]
        if not parts:
            return
        tables, starts, ends = zip(*parts, strict=True)
        start, end = np.concatenate(starts), np.concatenate(ends)
        kind = np.concatenate([self._kinds(rows) for rows in tables])
        kind[(kind == HostKind.ANNOTATION) & (start == end)] = HostKind.MARK
        name = np.concatenate([rows.names("function", self._pool) for rows in tables])
        self._found.calls = Calls(
            np.zeros(len(start), np.int32),
            np.concatenate([rows.i64("thread_id") for rows in tables]),
            start,
            end,
            kind,
            np.where(name < 0, self._pool.intern("(no name)"), name).astype(np.int32),
            np.concatenate([rows.i64("correlation_id") for rows in tables]),
            np.full(len(start), -1, np.int32),
        )

    def _kinds(self, rows: CsvRows) -> Any:
        domains, index = rows.texts("domain")
        kinds = [_KINDS.get(text.upper().partition("_")[0], HostKind.RUNTIME) for text in domains]
        return np.array([*kinds, HostKind.RUNTIME], np.uint8)[index]

    # --------------------------------------------------------------------- GPU --

    def _read_dispatches(self, rows: CsvRows) -> None:
        """Counters have a row each: of a dispatch the first is taken."""
        if rows.table == "counter_collection":
            first = np.zeros(rows.count, np.bool_)
            first[intern_rows([rows.i64("dispatch_id")])[1]] = True
            rows = rows.copy()
            rows.keep(first)
        start, end = self._span(rows)
        name = rows.names("kernel_name", self._pool)
        name = np.where(name < 0, self._pool.intern("(no name)"), name).astype(np.int32)
        registers = rows.i64("vgpr_count")
        config = {
            "registers_per_thread": narrow(np.where(registers > 0, registers, NULL64)),
            "shared_bytes": narrow(_either(rows, "lds_block_size", "group_segment_size")),
            "local_bytes_per_thread": narrow(_either(rows, "scratch_size", "private_segment_size")),
        }
        for side in _SIDES:
            group = rows.i64(f"workgroup_size_{side}")
            config[f"block_{side}"] = narrow(group)
            config[f"grid_{side}"] = blocks(rows.i64(f"grid_size_{side}"), group)
        self._dispatch_ids = rows.i64("dispatch_id")
        device = self._agents.device(rows, "agent_id")
        kind = kernel_kinds(self._pool, name)
        self._add_work(rows, device, start, end, kind, name, config, None)

    def _read_copies(self, rows: CsvRows) -> None:
        start, end = self._span(rows)
        target = self._agents.device(rows, "destination_agent_id")
        device = np.where(target >= 0, target, self._agents.device(rows, "source_agent_id"))
        directions, index = rows.texts("direction")
        names = [self._pool.intern(copy_name(text)) for text in directions]
        name = np.array([*names, self._pool.intern("memcpy")], np.int32)[index]
        kind = np.full(len(start), GpuKind.MEMCPY, np.uint8)
        size = _either(rows, "bytes", "size")
        known = device >= 0
        self._found.account.leave_out(rows.table, "no_gpu", count(~known))
        rows.keep(known)
        self._add_work(
            rows, device[known], start[known], end[known], kind[known], name[known], {}, size[known]
        )

    def _add_work(
        self,
        rows: CsvRows,
        device: I32,
        start: I64,
        end: I64,
        kind: Any,
        name: I32,
        config: dict[str, I32],
        size: I64 | None,
    ) -> None:
        correlation = rows.i64("correlation_id")
        launch, calls = np.full(rows.count, -1, np.int32), self._found.calls
        if calls is not None and rows.count:
            launch, ambiguous = launches([correlation], start, [calls.correlation], calls.start)
            self._found.ambiguous += ambiguous
        stream, queue = rows.i64("stream_id"), rows.i64("queue_id")
        process = np.zeros(rows.count, np.int32)
        device = device.astype(np.int32)
        self._found.work.append(
            Work(
                process, device, stream, queue, start, end, kind, name, launch, correlation, config,
                size,
            )
        )  # fmt: skip

    # ------------------------------------------- memory, counters, samples --

    def _read_allocations(self, rows: CsvRows) -> None:
        start, _ = self._span(rows)
        operations, index = rows.texts("operation")
        frees = np.array([*(text.endswith("FREE") for text in operations), False], np.bool_)
        process = np.zeros(rows.count, np.int32)
        addresses, at = rows.texts("address")
        address = np.array([*map(_address, addresses), NULL64], np.int64)[at]
        given = rows.i64("allocation_size")
        size = signed_sizes(process, address, start, given, frees[index])
        known = size != NULL64
        self._found.account.leave_out(rows.table, "no_size", count(~known))
        self._found.memory = Allocations(
            process[known],
            rows.i64("thread_id")[known],
            self._agents.device(rows, "agent_id")[known],
            start[known],
            size[known],
            address[known],
        )

    def _read_counters(self, rows: CsvRows) -> None:
        """Counters of single dispatches, at their start; their dimensions are summed up."""
        dispatch = Lookup(self._dispatch_ids).rows(rows.i64("dispatch_id"))
        name, value = rows.names("counter_name", self._pool), rows.f64("counter_value")
        used = (dispatch >= 0) & (name >= 0) & ~np.isnan(value)
        self._found.account.leave_out(rows.table, "no_event", count(~used))
        if not used.any():
            return
        dense, first = intern_rows([dispatch[used], name[used]])
        row = dispatch[used][first]
        work = self._found.work[0]
        self._found.counters.append(
            Values(
                work.device[row],
                name[used][first],
                work.start[row],
                np.bincount(dense, value[used], len(first)).astype(np.float64),
            )
        )

    def _read_samples(self, rows: CsvRows) -> None:
        """Of instructions, by their text: CSV has no addresses. Those of dispatches that are not
        there are left out: nothing tells what ran."""
        dispatch = Lookup(self._dispatch_ids).rows(rows.i64("dispatch_id"))
        known = dispatch >= 0
        self._found.account.leave_out(rows.table, "no_dispatch", count(~known))
        rows.keep(known)
        if not rows.count:
            return
        reason = np.full(rows.count, -1, np.int32)
        if rows.has("wave_issued_instruction"):
            given = rows.names("stall_reason", self._pool)
            reason = reason_names(given, rows.flags("wave_issued_instruction"), self._pool)
        comments, comment = rows.texts("instruction_comment")
        file, line = source_places([*comments, None], comment, self._pool)
        text = rows.names("instruction", self._pool)
        keys = [dispatch[known], text, file, line, reason]
        index, first = intern_rows(keys)
        dispatch, text, file, line, reason = (key[first] for key in keys)
        self._found.samples.append(
            PcSamples(
                dispatch=dispatch,
                code_object=np.full(len(first), -1, np.int32),
                offset=np.full(len(first), NULL64),
                text=text,
                file=file,
                line=line,
                reason=reason,
                samples=np.bincount(index, minlength=len(first)).astype(np.int64),
            )
        )


def _either(rows: CsvRows, name: str, older: str) -> I64:
    """A column that older versions call otherwise."""
    return rows.i64(name if rows.has(name) else older)


def _address(text: str) -> int:
    """Addresses are hexadecimal, with 0x, or decimal."""
    try:
        value = int(text, 16 if text.lower().startswith("0x") else 10)
    except ValueError:
        return NULL64
    return value if value < 2**63 else NULL64
