"""The sheets that compare reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ..analyzers.report_diff import Diff, Row, diff, spec_of
from .sheets import Column, Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHORT: Final = {"UnaryElementwise": "un_eltwise", "BinaryElementwise": "bin_eltwise"}
"""Names of worksheets are short."""
_UNITS: Final = (("ms", "ms"), ("µs", "µs"), ("(%)", "%"), ("dur_", "µs"))


def diff_sheets(
    tags: Sequence[str],
    reports: Sequence[Mapping[str, Sheet]],
    *,
    without: Sequence[str] = (),
    least_us: float = 0.0,
    per: Sequence[float] = (),
) -> tuple[list[Sheet], dict[str, str]]:
    """Sheets of all that can be compared, and why others are not. `tags` name the reports."""
    made: list[Sheet] = []
    missing: dict[str, str] = {}
    for name in dict.fromkeys(name for report in reports for name in report):
        tables = [_table(report.get(name)) for report in reports]
        spec = spec_of(name, tables)
        if spec is None:
            continue
        lacking = [tag for tag, report in zip(tags, reports, strict=True) if name not in report]
        if tags[0] in lacking or len(lacking) == len(tags) - 1:
            missing[name] = f"not in {', '.join(lacking)}: nothing to compare."
            continue
        least = least_us / 1000 if spec.sums[0].endswith("ms") else least_us
        found = diff(spec, tables, without=without, least=least, per=per)
        short = _SHORT.get(name, name)
        if not spec.split:
            made.append(Sheet(short, _columns(found, tags, found.rows)))
            continue
        for variant, tag in enumerate(tags[1:], 1):
            made += _parts(found, tags, variant, tag, short)
    return made, missing


def _table(sheet: Sheet | None) -> dict[str, Sequence[Any]]:
    return {} if sheet is None else {column.name: column.values for column in sheet.columns}


def _parts(found: Diff, tags: Sequence[str], variant: int, tag: str, name: str) -> list[Sheet]:
    """Rows in both, in the first only and in the variant only; empty ones are left out."""
    pair = (tags[0], tag)
    rows = [(key, (row[0], row[variant])) for key, row in found.rows]
    both = [r for r in rows if r[1][0] is not None and r[1][1] is not None]
    parts = (
        (f"{name}_intersect_{tag}", both, pair),
        (f"{name}_only_baseline_{tag}", [r for r in rows if r[1][1] is None and r[1][0]], pair),
        (f"{name}_only_variant_{tag}", [r for r in rows if r[1][0] is None and r[1][1]], pair),
    )
    sheets: list[Sheet] = []
    for of, part, named in parts:
        if part:
            columns = _columns(found, named, part, changes=part is both)
            sheets.append(Sheet(of, columns))
    return sheets


def _columns(
    found: Diff,
    tags: Sequence[str],
    rows: Sequence[tuple[tuple[Any, ...], tuple[Row | None, ...]]],
    *,
    changes: bool = True,
) -> list[Column]:
    columns = [Column(key, [of[i] for of, _ in rows], "") for i, key in enumerate(found.keys)]
    for variant, tag in enumerate(tags[1:] if changes else (), 1):
        for name in found.compared:
            deltas = [found.change(row, variant, name) for _, row in rows]
            base = [None if row[0] is None else row[0].values.get(name) for _, row in rows]
            columns.append(Column(f"{name}__{tag}_diff", deltas, _unit(name)))
            columns.append(
                Column(
                    f"{name}__{tag}_pct",
                    [
                        100 * delta / before if delta is not None and before else None
                        for delta, before in zip(deltas, base, strict=True)
                    ],
                    "%",
                )
            )
        told = [found.significant(row, variant) for _, row in rows]
        if any(one is not None for one in told):
            words = [None if one is None else "yes" if one else "no" for one in told]
            columns.append(Column(f"signif__{tag}", words, ours=True))
    names = dict.fromkeys(n for _, row in rows for one in row if one for n in one.values)
    for index, tag in enumerate(tags):
        for name in names:
            values = [
                None if (one := row[index]) is None else one.values.get(name) for _, row in rows
            ]
            if any(value is not None for value in values):
                columns.append(Column(f"{tag}::{name}", values, _unit(name)))
    return columns


def _unit(name: str) -> str:
    if name.endswith(("count", "Count")):
        return ""
    return next((unit for mark, unit in _UNITS if mark in name), "")


def diff_info(
    tags: Sequence[str],
    paths: Sequence[str],
    reports: Sequence[Mapping[str, Sheet]],
    per: Sequence[float] = (),
) -> Sheet:
    """What is compared, and what the reader should know: other scopes are other figures."""
    rows = list(zip(tags, paths, strict=True))
    rows.append(("baseline", tags[0]))
    rows += [(f"steps of {tag}", f"{number:g}") for tag, number in zip(tags, per, strict=False)]
    for key in ("scope", "short_us", "micro_idle_us"):
        told = [_told(report, key) for report in reports]
        if len(set(told)) > 1:
            listed = "; ".join(f"{tag}: {value}" for tag, value in zip(tags, told, strict=True))
            rows.append(("warning", f"the reports count differently ({key}): {listed}"))
    rows.append(
        ("signif", "yes: the means differ by over twice the standard error of their difference")
    )
    return Sheet(
        "report_info", [Column("key", [k for k, _ in rows]), Column("value", [v for _, v in rows])]
    )


def _told(report: Mapping[str, Sheet], key: str) -> str:
    sheet = report.get("report_info")
    if sheet is None:
        return "not told"
    columns = _table(sheet)
    pairs = zip(columns.get("key", ()), columns.get("value", ()), strict=False)
    return next((str(value) for name, value in pairs if name == key), "not set")
