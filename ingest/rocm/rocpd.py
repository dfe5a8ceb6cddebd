"""Reads rocpd databases of rocprofv3: tables of one process each, their names end in its GUID.

The views of the file join these tables; the tables are read as they are, for a view drops a row
whose thread, stream or agent is not listed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...native import ColumnKind, StringPool, intern_rows
from ..account import count
from ..arrays import I32, I64, NULL64, Mask
from ..model import GpuKind, HostKind
from ..owners import Device, Process
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
    return _Rocpd(reader, suffix, label, pool).read()


class _Rocpd:
    def __init__(self, reader: TableReader, suffix: str, label: str, pool: StringPool) -> None:
        self._reader = reader
        self._suffix = suffix
        self._pool = pool
        self._found = Recording(label, reader.account)
        self._events: Lookup | None = None
        self._stack = self._parent_stack = self._category = np.empty(0, np.int64)
        self._dispatch_event = self._dispatch_start = np.empty(0, np.int64)
        self._dispatch_device = np.empty(0, np.int32)

    def read(self) -> Recording:
        self._read_texts()
        self._read_owners()
        self._read_events()
        self._read_regions()
        self._read_dispatches()
        self._read_copies()
        self._read_allocations()
        self._read_counters()
        return self._found

    def _rows(self, table: str, **columns: ColumnKind) -> Rows | None:
        name = table + self._suffix
        if self._reader.find(name) is None:
            return None
        return self._reader.read(name, columns)

    def _read_texts(self) -> None:
        rows = self._rows("rocpd_string", id="i64", string="text")
        self._texts = Lookup(np.empty(0, np.int64))
        self._text_ids = np.empty(0, np.int32)
        if rows is not None and (column := rows.text("string")) is not None:
            self._texts = Lookup(rows.i64("id"))
            self._text_ids = self._pool.intern_column(column)

    def _names(self, ids: I64) -> I32:
        """Pool id of each text of the file; "(no name)" where there is none."""
        found = pick(self._text_ids, self._texts.rows(ids), -1)
        return np.where(found < 0, self._pool.intern("(no name)"), found).astype(np.int32)

    # ----------------------------------------------------------------- owners --

    def _read_owners(self) -> None:
        found = self._found
        facts = self._rows("rocpd_metadata", tag="text", value="text")
        if facts is not None:
            known = dict(zip(facts.texts("tag"), facts.texts("value"), strict=True))
            found.facts["schema_version"] = known.get("schema_version") or ""
        node = self._rows("rocpd_info_node", machine_id="text", system_name="text")
        if node is not None and node.count:
            found.machine = node.texts("machine_id")[0] or ""
        processes = self._rows("rocpd_info_process", id="i64", pid="i64", command="text")
        self._processes = Lookup(np.empty(0, np.int64))
        if processes is not None:
            self._processes = Lookup(processes.i64("id"))
            for pid, command in zip(
                processes.i64("pid").tolist(), processes.texts("command"), strict=True
            ):
                found.processes.append(Process(_program(command, pid), pid))
        threads = self._rows("rocpd_info_thread", id="i64", pid="i64", tid="i64", name="text")
        self._threads = Lookup(np.empty(0, np.int64))
        self._tids = np.empty(0, np.int64)
        if threads is not None:
            self._threads, self._tids = Lookup(threads.i64("id")), threads.i64("tid")
            owners = self._process(threads.i64("pid")).tolist()
            names = threads.texts("name")
            for owner, tid, name in zip(owners, self._tids.tolist(), names, strict=True):
                if name:
                    found.thread_names[owner, tid] = name
        self._read_agents()

    def _read_agents(self) -> None:
        agents = self._rows(
            "rocpd_info_agent",
            id="i64",
            type="text",
            absolute_index="i64",
            type_index="i64",
            name="text",
            product_name="text",
            extdata="text",
        )
        self._agents = Lookup(np.empty(0, np.int64))
        self._gpu = np.empty(0, np.int64)
        if agents is None:
            return
        self._agents = Lookup(agents.i64("id"))
        self._gpu = np.full(agents.count, -1, np.int64)
        columns = zip(
            agents.texts("type"),
            agents.records("id", "absolute_index", "type_index"),
            agents.texts("name"),
            agents.texts("product_name"),
            agents.texts("extdata"),
            strict=True,
        )
        for row, (kind, (ident, place, index), name, product, more) in enumerate(columns):
            if kind != "GPU":
                continue
            self._gpu[row] = len(self._found.devices)
            number = place if place is not None else ident or 0
            details = _object(more)
            device = Device(
                ordinal=index if index is not None else number,
                name=product or name or f"GPU (agent {number}, model not recorded)",
                gpu_id=number,
                sm_count=_whole(details.get("cu_count")),
                clock_hz=_megahertz(details.get("max_engine_clk_fcompute")),
            )
            self._found.devices.append((number, device))

    def _process(self, ids: I64) -> I32:
        return self._processes.rows(ids)

    def _tid(self, ids: I64) -> I64:
        return pick(self._tids, self._threads.rows(ids))

    def _device(self, ids: I64) -> I32:
        """GPU of each agent, -1 for none or a CPU."""
        return pick(self._gpu, self._agents.rows(ids), -1).astype(np.int32)

    # ----------------------------------------------------------------- events --

    def _read_events(self) -> None:
        rows = self._rows(
            "rocpd_event",
            id="i64",
            category_id="i64",
            stack_id="i64",
            parent_stack_id="i64",
            correlation_id="i64",
        )
        if rows is None:
            return
        self._events = Lookup(rows.i64("id"))
        self._stack, self._parent_stack = rows.i64("stack_id"), rows.i64("parent_stack_id")
        self._category = rows.i64("category_id")

    def _event_rows(self, rows: Rows) -> I32:
        if self._events is None:
            return np.full(rows.count, -1, np.int32)
        return self._events.rows(rows.i64("event_id"))

    def _read_regions(self) -> None:
        rows = self._rows(
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
        event = self._event_rows(rows)
        stack, parent_stack = pick(self._stack, event), pick(self._parent_stack, event)
        process = self._process(rows.i64("pid"))
        name = self._names(rows.i64("name_id"))
        kind, marker = self._kinds(pick(self._category, event), name)
        if marker.any():
            name = self._messages(name, marker, event)
        kind[marker & (start == end) & (kind == HostKind.ANNOTATION)] = HostKind.MARK
        parent, _ = launches([process, parent_stack], start, [process, stack], start)
        self._found.calls = Calls(
            process, self._tid(rows.i64("tid")), start, end, kind, name, stack, parent
        )

    def _kinds(self, category: I64, name: I32) -> tuple[Any, Mask]:
        """HostKind of each region, and whether it is a marker."""
        dense, first = intern_rows([category, name])
        categories = self._names(category[first]).tolist()
        kinds: list[HostKind] = []
        markers: list[bool] = []
        for group, text in zip(categories, name[first].tolist(), strict=True):
            in_group, plain = self._pool[group].upper(), self._pool[text].lower()
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
        table = "rocpd_event" + self._suffix
        column = self._reader.peek(table, {"extdata": "text"}).text("extdata")
        if column is None:
            return name
        own = StringPool()
        ids = own.intern_rows(column, np.where(marker, event, -1).astype(np.int64))
        texts = [_object(own[text]).get("message") for text in range(len(own))]
        told = [self._pool.intern(text) if isinstance(text, str) else -1 for text in texts]
        message = pick(np.array(told, np.int32), ids, -1)
        return np.where(message >= 0, message, name).astype(np.int32)

    # -------------------------------------------------------------- GPU work --

    def _read_dispatches(self) -> None:
        columns: dict[str, ColumnKind] = dict.fromkeys(_DISPATCH, "i64")
        rows = self._rows("rocpd_kernel_dispatch", **columns)
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
        kind = kernel_kinds(self._pool, name)
        self._add_work(rows, device, start, end, kind, name, config, None)

    def _on_gpu(self, rows: Rows, start: I64, end: I64, agent: I64) -> tuple[I64, I64, I32]:
        """Work on an agent that is no GPU, or not listed, is left out."""
        device = self._device(agent)
        known = device >= 0
        if not known.all():
            self._found.account.leave_out(rows.table, "no_gpu", count(~known))
            rows.keep(known)
            start, end, device = start[known], end[known], device[known]
        return start, end, device

    def _kernels(self, ids: I64) -> tuple[I32, I32]:
        """Name and vector registers of each kernel."""
        rows = self._rows(
            "rocpd_info_kernel_symbol",
            id="i64",
            kernel_name="text",
            display_name="text",
            arch_vgpr_count="i64",
        )
        unnamed = self._pool.intern("(no name)")
        if rows is None:
            return np.full(len(ids), unnamed, np.int32), narrow(np.full(len(ids), NULL64))
        symbol = Lookup(rows.i64("id")).rows(ids)
        names = np.full(rows.count, unnamed, np.int32)
        for column in ("kernel_name", "display_name"):
            text = rows.text(column)
            if text is not None:
                given = self._pool.intern_column(text)
                names = np.where(given >= 0, given, names).astype(np.int32)
        registers = pick(rows.i64("arch_vgpr_count"), symbol)
        return pick(names, symbol, unnamed), narrow(np.where(registers > 0, registers, NULL64))

    def _read_copies(self) -> None:
        rows = self._rows(
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
        agent = np.where(self._device(target) >= 0, target, source)
        start, end, device = self._on_gpu(rows, start, end, agent)
        operation = self._names(rows.i64("name_id"))
        used, index = np.unique(operation, return_inverse=True)
        named = [self._pool.intern(copy_name(self._pool[text])) for text in used.tolist()]
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
        process = self._process(rows.i64("pid"))
        stack = pick(self._stack, self._event_rows(rows))
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
        rows = self._rows(
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
        process, address = self._process(rows.i64("pid")), rows.i64("address")
        size = signed_sizes(process, address, start, rows.i64("size"), types == own.intern("FREE"))
        known = size != NULL64
        account.leave_out(rows.table, "no_size", count(~known))
        self._found.memory = Allocations(
            process[known],
            self._tid(rows.i64("tid"))[known],
            self._device(rows.i64("agent_id"))[known],
            start[known],
            size[known],
            address[known],
        )

    def _read_counters(self) -> None:
        kinds = self._rows("rocpd_info_pmc", id="i64", name="text", symbol="text")
        rows = self._rows("rocpd_pmc_event", event_id="i64", pmc_id="i64", value="f64")
        if kinds is None or rows is None or not rows.count:
            return
        names = zip(kinds.texts("symbol"), kinds.texts("name"), strict=True)
        name_of = np.array(
            [self._pool.intern(symbol or name or "(no name)") for symbol, name in names], np.int32
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
        samples = self._rows("rocpd_sample", timestamp="i64", event_id="i64")
        if samples is not None and samples.count:
            row = Lookup(samples.i64("event_id")).rows(event)
            time = np.where(row >= 0, pick(samples.i64("timestamp"), row), time)
        return time, device


def _object(text: str | None) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and 0 < value < 2**31 else None


def _megahertz(value: object) -> int | None:
    number = _whole(value)
    return None if number is None else number * 10**6


def _program(command: str | None, pid: int) -> str:
    """The program without its arguments: they may hold secrets."""
    words = (command or "").split()
    return words[0].rsplit("/", 1)[-1] if words else f"pid {pid}"
