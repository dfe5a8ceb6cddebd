"""Sheets of several reports row against row: sums first, then what changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

Table = Mapping[str, Sequence[Any]]
"""Columns by name, of one length; None is a value that is not known."""
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Spec:
    """How the rows of a sheet are paired and what of them is compared."""

    keys: tuple[str, ...]
    sums: tuple[str, ...]
    """The first one decides about the order: the largest change first."""
    count: str | None = None
    """Number of instances: means are weighted by it. One of `sums`."""
    mean: str | None = None
    """Of the first sum over `count`."""
    std: str | None = None
    """Of a sample, of the same value as `mean`."""
    means: tuple[str, ...] = ()
    """Further means, compared too."""
    split: bool = False
    """Rows in both, and in one only, are sheets of their own."""
    keys_by_prefix: str | None = None
    """All columns that begin so, in all reports, are keys too."""


_OPS = ("name", "Input type", "Input Dims", "Input Strides", "Concrete Inputs")

SPECS: Final[dict[str, Spec]] = {
    "gpu_timeline": Spec(("type",), ("time ms",)),
    "ops_summary_by_category": Spec(
        ("op category",), ("total_direct_kernel_time_ms", "Count"), "Count"
    ),
    "ops_summary": Spec(("name",), ("total_direct_kernel_time_ms", "Count"), "Count"),
    "kernel_summary": Spec(
        ("Kernel name",),
        ("Kernel duration (µs)_sum", "Kernel duration (µs)_count"),
        "Kernel duration (µs)_count",
        "Kernel duration (µs)_mean",
        "Kernel duration (µs)_std",
    ),
    "ops_unique_args": Spec(
        _OPS,
        ("total_direct_kernel_time_sum", "operation_count"),
        "operation_count",
        "total_direct_kernel_time_mean",
        "total_direct_kernel_time_std",
        split=True,
    ),
    "unified_perf_summary": Spec(
        _OPS,
        ("Kernel Time (µs)_sum", "operation_count"),
        "operation_count",
        "Kernel Time (µs)_mean",
        "Kernel Time (µs)_std",
        split=True,
    ),
    "coll_analysis": Spec(
        ("Collective name", "dtype", "In msg nelems", "Group size"),
        ("dur_sum", "operation_count"),
        "operation_count",
        "dur_mean",
        "dur_std",
    ),
}
FAMILY: Final = Spec(
    ("name",),
    ("Kernel Time (µs)_sum", "name_count"),
    "name_count",
    "Kernel Time (µs)_mean",
    "Kernel Time (µs)_std",
    ("TFLOPS/s_mean", "TB/s_mean"),
    split=True,
    keys_by_prefix="param: ",
)
"""Of the sheets of families of operators: those with parameters of a model."""


def spec_of(name: str, tables: Sequence[Table]) -> Spec | None:
    """How to compare a sheet; None for those that are not compared."""
    if name in SPECS:
        return SPECS[name]
    prefix = FAMILY.keys_by_prefix or ""
    is_family = any(column.startswith(prefix) for table in tables for column in table)
    return FAMILY if is_family else None


@dataclass(frozen=True, slots=True)
class Row:
    """Rows of one report with equal keys, as one."""

    values: dict[str, Any]
    rows: int


@dataclass(frozen=True, slots=True)
class Diff:
    """One row of each report, by key; None where a report lacks it. The largest change first."""

    keys: tuple[str, ...]
    compared: tuple[str, ...]
    spec: Spec
    rows: list[tuple[Key, tuple[Row | None, ...]]]

    def change(self, row: tuple[Row | None, ...], variant: int, column: str) -> float | None:
        """Of the variant against the first report; None where one of them does not tell."""
        base, other = row[0], row[variant]
        if base is None or other is None:
            return None
        before, after = base.values.get(column), other.values.get(column)
        return None if before is None or after is None else after - before

    def significant(self, row: tuple[Row | None, ...], variant: int) -> bool | None:
        """|Δmean| > 2·√(s₁²/n₁ + s₂²/n₂); None where a standard deviation is not known."""
        spec, base, other = self.spec, row[0], row[variant]
        if spec.mean is None or spec.std is None or spec.count is None:
            return None
        delta = self.change(row, variant, spec.mean)
        if delta is None or base is None or other is None:
            return None
        spread = 0.0
        for one in (base, other):
            std, count = one.values.get(spec.std), one.values.get(spec.count)
            if std is None or not count:
                return None
            spread += std**2 / count
        return bool(abs(delta) > 2 * sqrt(spread))


def diff(
    spec: Spec,
    tables: Sequence[Table],
    *,
    without: Sequence[str] = (),
    least: float = 0.0,
    per: Sequence[float] = (),
) -> Diff:
    """Compare reports with the first one. `without`: key columns that do not tell rows apart;
    `least`: leave out rows whose first sum is below it in every report; `per`: divide the sums
    of each report by this, its number of steps."""
    keys = tuple(key for key in spec.keys if key not in without)
    if spec.keys_by_prefix is not None:
        prefix = spec.keys_by_prefix
        common = [c for c in tables[0] if c.startswith(prefix) and all(c in t for t in tables)]
        keys += tuple(c for c in common if not (c.startswith(f"{prefix}stride") and without))
    compared = (*spec.sums, *((spec.mean,) if spec.mean else ()), *spec.means)
    compared = tuple(c for c in compared if any(c in table for table in tables))
    found = [aggregated(spec, table, keys) for table in tables]
    for rows, number in zip(found, per, strict=False):
        for row in rows.values():
            for column in spec.sums:
                if row.values.get(column) is not None:
                    row.values[column] = row.values[column] / number
    order = dict.fromkeys(key for rows in found for key in rows)
    paired = [(key, tuple(rows.get(key) for rows in found)) for key in order]
    first = spec.sums[0]

    def size(row: Row | None) -> float:
        return 0.0 if row is None else row.values.get(first) or 0.0

    paired = [(k, rows) for k, rows in paired if max(map(size, rows)) >= least]
    if spec is not SPECS["gpu_timeline"]:  # its rows have an order of their own
        paired.sort(key=lambda pair: -max(abs(size(r) - size(pair[1][0])) for r in pair[1]))
    return Diff(keys, compared, spec, paired)


def aggregated(spec: Spec, table: Table, keys: Sequence[str]) -> dict[Key, Row]:
    """Rows with equal keys as one: sums add up, means are of the sums, extremes are those of all,
    texts stay where they agree. Shares are of the sheet's sum."""
    length = len(next(iter(table.values()), ()))
    groups: dict[Key, list[int]] = {}
    columns = [table.get(key, [None] * length) for key in keys]
    for row in range(length):
        groups.setdefault(tuple(_cell(column[row]) for column in columns), []).append(row)
    whole = sum(value or 0.0 for value in table.get(spec.sums[0], ()))
    found: dict[Key, Row] = {}
    for key, rows in groups.items():
        values = {
            name: _combine(spec, name)(table, name, rows, spec)
            for name in table
            if name not in keys and not name.startswith("Cumulative ")
        }
        if spec.mean in values and len(rows) > 1:
            total, count = values.get(spec.sums[0]), values.get(spec.count or "")
            values[spec.mean] = total / count if total is not None and count else None
        if spec.std in values and len(rows) > 1:
            values[spec.std] = _pooled(spec, table, rows)
        if "Percentage (%)" in values:
            part = values.get(spec.sums[0])
            values["Percentage (%)"] = 100 * part / whole if part is not None and whole else None
        found[key] = Row(values, len(rows))
    return found


def _cell(value: Any) -> Any:
    """The same number from a trace and from a file is one key."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Combine = Callable[[Table, str, list[int], Spec], Any]


def _combine(spec: Spec, name: str) -> Combine:
    if name in spec.sums or name.endswith(("_sum", "_count", "time_ms")):
        return _sum
    if name.startswith("Percent of "):
        return _sum
    if name in spec.means or name.endswith("_mean"):
        return _mean
    if name.endswith("_min"):
        return _least
    return _most if name.endswith("_max") else _same


def _values(table: Table, name: str, rows: list[int]) -> list[Any]:
    return [table[name][row] for row in rows if table[name][row] is not None]


def _sum(table: Table, name: str, rows: list[int], _: Spec) -> Any:
    values = _values(table, name, rows)
    return sum(values) if values else None


def _mean(table: Table, name: str, rows: list[int], spec: Spec) -> Any:
    """Weighted by the number of instances, of the rows that tell a value."""
    weights = table.get(spec.count or "")
    if weights is None:
        return _same(table, name, rows, spec)
    known = [(table[name][r], weights[r] or 0) for r in rows if table[name][r] is not None]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None


def _least(table: Table, name: str, rows: list[int], _: Spec) -> Any:
    return min(_values(table, name, rows), default=None)


def _most(table: Table, name: str, rows: list[int], _: Spec) -> Any:
    return max(_values(table, name, rows), default=None)


def _same(table: Table, name: str, rows: list[int], _: Spec) -> Any:
    values = {repr(value): value for value in (table[name][row] for row in rows)}
    return next(iter(values.values())) if len(values) == 1 else None


def _pooled(spec: Spec, table: Table, rows: list[int]) -> float | None:
    """Standard deviation of all instances of the rows, from those of each."""
    if spec.count is None or spec.mean is None or spec.std is None:
        return None
    number, total, squares = 0, 0.0, 0.0
    for row in rows:
        count, mean, std = (table[name][row] for name in (spec.count, spec.mean, spec.std))
        if not count or mean is None or (std is None and count > 1):
            return None
        number += count
        total += count * mean
        squares += (count - 1) * (std or 0.0) ** 2 + count * mean**2
    if number < 2:
        return None
    return sqrt(max(0.0, squares - total**2 / number) / (number - 1))
