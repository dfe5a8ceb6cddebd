"""Reads RPD databases (rocmProfileData): api and op tables, and which call led to which op."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...native import StringPool, intern_rows
from ..account import count
from ..arrays import I32, I64, NULL64
from ..errors import DamagedTraceError
from ..model import GpuKind, HostKind
from ..owners import Device, Process
from ..tables import Rows, TableReader
from .links import Lookup, pick
from .recording import (
    Calls,
    Recording,
    Values,
    Work,
    copy_name,
    kernel_kind,
    narrow,
    spans,
)

_MARKER: Final = "UserMarker"
_OWN: Final = ("::writeRows", "hcc_activity_callback")
"""Calls of the tracer itself."""
_OP: Final = ("id", "gpuId", "queueId", "start", "end", "description_id", "opType_id")
_NEEDED: Final = (
    ("rocpd_string", ("id", "string")),
    ("rocpd_api", ("id", "start", "end")),
    ("rocpd_op", ("id", "start", "end")),
)
_COPY_KINDS: Final = {0: "HtoH", 1: "HtoD", 2: "DtoH", 3: "DtoD"}


def read_rpd(reader: TableReader, label: str, pool: StringPool) -> Recording:
    """All tables of the file that hold events."""
    return _Rpd(reader, label, pool).read()


class _Rpd:
    def __init__(self, reader: TableReader, label: str, pool: StringPool) -> None:
        self._reader, self._pool = reader, pool
        self._found = Recording(label, reader.account)
        self._device_ids: dict[int, int] = {}
        self._unnamed = pool.intern("(no name)")

    def read(self) -> Recording:
        lacking = [name for name, columns in _NEEDED if not self._reader.find(name, columns)]
        if lacking:
            listed = ", ".join(lacking)
            what = f"an RPD database that lacks tables, or columns of them: {listed}."
            raise DamagedTraceError(self._reader.path, what, "Copy it again, or record it again.")
        self._read_facts()
        rows = self._reader.read("rocpd_string", {"id": "i64", "string": "text"})
        text = rows.text("string")
        self._texts = Lookup(rows.i64("id"))
        self._text_ids = np.empty(0, np.int32) if text is None else self._pool.intern_column(text)
        self._read_calls()
        self._read_ops()
        self._read_monitor()
        return self._found

    def _read_facts(self) -> None:
        table = self._reader.find("rocpd_metadata", ("tag", "value"))
        if table is None:
            return
        rows = self._reader.read(table, {"tag": "text", "value": "text"})
        known = dict(zip(rows.texts("tag"), rows.texts("value"), strict=True))
        self._found.facts["schema_version"] = known.get("schema_version") or ""

    def _names(self, ids: I64) -> I32:
        """Pool id of each text of the file, -1 where there is none."""
        return pick(self._text_ids, self._texts.rows(ids), -1).astype(np.int32)

    # -------------------------------------------------------------------- host --

    def _read_calls(self) -> None:
        found = self._found
        rows = self._reader.read(
            "rocpd_api",
            dict.fromkeys(("id", "pid", "tid", "start", "end", "apiName_id", "args_id"), "i64"),
        )
        start, end = spans(rows, found.account)
        pid, ident = rows.i64("pid"), rows.i64("id")
        process, first = intern_rows([pid])
        for number in pid[first].tolist():
            found.processes.append(Process(f"pid {number}", number))
        name, kind = self._call_kinds(
            self._names(rows.i64("apiName_id")), self._names(rows.i64("args_id")), start == end
        )
        self._calls = Lookup(ident)
        none = np.full(len(start), -1, np.int32)
        found.calls = Calls(process, rows.i64("tid"), start, end, kind, name, ident, none)

    def _call_kinds(self, name: I32, args: I32, instant: Any) -> tuple[I32, Any]:
        """Names of calls and ranges, and their HostKind. A marker's text is its argument."""
        names, index = np.unique(name, return_inverse=True)
        texts = ["" if text < 0 else self._pool[text] for text in names.tolist()]
        marker = np.array([text == _MARKER for text in texts], np.bool_)[index]
        own = np.array([text.endswith(_OWN) for text in texts], np.bool_)[index]
        shown = np.where(marker & (args >= 0), args, name)
        kind = np.full(len(name), HostKind.RUNTIME, np.uint8)
        kind[own] = HostKind.OVERHEAD
        kind[marker] = HostKind.ANNOTATION
        kind[marker & instant] = HostKind.MARK
        return np.where(shown < 0, self._unnamed, shown).astype(np.int32), kind

    # --------------------------------------------------------------------- GPU --

    def _read_ops(self) -> None:
        found = self._found
        rows = self._reader.read("rocpd_op", dict.fromkeys(_OP, "i64"))
        start, end = spans(rows, found.account)
        launch, ident = self._launches(rows.i64("id"))
        process = np.full(len(start), -1, np.int32)
        if found.calls is not None:
            process = pick(found.calls.process, launch, 0 if len(found.processes) == 1 else -1)
        size, copy_kind = self._copies(ident)
        name, kind = self._op_kinds(
            self._names(rows.i64("description_id")), self._names(rows.i64("opType_id")), copy_kind
        )
        none = np.full(len(start), NULL64)
        found.work.append(
            Work(
                process.astype(np.int32),
                self._devices(rows.i64("gpuId")),
                none,
                rows.i64("queueId"),
                start,
                end,
                kind,
                name,
                launch,
                ident,
                self._configs(ident, kind),
                np.where(kind == GpuKind.KERNEL, NULL64, size),
            )
        )

    def _launches(self, ops: I64) -> tuple[I32, I64]:
        """Call row and call id of each op. One call may have many ops (a graph)."""
        table = self._reader.find("rocpd_api_ops", ("api_id", "op_id"))
        if table is None or self._found.calls is None:
            return np.full(len(ops), -1, np.int32), np.full(len(ops), NULL64)
        rows = self._reader.read(table, {"api_id": "i64", "op_id": "i64"})
        api, op = rows.i64("api_id"), rows.i64("op_id")
        call = pick(api, Lookup(op).rows(ops))
        row = self._calls.rows(call)
        unknown = Lookup(ops).rows(op) < 0
        self._found.account.leave_out(rows.table, "no_op", count(unknown))
        return row, call

    def _devices(self, gpu: I64) -> I32:
        dense, first = intern_rows([gpu])
        for number in gpu[first].tolist():
            self._device_ids[number] = len(self._found.devices)
            name = f"GPU (agent {number}, model not recorded)"
            self._found.devices.append((number, Device(number, name, gpu_id=number)))
        return dense

    def _op_kinds(self, description: I32, op_type: I32, copy_kind: I64) -> tuple[I32, Any]:
        """Name and GpuKind of each op: copies have no description, graph kernels are tasks."""
        dense, first = intern_rows([description, op_type, copy_kind])
        names: list[int] = []
        kinds: list[GpuKind] = []
        for text, kind_text, copied in zip(
            description[first].tolist(),
            op_type[first].tolist(),
            copy_kind[first].tolist(),
            strict=True,
        ):
            given = "" if text < 0 else self._pool[text]
            op = "" if kind_text < 0 else self._pool[kind_text]
            if op.startswith(("Copy", "MEMORY_COPY")):
                named = copy_name(op)
                if named == "memcpy" and copied in _COPY_KINDS:
                    named = f"memcpy {_COPY_KINDS[copied]}"
                names.append(self._pool.intern(named))
                kinds.append(GpuKind.MEMCPY)
            elif op.startswith("Fill"):
                names.append(self._pool.intern("memset"))
                kinds.append(GpuKind.MEMSET)
            else:
                names.append(self._pool.intern(given or op or "(no name)"))
                kinds.append(kernel_kind(given))
        return np.array(names, np.int32)[dense], np.array(kinds, np.uint8)[dense]

    def _copies(self, call: I64) -> tuple[I64, I64]:
        """Bytes and kind of the copy that each call made, NULL64 where it made none."""
        table = self._reader.find("rocpd_copyapi", ("api_ptr_id", "size"))
        if table is None:
            return np.full(len(call), NULL64), np.full(len(call), NULL64)
        rows = self._reader.read(table, {"api_ptr_id": "i64", "size": "i64", "kind": "i64"})
        row = Lookup(rows.i64("api_ptr_id")).rows(call)
        return pick(rows.i64("size"), row), pick(rows.i64("kind"), row)

    def _configs(self, call: I64, kind: Any) -> dict[str, I32]:
        """Launch shapes of kernels that are launched one by one. The grid is in blocks."""
        table = self._reader.find("rocpd_kernelapi", ("api_ptr_id", "gridX"))
        if table is None:
            return {}
        columns = {
            "gridX": "grid_x",
            "gridY": "grid_y",
            "gridZ": "grid_z",
            "workgroupX": "block_x",
            "workgroupY": "block_y",
            "workgroupZ": "block_z",
            "groupSegmentSize": "shared_bytes",
            "privateSegmentSize": "local_bytes_per_thread",
        }
        rows = self._reader.read(table, {"api_ptr_id": "i64", **dict.fromkeys(columns, "i64")})
        row = Lookup(rows.i64("api_ptr_id")).rows(call)
        row = np.where(kind == GpuKind.KERNEL, row, np.int32(-1))
        return {ours: narrow(pick(rows.i64(theirs), row)) for theirs, ours in columns.items()}

    # ---------------------------------------------------------------- counters --

    def _read_monitor(self) -> None:
        table = self._reader.find("rocpd_monitor", ("deviceId", "monitorType", "start", "value"))
        if table is None or not self._reader.row_count(table):
            return
        rows = self._reader.read(
            table,
            {
                "deviceId": "i64",
                "monitorType": "text",
                "start": "i64",
                "end": "i64",
                "value": "f64",
            },
        )
        start, _ = spans(rows, self._found.account)
        self._found.counters.append(
            Values(self._monitored(rows), self._monitors(rows), start, rows.f64("value"))
        )

    def _monitored(self, rows: Rows) -> I32:
        """The GPU of each value. Monitors count GPUs from 0, ops by agent: with one GPU at work
        it is that one, else the one of that number if there is one."""
        device = rows.i64("deviceId")
        if len(self._found.devices) == 1:
            return np.zeros(len(device), np.int32)
        dense, first = intern_rows([device])
        known = [self._device_ids.get(number, -1) for number in device[first].tolist()]
        return np.array(known, np.int32)[dense]

    def _monitors(self, rows: Rows) -> I32:
        column = rows.text("monitorType")
        if column is None:
            return np.full(rows.count, self._unnamed, np.int32)
        names = self._pool.intern_rows(column, rows.kept_rows())
        return np.where(names < 0, self._unnamed, names).astype(np.int32)
