"""What is read of a rocprofv3 JSON document: its arrays of records as columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import DocumentReader, StringPool
from ..arrays import I32, I64, Mask

STOCHASTIC: Final = "pc_sample_stochastic"
HOST_TRAP: Final = "pc_sample_host_trap"
"""Samples of instructions, by the two methods: the second tells no reasons."""
_TOP: Final = "rocprofiler-sdk-tool[]"
_SIDES: Final = ("x", "y", "z")
API_TABLES: Final = ("hip_api", "hsa_api", "marker_api", "rccl_api")
CORRELATION: Final = "correlation_id.internal"
_SPAN: Final = ("thread_id", "kind", "operation", CORRELATION, "start_timestamp", "end_timestamp")
_SAMPLE: Final[list[tuple[str, str, Any]]] = [
    ("instruction", "inst_index", "i64"),
    ("code_object", "record.pc.code_object_id", "i64"),
    ("offset", "record.pc.code_object_offset", "i64"),
    ("dispatch_id", "record.dispatch_id", "i64"),
]
_INFO: Final = (
    "agent_id.handle",
    "queue_id.handle",
    "kernel_id",
    "dispatch_id",
    "private_segment_size",
    "group_segment_size",
    *(f"workgroup_size.{side}" for side in _SIDES),
    *(f"grid_size.{side}" for side in _SIDES),
)


def _numbers(names: Iterable[str], under: str = "") -> list[tuple[str, str, Any]]:
    return [(name, under + name, "i64") for name in names]


def _texts(*names: str) -> list[tuple[str, str, Any]]:
    return [(name, name, "text") for name in names]


def _asked() -> list[tuple[str, str, list[tuple[str, str, Any]], str]]:
    buffers = f"{_TOP}.buffer_records"
    counted = f"{_TOP}.callback_records.counter_collection[]"
    tables: dict[str, tuple[str, list[tuple[str, str, Any]]]] = {
        "process": (
            _TOP,
            [("pid", "metadata.pid", "i64"), ("machine", "metadata.node.machine_id", "text")],
        ),
        "command": (f"{_TOP}.metadata.command[]", [("word", "", "text")]),
        "agent": (
            f"{_TOP}.agents[]",
            _numbers(
                (
                    "id.handle",
                    "type",
                    "node_id",
                    "logical_node_type_id",
                    "cu_count",
                    "max_engine_clk_fcompute",
                )
            )
            + _texts("name", "product_name"),
        ),
        "symbol": (
            f"{_TOP}.kernel_symbols[]",
            _numbers(("kernel_id", "arch_vgpr_count"))
            + _texts("formatted_kernel_name", "demangled_kernel_name", "kernel_name"),
        ),
        "kind": (f"{_TOP}.strings.buffer_records[]", _texts("kind")),
        "operation": (f"{_TOP}.strings.buffer_records[].operations[]", [("name", "", "text")]),
        "message": (f"{_TOP}.strings.marker_api[]", _numbers(("key",)) + _texts("value")),
        "counter": (f"{_TOP}.counters[]", _numbers(("id.handle",)) + _texts("name")),
        "kernel_dispatch": (
            f"{buffers}.kernel_dispatch[]",
            _numbers(_SPAN) + _numbers(_INFO, "dispatch_info.") + _numbers(("stream_id.handle",)),
        ),
        "memory_copy": (
            f"{buffers}.memory_copy[]",
            _numbers(
                (
                    *_SPAN,
                    "dst_agent_id.handle",
                    "src_agent_id.handle",
                    "bytes",
                    "stream_id.handle",
                )
            ),
        ),
        "memory_allocation": (
            f"{buffers}.memory_allocation[]",
            _numbers((*_SPAN, "agent_id.handle", "allocation_size", "address", "address.handle")),
        ),
        "scratch_memory": (f"{buffers}.scratch_memory[]", []),
        "counted": (
            counted,
            _numbers(("thread_id",))
            + _numbers((CORRELATION, "start_timestamp", "end_timestamp"), "dispatch_data.")
            + _numbers(_INFO, "dispatch_data.dispatch_info."),
        ),
        "value": (
            f"{counted}.records[]",
            [("counter", "counter_id.handle", "i64"), ("value", "value", "f64")],
        ),
        "sampled_text": (f"{_TOP}.strings.pc_sample_instructions[]", [("text", "", "text")]),
        "sampled_place": (f"{_TOP}.strings.pc_sample_comments[]", [("text", "", "text")]),
        HOST_TRAP: (f"{buffers}.{HOST_TRAP}[]", _SAMPLE),
        STOCHASTIC: (
            f"{buffers}.{STOCHASTIC}[]",
            [
                *_SAMPLE,
                ("issued", "record.wave_issued", "i64"),
                ("reason", "record.snapshot.stall_reason", "text"),
            ],
        ),
        **{name: (f"{buffers}.{name}[]", _numbers(_SPAN)) for name in API_TABLES},
    }
    return [(name, path, columns, "") for name, (path, columns) in tables.items()]


def new_reader() -> DocumentReader:
    """A reader of all that is asked for."""
    return DocumentReader(_asked())


class Records:
    """Rows of one table that stand in one record of another: columns by name."""

    def __init__(self, document: DocumentReader, table: str, rows: I64) -> None:
        self.table = table
        self._document = document
        self._rows = rows

    @property
    def count(self) -> int:
        """Rows that are kept."""
        return len(self._rows)

    @property
    def rows(self) -> I64:
        """Their places in the table."""
        return self._rows

    def keep(self, mask: Mask) -> None:
        """Hand out only the rows where `mask` is true."""
        self._rows = self._rows[mask]

    def i64(self, name: str) -> I64:
        """A column of numbers, NULL64 where there is none."""
        return self._column(name)

    def f64(self, name: str) -> NDArray[np.float64]:
        """A column of numbers, NaN where there is none."""
        return self._column(name)

    def _column(self, name: str) -> NDArray[Any]:
        column = self._document.array(self.table, name)
        return column if len(column) == len(self._rows) else column[self._rows]

    def outer(self) -> I32:
        """Row of the record around each."""
        return self._document.outer(self.table)[self._rows]

    def names(self, name: str, pool: StringPool) -> I32:
        """A column of texts as ids, -1 where there is none."""
        return pool.intern_rows(self._document.text(self.table, name), self._rows)

    def texts(self, name: str) -> list[str | None]:
        """A column of texts of a small table."""
        column = self._document.text(self.table, name)
        return [column[row] for row in self._rows.tolist()]


def within(document: DocumentReader, table: str, outer: I64) -> Records:
    """The rows of a table that stand in the (ascending) rows `outer` of the one around it."""
    around = document.outer(table)
    if len(outer) == 1 and len(around) and (around == outer[0]).all():
        return Records(document, table, np.arange(len(around)))
    return Records(document, table, np.flatnonzero(np.isin(around, outer)))
