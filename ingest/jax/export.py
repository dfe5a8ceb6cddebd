"""The JSON of a recording that viewers read (`trace.json.gz`), as the same columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ...native import DocumentReader, EventScanner, StringPool, TextColumn, intern_rows
from ..arrays import I32, I64, NULL64
from .recording import NUMBERS, TEXTS, Faults, Recording

_COMPLETE: Final = ord("X")
_ARGS: Final = "args"
_Column = tuple[str, str, Literal["i64", "f64", "text"]]


def read_export(chunks: Iterable[bytes], pool: StringPool) -> Recording:
    """Events and their times come from the scanner, which bears damage; the statistics come from
    a second walk over the same bytes. Where that stops at damage, later events lack them."""
    scanner = EventScanner(pool)
    numbers: list[_Column] = [(name, f"args.{name}", "i64") for name in NUMBERS]
    texts: list[_Column] = [(name, f"args.{name}", "text") for name in TEXTS]
    document = DocumentReader([(_ARGS, "traceEvents[]", [*numbers, *texts], "")])
    for chunk in chunks:
        scanner.feed(chunk)
        if document.error is None:
            document.feed(chunk)
    if document.error is None:
        document.finish()
    scan = scanner.finish()
    tables = {name: scan.take(name) for name in ("lane", "meta", "other") if scan.rows(name)}
    other = tables.get("other", {})
    rows = np.flatnonzero(other["ph"] == _COMPLETE) if other else np.empty(0, np.int64)
    lanes = _Lanes(tables, pool)
    seq: I64 = other["seq"][rows].astype(np.int64) if other else rows
    read = document.rows(_ARGS) - document.open(_ARGS)
    start, dur = (_column(other, name, rows) for name in ("ts_ns", "dur_ns"))
    return Recording(
        pool=pool,
        planes=lanes.planes,
        stats=[{} for _ in lanes.planes],
        line_plane=lanes.plane,
        line_name=lanes.names,
        line=_column(other, "lane", rows).astype(np.int32),
        name=_column(other, "name", rows).astype(np.int32),
        start=start,
        end=start + dur,
        instant=dur == 0,
        numbers={name: _picked(document.array(_ARGS, name), seq, read, NULL64) for name in NUMBERS},
        texts={
            name: _picked(_texts(document.text(_ARGS, name), pool), seq, read, -1) for name in TEXTS
        },
        rest=_column(other, "args", rows).astype(np.int32),
        faults=Faults(
            told=[f"The statistics of later events are lost: {document.error}."]
            if document.error
            else [],
            left_out={"other_phase_or_damaged": _others(scan.phases, len(rows))},
        ),
        is_export=True,
    )


def _others(phases: dict[str, int], used: int) -> int:
    """Events that are neither used nor names of threads."""
    return max(0, sum(n for phase, n in phases.items() if phase not in ("M", "")) - used)


def _column(table: dict[str, NDArray[Any]], name: str, rows: I64) -> I64:
    return table[name][rows] if table else np.empty(0, np.int64)


def _texts(column: TextColumn, pool: StringPool) -> I32:
    return pool.intern_column(column)


def _picked(values: NDArray[Any], seq: I64, read: int, null: int) -> Any:
    """The value of each event by its position in the file; `null` where it was not read."""
    if not len(seq):
        return None
    known = seq < read
    out = np.full(len(seq), null, values.dtype)
    out[known] = values[seq[known]]
    return out


class _Lanes:
    """Planes are processes of the file (`/host:CPU`, `/device:GPU:0`), lines are its threads."""

    def __init__(self, tables: dict[str, dict[str, NDArray[Any]]], pool: StringPool) -> None:
        lane = tables.get("lane", {"pid": np.empty(0, np.int32), "tid": np.empty(0, np.int32)})
        titles = _titles(tables.get("meta"), pool)
        process = pool.intern("process_name")
        thread = pool.intern("thread_name")
        number, first = intern_rows([lane["pid"]])
        pids: list[int] = lane["pid"][first].tolist()
        self.plane: I32 = number
        self.planes = [titles.get((process, pid, -1)) or pool[pid] for pid in pids]
        owners: list[int] = lane["pid"].tolist()
        threads: list[int] = lane["tid"].tolist()
        self.names = [
            titles.get((thread, pid, tid)) or pool[tid]
            for pid, tid in zip(owners, threads, strict=True)
        ]


def _titles(
    meta: dict[str, NDArray[Any]] | None, pool: StringPool
) -> dict[tuple[int, int, int], str]:
    """Names by (kind, pid, tid): tid -1 for processes. The last one written counts."""
    if meta is None:
        return {}
    process = pool.intern("process_name")
    found: dict[tuple[int, int, int], str] = {}
    columns: list[list[int]] = [meta[name].tolist() for name in ("name", "pid", "tid", "value")]
    for kind, pid, tid, value in zip(*columns, strict=True):
        if value >= 0:
            found[kind, pid, -1 if kind == process else tid] = pool[value]
    return found
