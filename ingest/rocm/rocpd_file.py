"""A rocpd file: its texts, who its events belong to, and what links them."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np

from ...native import ColumnKind, StringPool
from ..arrays import I32, I64
from ..owners import Device, Process
from ..tables import Rows, TableReader
from .links import Lookup, pick
from .recording import Recording


class RocpdFile:
    """The tables of one process, whose names end in `suffix`. What is read goes into `found`."""

    def __init__(self, reader: TableReader, suffix: str, label: str, pool: StringPool) -> None:
        self.reader, self.suffix, self.pool = reader, suffix, pool
        self.found = Recording(label, reader.account)
        self._events: Lookup | None = None
        self.stack = self.parent_stack = self.category = np.empty(0, np.int64)
        """Columns of the table of events."""
        self._read_texts()
        self._read_owners()
        self._read_events()

    def rows(self, table: str, **columns: ColumnKind) -> Rows | None:
        """Columns of a table; None when the file lacks it."""
        name = table + self.suffix
        if self.reader.find(name) is None:
            return None
        return self.reader.read(name, columns)

    def _read_texts(self) -> None:
        rows = self.rows("rocpd_string", id="i64", string="text")
        self._texts = Lookup(np.empty(0, np.int64))
        self._text_ids = np.empty(0, np.int32)
        if rows is not None and (column := rows.text("string")) is not None:
            self._texts = Lookup(rows.i64("id"))
            self._text_ids = self.pool.intern_column(column)

    def names(self, ids: I64) -> I32:
        """Pool id of each text of the file; "(no name)" where there is none."""
        found = pick(self._text_ids, self._texts.rows(ids), -1)
        return np.where(found < 0, self.pool.intern("(no name)"), found).astype(np.int32)

    # ----------------------------------------------------------------- owners --

    def _read_owners(self) -> None:
        found = self.found
        facts = self.rows("rocpd_metadata", tag="text", value="text")
        if facts is not None:
            known = dict(zip(facts.texts("tag"), facts.texts("value"), strict=True))
            found.facts["schema_version"] = known.get("schema_version") or ""
        node = self.rows("rocpd_info_node", machine_id="text", system_name="text")
        if node is not None and node.count:
            found.machine = node.texts("machine_id")[0] or ""
        processes = self.rows("rocpd_info_process", id="i64", pid="i64", command="text")
        self._processes = Lookup(np.empty(0, np.int64))
        if processes is not None:
            self._processes = Lookup(processes.i64("id"))
            for pid, command in zip(
                processes.i64("pid").tolist(), processes.texts("command"), strict=True
            ):
                found.processes.append(Process(_program(command, pid), pid))
        threads = self.rows("rocpd_info_thread", id="i64", pid="i64", tid="i64", name="text")
        self._threads = Lookup(np.empty(0, np.int64))
        self._tids = np.empty(0, np.int64)
        if threads is not None:
            self._threads, self._tids = Lookup(threads.i64("id")), threads.i64("tid")
            owners = self.process(threads.i64("pid")).tolist()
            names = threads.texts("name")
            for owner, tid, name in zip(owners, self._tids.tolist(), names, strict=True):
                if name:
                    found.thread_names[owner, tid] = name
        self._read_agents()

    def _read_agents(self) -> None:
        agents = self.rows(
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
            self._gpu[row] = len(self.found.devices)
            number = place if place is not None else ident or 0
            details = json_object(more)
            device = Device(
                ordinal=index if index is not None else number,
                name=product or name or f"GPU (agent {number}, model not recorded)",
                gpu_id=number,
                sm_count=_whole(details.get("cu_count")),
                clock_hz=_megahertz(details.get("max_engine_clk_fcompute")),
            )
            self.found.devices.append((number, device))

    def process(self, ids: I64) -> I32:
        """Row of each process, -1 where it is not listed."""
        return self._processes.rows(ids)

    def tid(self, ids: I64) -> I64:
        """Number of each thread, NULL64 where it is not listed."""
        return pick(self._tids, self._threads.rows(ids))

    def device(self, ids: I64) -> I32:
        """GPU of each agent, -1 for none or a CPU."""
        return pick(self._gpu, self._agents.rows(ids), -1).astype(np.int32)

    # ----------------------------------------------------------------- events --

    def _read_events(self) -> None:
        rows = self.rows(
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
        self.stack, self.parent_stack = rows.i64("stack_id"), rows.i64("parent_stack_id")
        self.category = rows.i64("category_id")

    def event_rows(self, rows: Rows) -> I32:
        """Row in the table of events of each row, -1 where there is none."""
        if self._events is None:
            return np.full(rows.count, -1, np.int32)
        return self._events.rows(rows.i64("event_id"))


def json_object(text: str | None) -> dict[str, Any]:
    """A JSON object of a few keys; empty when it is none."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and 0 < value < 2**31 else None


def _megahertz(value: object) -> int | None:
    number = _whole(value)
    return None if number is None else number * 10**6


def _program(command: str | None, pid: int) -> str:
    """The program without its arguments: they may hold secrets."""
    words = (command or "").split()
    return words[0].rsplit("/", 1)[-1] if words else f"pid {pid}"
