"""The sheet of operators by arguments where no single piece of GPU work is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ..analyzers.recorded_ops import SEVERAL, RecordedOp, recorded_ops
from ..queries.metric import Metric
from ..queries.paths import CallTree
from .sheets import Column, Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..queries.trace import Trace
    from .sheet_context import SheetOptions

CALLED: Final = "op_calls"
OTHERS: Final = "others"


@dataclass(slots=True)
class _Row:
    """Of all contexts together."""

    of: RecordedOp
    calls: int = 0
    host_ns: int = 0
    self_ns: list[int | None] = field(default_factory=list[int | None])
    gpu_ns: list[int | None] = field(default_factory=list[int | None])

    def time_ns(self, on_gpu: bool) -> int | None:
        """What the calls took where they are computed."""
        return _sum(self.gpu_ns) if on_gpu else self.host_ns


def has_gpu_sums(trace: Trace) -> bool:
    """GPU work was summed up by context. Reads summary tables."""
    own = CallTree.load(trace).own.get(Metric.GPU)
    return own is not None and bool(own.any())


def called_sheet(trace: Trace, options: SheetOptions) -> Sheet | None:
    """Operators by name and arguments, most time first; None where none are recorded. Reads
    events."""
    tree = CallTree.load(trace)
    rows: dict[tuple[object, ...], _Row] = {}
    for op in recorded_ops(trace, tree, options.rules):
        row = rows.setdefault((op.name, op.shapes, op.types, op.further), _Row(op))
        row.calls += op.calls
        row.host_ns += op.host_ns
        row.self_ns.append(op.self_ns)
        row.gpu_ns.append(op.gpu_ns)
    if not rows:
        return None
    on_gpu = any(ns is not None for row in rows.values() for ns in row.gpu_ns)
    found = sorted(rows.values(), key=lambda row: -row.host_ns)
    if on_gpu:
        found.sort(key=lambda row: -(_sum(row.gpu_ns) or 0))
    return Sheet(CALLED, [*_calls(options, found), *_gpu(found, on_gpu), *_figures(found, on_gpu)])


def _calls(options: SheetOptions, rows: Sequence[_Row]) -> list[Column]:
    return [
        Column("name", [row.of.name for row in rows]),
        Column("op category", [options.rules.category(row.of.name, "", "") for row in rows]),
        Column("Input Dims", [_literal(row.of, row.of.shapes) for row in rows]),
        Column("Input type", [_literal(row.of, row.of.types) for row in rows]),
        Column("calls", [row.calls for row in rows]),
        Column("host_time_ms", [row.host_ns / 1e6 for row in rows], "ms"),
        Column("host_time_us_mean", [row.host_ns / row.calls / 1e3 for row in rows], "µs"),
        Column("host_self_time_ms", [_ms(row.self_ns) for row in rows], "ms"),
    ]


def _gpu(rows: Sequence[_Row], on_gpu: bool) -> list[Column]:
    return [Column("gpu_time_ms", [_ms(row.gpu_ns) for row in rows], "ms")] if on_gpu else []


def _figures(rows: Sequence[_Row], on_gpu: bool) -> list[Column]:
    flops = [None if row.of.figures is None else row.of.figures.flops for row in rows]
    moved = [None if row.of.figures is None else row.of.figures.bytes for row in rows]
    times = [row.time_ns(on_gpu) for row in rows]
    calls = [row.calls for row in rows]
    return [
        Column("GFLOPS", [None if v is None else v / 1e9 for v in flops]),
        Column("Data Moved (MB)", [None if v is None else v / (1 << 20) for v in moved]),
        Column("TFLOPS/s", _rates(flops, calls, times)),
        Column("TB/s", _rates(moved, calls, times)),
        Column("note", [_note(row, on_gpu) for row in rows]),
    ]


def _rates(
    of: Sequence[float | None], calls: Sequence[int], times: Sequence[int | None]
) -> list[float | None]:
    """10^12/s."""
    return [
        None if value is None or not ns else value * count / ns / 1e3
        for value, count, ns in zip(of, calls, times, strict=True)
    ]


def _note(row: _Row, on_gpu: bool) -> str:
    figures = row.of.figures
    parts = [] if figures is None or not figures.note else [figures.note]
    if None in (row.gpu_ns if on_gpu else row.self_ns):
        parts.append(f"{'gpu' if on_gpu else 'host_self'}_time_ms: {SEVERAL}")
    return "; ".join(parts)


def _literal(of: RecordedOp, values: tuple[object, ...]) -> str:
    return OTHERS if of.further else repr(values)


def _ms(values: Sequence[int | None]) -> float | None:
    total = _sum(values)
    return None if total is None else total / 1e6


def _sum(values: Sequence[int | None]) -> int | None:
    """None where one of them is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
