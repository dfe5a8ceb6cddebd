"""Columns and raw values of the table of launches."""

from ...queries.instances import OpRow
from ..export import Cell
from ..widgets.sources import ColumnSpec

START = ColumnSpec("start", "start ms", 14)
DURATION = ColumnSpec("duration", "time µs", 11)
DEVICE = ColumnSpec("device", "GPU", 6, align="left", sortable=False)
NAME = ColumnSpec("name", "name", 24, align="left", flexible=True)
REST = (
    ColumnSpec("stream", "stream", 12, align="left"),
    ColumnSpec("grid", "grid", 16, align="left", sortable=False),
    ColumnSpec("block", "block", 14, align="left", sortable=False),
    ColumnSpec("registers", "regs", 5, sortable=False),
    ColumnSpec("shared", "shared", 9, sortable=False),
    ColumnSpec("bytes", "size", 9),
    ColumnSpec("launched", "launch", 12, align="left", sortable=False),
)

RAW_COLUMNS = (
    "kind",
    "device",
    "stream",
    "start_ns",
    "dur_ns",
    "name",
    "full_name",
    "correlation",
    "launch_recorded",
    "grid",
    "block",
    "registers_per_thread",
    "static_shared_bytes",
    "dynamic_shared_bytes",
    "bytes",
)


def raw_row(row: OpRow) -> list[Cell]:
    """The values of a launch, in the order of `RAW_COLUMNS`."""
    return [
        row.kind.name.lower(),
        row.device,
        row.stream,
        row.start_ns,
        row.dur_ns,
        row.name,
        row.full_name,
        row.correlation,
        int(row.launched),
        None if row.grid is None else "x".join(map(str, row.grid)),
        None if row.block is None else "x".join(map(str, row.block)),
        row.registers,
        row.static_shared_bytes,
        row.dynamic_shared_bytes,
        row.bytes,
    ]
