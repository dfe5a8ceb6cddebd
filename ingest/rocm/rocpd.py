"""Reads rocpd databases of rocprofv3: tables of one process each, their names end in its GUID.

The views of the file join these tables; the tables are read as they are, for a view drops a row
whose thread, stream or agent is not listed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...native import ColumnKind, StringPool, intern_rows
from ..account import count
from ..arrays import I32, I64, NULL64, Mask
from ..model import GpuKind, HostKind
from ..tables import Rows, TableReader
from .links import Lookup, launches, pick
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
from .rocpd_file import RocpdFile, json_object

_GUID: Final = re.compile(r"rocpd_(?:kernel_dispatch|info_agent|region)(_[0-9a-fA-F_]+)?")
_MARKER: Final = "MARKER"
_HSA: Final = "HSA"
_MARK: Final = "roctxmark"
_SIDES: Final = ("x", "y", "z")
_DISPATCH: Final = (
    "pid",
    "agent_id",
    "kernel_id",
    "queue_id",
    "stream_id",
    "start",
    "end",
    "private_segment_size",
    "group_segment_size",
    "event_id",
    *(f"workgroup_size_{side}" for side in _SIDES),
    *(f"grid_size_{side}" for side in _SIDES),
)
_CROSSING: Final = ("roctxrangestart", "roctxprocessrange")


def suffixes(tables: Sequence[str]) -> list[str]:
    """The endings of the names of tables: one for each process in the file."""
    found = (_GUID.fullmatch(table) for table in tables)
    return sorted({match.group(1) or "" for match in found if match is not None})


def read_rocpd(reader: TableReader, suffix: str, label: str, pool: StringPool) -> Recording:
    """One process' tables. The environment of the process is never read."""
    return _Rocpd(RocpdFile(reader, suffix, label, pool)).read()


class _Rocpd:
    def __init__(self, file: RocpdFile) -> None:
        self._file, self._found = file, file.found
        self._dispatch_event = self._dispatch_start = np.empty(0, np.int64)
        self._dispatch_device = np.empty(0, np.int32)

    def read(self) -> Recording:
        self._read_regions()
        self._read_dispatches()
        self._read_copies()
        self._read_allocations()
        self._read_counters()
        return self._found

    def _read_regions(self) -> None:
        rows = self._file.rows(
            "rocpd_region",
            pid="i64",
            tid="i64",
            start="i64",
            end="i64",
            name_id="i64",
            event_id="i64",
        )
        if rows is None:
            return
        start, end = spans(rows, self._found.account)
        event = self._file.event_rows(rows)
        stack, parent_stack = pick(self._file.stack, event), pick(self._file.parent_stack, event)
        process = self._file.process(rows.i64("pid"))
        name = self._file.names(rows.i64("name_id"))
        kind, marker = self._kinds(pick(self._file.category, event), name)
        if marker.any():
            name = self._messages(name, marker, event)
        kind[marker & (start == end) & (kind == HostKind.ANNOTATION)] = HostKind.MARK
        parent, _ = launches([process, parent_stack], start, [process, stack], start)
        self._found.calls = Calls(
            process, self._file.tid(rows.i64("tid")), start, end, kind, name, stack, parent
        )

    def _kinds(self, category: I64, name: I32) -> tuple[Any, Mask]:
        """HostKind of each region, and whether it is a marker."""
        dense, first = intern_rows([category, name])
        categories = self._file.names(category[first]).tolist()
        kinds: list[HostKind] = []
        markers: list[bool] = []
        for group, text in zip(categories, name[first].tolist(), strict=True):
            in_group, plain = self._file.pool[group].upper(), self._file.pool[text].lower()
            markers.append(in_group.startswith(_MARKER))
            if markers[-1]:
                crosses = plain.startswith(_CROSSING)
                mark = HostKind.MARK if plain.startswith(_MARK) else HostKind.ANNOTATION
                kinds.append(HostKind.RANGE if crosses else mark)
            else:
                kinds.append(HostKind.DRIVER if in_group.startswith(_HSA) else HostKind.RUNTIME)
        return np.array(kinds, np.uint8)[dense], np.array(markers, np.bool_)[dense]

    def _messages(self, name: I32, marker: Mask, event: I32) -> I32:
        """Markers have the text that the program gave them, where the file holds it."""
        table = "rocpd_event" + self._file.suffix
        column = self._file.reader.peek(table, {"extdata": "text"}).text("extdata")
        if column is None:
            return name
        own = StringPool()
        ids = own.intern_rows(column, np.where(marker, event, -1).astype(np.int64))
        texts = [json_object(own[text]).get("message") for text in range(len(own))]
        told = [self._file.pool.intern(text) if isinstance(text, str) else -1 for text in texts]
        message = pick(np.array(told, np.int32), ids, -1)
        return np.where(message >= 0, message, name).astype(np.int32)

    # -------------------------------------------------------------- GPU work --

    def _read_dispatches(self) -> None:
        columns: dict[str, ColumnKind] = dict.fromkeys(_DISPATCH, "i64")
        rows = self._file.rows("rocpd_kernel_dispatch", **columns)
        if rows is None:
            return
        start, end = spans(rows, self._found.account)
        start, end, device = self._on_gpu(rows, start, end, rows.i64("agent_id"))
        name, registers = self._kernels(rows.i64("kernel_id"))
        config = {
            "registers_per_thread": registers,
            "shared_bytes": narrow(rows.i64("group_segment_size")),
            "local_bytes_per_thread": narrow(rows.i64("private_segment_size")),
        }
        for side in _SIDES:
            group = rows.i64(f"workgroup_size_{side}")
            config[f"block_{side}"] = narrow(group)
            config[f"grid_{side}"] = blocks(rows.i64(f"grid_size_{side}"), group)
        self._dispatch_event = rows.i64("event_id")
        self._dispatch_start, self._dispatch_device = start, device
        kind = kernel_kinds(self._file.pool, name)
        self._add_work(rows, device, start, end, kind, name, config, None)

    def _on_gpu(self, rows: Rows, start: I64, end: I64, agent: I64) -> tuple[I64, I64, I32]:
        """Work on an agent that is no GPU, or not listed, is left out."""
        device = self._file.device(agent)
        known = device >= 0
        if not known.all():
            self._found.account.leave_out(rows.table, "no_gpu", count(~known))
            rows.keep(known)
            start, end, device = start[known], end[known], device[known]
        return start, end, device

    def _kernels(self, ids: I64) -> tuple[I32, I32]:
        """Name and vector registers of each kernel."""
        rows = self._file.rows(
            "rocpd_info_kernel_symbol",
            id="i64",
            kernel_name="text",
            display_name="text",
            arch_vgpr_count="i64",
        )
        unnamed = self._file.pool.intern("(no name)")
        if rows is None:
            return np.full(len(ids), unnamed, np.int32), narrow(np.full(len(ids), NULL64))
        symbol = Lookup(rows.i64("id")).rows(ids)
        names = np.full(rows.count, unnamed, np.int32)
        for column in ("kernel_name", "display_name"):
            text = rows.text(column)
            if text is not None:
                given = self._file.pool.intern_column(text)
                names = np.where(given >= 0, given, names).astype(np.int32)
        registers = pick(rows.i64("arch_vgpr_count"), symbol)
        return pick(names, symbol, unnamed), narrow(np.where(registers > 0, registers, NULL64))

    def _read_copies(self) -> None:
        rows = self._file.rows(
            "rocpd_memory_copy",
            pid="i64",
            start="i64",
            end="i64",
            name_id="i64",
            dst_agent_id="i64",
            src_agent_id="i64",
            size="i64",
            queue_id="i64",
            stream_id="i64",
            event_id="i64",
        )
        if rows is None:
            return
        start, end = spans(rows, self._found.account)
        target, source = rows.i64("dst_agent_id"), rows.i64("src_agent_id")
        agent = np.where(self._file.device(target) >= 0, target, source)
        start, end, device = self._on_gpu(rows, start, end, agent)
        operation = self._file.names(rows.i64("name_id"))
        used, index = np.unique(operation, return_inverse=True)
        named = [self._file.pool.intern(copy_name(self._file.pool[text])) for text in used.tolist()]
        name = np.array(named, np.int32)[index]
        kind = np.full(len(start), GpuKind.MEMCPY, np.uint8)
        self._add_work(rows, device, start, end, kind, name, {}, rows.i64("size"))

    def _add_work(
        self,
        rows: Rows,
        device: I32,
        start: I64,
        end: I64,
        kind: Any,
        name: I32,
        config: dict[str, I32],
        size: I64 | None,
    ) -> None:
        process = self._file.process(rows.i64("pid"))
        stack = pick(self._file.stack, self._file.event_rows(rows))
        launch, calls = np.full(len(start), -1, np.int32), self._found.calls
        if calls is not None and len(calls):
            launch, ambiguous = launches(
                [process, stack], start, [calls.process, calls.correlation], calls.start
            )
            self._found.ambiguous += ambiguous
        self._found.work.append(
            Work(
                process,
                device,
                rows.i64("stream_id"),
                rows.i64("queue_id"),
                start,
                end,
                kind,
                name,
                launch,
                stack,
                config,
                size,
            )
        )

    # ----------------------------------------------------- memory, counters --

    def _read_allocations(self) -> None:
        rows = self._file.rows(
            "rocpd_memory_allocate",
            pid="i64",
            tid="i64",
            agent_id="i64",
            type="text",
            level="text",
            start="i64",
            end="i64",
            address="i64",
            size="i64",
        )
        if rows is None or not rows.count:
            return
        account, own = self._found.account, StringPool()
        level = rows.text("level")
        if level is not None:
            levels = own.intern_column(level)
            scratch = levels == own.intern("SCRATCH")
            if scratch.any():
                account.leave_out(rows.table, "scratch", count(scratch))
                rows.keep(~scratch)
        start, _ = spans(rows, account)
        text = rows.text("type")
        types = (
            np.full(rows.count, -1, np.int32)
            if text is None
            else own.intern_rows(text, rows.kept_rows())
        )
        process, address = self._file.process(rows.i64("pid")), rows.i64("address")
        size = signed_sizes(process, address, start, rows.i64("size"), types == own.intern("FREE"))
        known = size != NULL64
        account.leave_out(rows.table, "no_size", count(~known))
        self._found.memory = Allocations(
            process[known],
            self._file.tid(rows.i64("tid"))[known],
            self._file.device(rows.i64("agent_id"))[known],
            start[known],
            size[known],
            address[known],
        )

    def _read_counters(self) -> None:
        kinds = self._file.rows("rocpd_info_pmc", id="i64", name="text", symbol="text")
        rows = self._file.rows("rocpd_pmc_event", event_id="i64", pmc_id="i64", value="f64")
        if kinds is None or rows is None or not rows.count:
            return
        names = zip(kinds.texts("symbol"), kinds.texts("name"), strict=True)
        name_of = np.array(
            [self._file.pool.intern(symbol or name or "(no name)") for symbol, name in names],
            np.int32,
        )
        kind = Lookup(kinds.i64("id")).rows(rows.i64("pmc_id"))
        event, value = rows.i64("event_id"), rows.f64("value")
        time, device = self._counter_places(event)
        used = (kind >= 0) & (time != NULL64)
        self._found.account.leave_out(rows.table, "no_event", count(~used))
        # One value a dimension (shader engine, …): their sum is the counter's value.
        dense, first = intern_rows([event[used], kind[used].astype(np.int64)])
        self._found.counters.append(
            Values(
                device[used][first],
                pick(name_of, kind[used][first], -1),
                time[used][first],
                np.bincount(dense, value[used], len(first)).astype(np.float64),
            )
        )

    def _counter_places(self, event: I64) -> tuple[I64, I32]:
        """Time and device of the dispatch, or the time of the sample, that has the event."""
        row = Lookup(self._dispatch_event).rows(event)
        time = pick(self._dispatch_start, row)
        device = pick(self._dispatch_device, row, -1)
        samples = self._file.rows("rocpd_sample", timestamp="i64", event_id="i64")
        if samples is not None and samples.count:
            row = Lookup(samples.i64("event_id")).rows(event)
            time = np.where(row >= 0, pick(samples.i64("timestamp"), row), time)
        return time, device
