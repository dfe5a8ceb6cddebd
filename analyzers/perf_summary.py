"""Rows of operators with equal keys: times, rates, and how near they come to a device's limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .distinct import distinct
from .op_groups import Groups, Rates, Spread, group_rows, rates, spread, sums
from .perf_table import NO_MODEL, PerfTable
from .roofline import Roofline, roofline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.report_events import Host
    from .architecture import Architecture
    from .perf_figures import Figures

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PerfSummary:
    """Groups of rows of a table, most GPU time first. Columns of one length by group."""

    row: I64
    """The first row of each group: an index into the table."""
    member: I64
    """The rows that are counted."""
    groups: Groups
    """Over `member`."""
    kernel_ns: Spread
    """Union of the GPU work of an instance."""
    host_ns: Rates
    """Duration of the operator on the host."""
    host_total_ns: F64
    tflops: Rates
    """10^12 operations/s of an instance."""
    tbytes: Rates
    """10^12 bytes/s of an instance."""
    tflops_total: F64
    """All operations over all time; NaN where not known, as in the next."""
    tbytes_total: F64
    figures: list[Figures | None]
    """Of the first instance; None without a model."""
    rooflines: list[Roofline | None]
    notes: list[str]
    """Why a figure is missing or what it assumes; empty: nothing to say."""
    percent: Rates
    """Of the roofline that an instance reaches."""


def summarise(
    of: PerfTable,
    member: I64,
    keys: Sequence[NDArray[np.integer]],
    host: Host,
    architecture: Architecture | None,
    *,
    compat: frozenset[str] = frozenset(),
) -> PerfSummary:
    """Groups of the rows `member` with equal keys (columns over them)."""
    table = of.table
    time = table.direct_ns[member]
    groups = group_rows(keys, time)
    row = member[groups.first]
    figure = of.figure[member]
    lines = [roofline(f, architecture, compat) if architecture else None for f in of.figures]
    flops = _column([f.flops for f in of.figures])[figure]
    moved = _column([f.bytes for f in of.figures])[figure]
    limit = _column([r.time_us if isinstance(r, Roofline) else None for r in lines])[figure]
    seconds = np.where(time > 0, time / 1e9, np.nan)
    host_ns = np.append(host.dur_ns, 0)[table.host[member]].astype(np.float64)
    host_ns[table.host[member] < 0] = np.nan
    first = of.figure[row].tolist()
    return PerfSummary(
        row=row,
        member=member,
        groups=groups,
        kernel_ns=spread(groups, time),
        host_ns=rates(groups, host_ns),
        host_total_ns=_sum(groups, host_ns),
        tflops=rates(groups, flops / seconds / 1e12),
        tbytes=rates(groups, moved / seconds / 1e12),
        tflops_total=_overall(groups, flops, time),
        tbytes_total=_overall(groups, moved, time),
        figures=[None if i == NO_MODEL else of.figures[i] for i in first],
        rooflines=[r if isinstance(r := _at(lines, i), Roofline) else None for i in first],
        notes=[_note(of, lines, i) for i in first],
        percent=rates(groups, 100 * limit / (seconds * 1e6)),
    )


def _sum(groups: Groups, value: F64) -> F64:
    total: F64 = np.bincount(groups.of_row, value, minlength=len(groups.first)).astype(np.float64)
    return total


def _column(values: list[float | None]) -> F64:
    """By figure; the last entry is for rows without a model."""
    return np.array([np.nan if v is None else v for v in values] + [np.nan], np.float64)


def _overall(groups: Groups, work: F64, time: I64) -> F64:
    """Σ work / Σ time, of the rows whose work is known."""
    known = ~np.isnan(work)
    number = len(groups.first)
    total = np.bincount(groups.of_row[known], work[known], minlength=number)
    spent = sums(groups.of_row[known], time[known], number)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spent > 0, total / (spent / 1e9) / 1e12, np.nan)


def _at(values: Sequence[Any], index: int) -> Any:
    return None if index == NO_MODEL else values[index]


def _note(of: PerfTable, lines: Sequence[Roofline | str | None], index: int) -> str:
    if index == NO_MODEL:
        return "no model"
    found = of.figures[index]
    line = lines[index]
    why = (
        line
        if isinstance(line, str) and found.flops is not None and found.bytes is not None
        else ""
    )
    return "; ".join(filter(None, (found.note, why)))


def families(of: PerfTable) -> dict[str, I64]:
    """The rows of each family with a sheet, by name."""
    named = np.array([f.family for f in of.figures] + [""])
    of_row = named[of.figure]
    return {str(f): np.flatnonzero(of_row == f) for f in distinct(named).tolist() if f}


def parameter_sets(of: PerfTable) -> I32:
    """A number for the parameters of each row's call: equal ones have the same."""
    known: dict[str, int] = {}
    numbers = [known.setdefault(repr(dict(f.params)), len(known)) for f in of.figures]
    return np.array([*numbers, NO_MODEL], np.int32)[of.figure]
