"""A comparison as a page: the conclusions, the figures, and every part as sortable tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..analyzers.change_rows import telling
from ..analyzers.gate_rules import Unit
from ..analyzers.side_by_side import Match
from ..ingest.model import Layer
from .compare import cause_sentences
from .html import Document, Paragraph, Section
from .html_charts import Bars
from .rule_gates import rule_sentence
from .several import conclusion
from .sheets import Column, Sheet
from .side_by_side import told_times

if TYPE_CHECKING:
    from ..analyzers.compare_parts import Part
    from ..analyzers.side_by_side import SideBySide
    from ..queries.metric import Metric
    from .host_json import HostReport

_MOST_ROWS = 500
_ALL_ROWS = "--json with --paths, --kernels or --ops has all of them"
_MOST_BARS = 20
_UNITS = {Unit.TIME: "µs", Unit.BYTES: "bytes", Unit.NUMBER: ""}


def compare_page(reports: Sequence[HostReport]) -> Document:
    """One page for all targets."""
    sections = [Section("Conclusion", _conclusions(reports)), Section("Figures", _figures(reports))]
    for report in reports:
        name = f"{report.labels[1]}: " if len(reports) > 1 else ""
        for title, part in report.parts.items():
            sections += _section(f"{name}{title}", part)
    return Document(
        title=f"{reports[0].labels[0]} against {', '.join(r.labels[1] for r in reports)}",
        subtitle=", ".join(dict.fromkeys(path for report in reports for path in report.inputs)),
        sections=sections,
    )


def _conclusions(reports: Sequence[HostReport]) -> list[Paragraph]:
    found: list[Paragraph] = []
    for report in reports:
        name = f"{report.labels[1]}: " if len(reports) > 1 else ""
        found.append(Paragraph(f"{name}{conclusion(report)}", warning=True))
        result = report.compared
        if result is not None and result.conclusion is not None:
            found += [Paragraph(sentence) for sentence in result.conclusion.sentences[1:]]
            if result.comparison is not None:
                told = cause_sentences(result.comparison, result.conclusion)
                found += [Paragraph(sentence) for sentence in told]
        if result is not None:
            found += [Paragraph(f"! {caution}") for caution in result.cautions]
        found += [Paragraph(finding.sentence) for finding in report.findings]
        for gate in report.rules:
            state = "failed" if gate.failed else "not checked" if gate.unknown else "holds"
            found.append(Paragraph(f"gate {state}: {rule_sentence(gate)}", warning=gate.failed))
    return found


def _figures(reports: Sequence[HostReport]) -> list[Sheet]:
    sheets: list[Sheet] = []
    for report in reports:
        found = list(report.figures.values())
        scale = [1000 if figure.kind.unit is Unit.TIME else 1 for figure in found]

        def scaled(values: list[float | None], by: list[int] = scale) -> list[float | None]:
            return [None if v is None else v / s for v, s in zip(values, by, strict=True)]

        sheets.append(
            Sheet(
                report.labels[1],
                [
                    Column("target", [report.labels[1]] * len(found)),
                    Column("figure", [figure.kind.name for figure in found]),
                    Column("meaning", [figure.kind.title for figure in found]),
                    Column("unit", [_UNITS[figure.kind.unit] for figure in found]),
                    Column("base value", scaled([figure.base for figure in found])),
                    Column("target value", scaled([figure.target for figure in found])),
                    Column("change", scaled([figure.delta for figure in found])),
                    Column("change %", [figure.percent for figure in found], "%"),
                    Column("note", [figure.missing or ("within noise" if figure.within_noise
                                                       else "") for figure in found]),
                ],
            )
        )  # fmt: skip
    return list(sheets)


def _section(title: str, part: Part) -> list[Section]:
    sides = part.sides
    found: list[Section] = []
    for metric, what in told_times(sides):
        if metric in sides.missing:
            continue
        told = telling(sides, metric, sides.beyond_floor(metric))
        rows = told[:_MOST_ROWS]
        if not rows:
            continue
        delta = sides.metrics[metric].delta
        bars = rows[:_MOST_BARS]
        chart = Bars(
            f"Change, µs {_per(sides)}",
            [sides.names[row] for row in bars],
            [float(delta[row]) / 1000 for row in bars],
            "µs",
            signed=True,
        )
        parts: list[Bars | Sheet | Paragraph] = [chart, _sheet(part, metric, rows)]
        if more := len(told) - len(rows):
            parts.append(Paragraph(f"{more:,} more rows are not shown here: {_ALL_ROWS}."))
        found.append(Section(f"{title}, {what}", parts))
    if not found:
        why = sides.lacking or f"no change beyond {sides.floor_ns / 1000:g} µs"
        found.append(Section(title, [Paragraph(f"{why}.")], open=False))
    return found


def _sheet(part: Part, metric: Metric, rows: list[int]) -> Sheet:
    sides = part.sides
    change = sides.metrics[metric]
    at = np.array(rows, np.int64)
    half = np.where(np.isfinite(change.interval), change.interval, np.nan)[at] / 1000
    return Sheet(
        metric.value,
        [
            Column("name", [_name(sides, row) for row in rows]),
            Column("layer", [Layer(int(sides.layer[row])).name.lower() for row in rows]),
            Column("base", (change.base[at] / 1000).tolist(), "µs"),
            Column("target", (change.target[at] / 1000).tolist(), "µs"),
            Column("change", (change.delta[at] / 1000).tolist(), "µs"),
            Column("change %", [change.percent(row) for row in rows], "%"),
            Column("± 95 %", [None if np.isnan(v) else float(v) for v in half], "µs"),
            Column("note", [_note(part, row, metric) for row in rows]),
        ],
    )


def _name(sides: SideBySide, row: int) -> str:
    """With the names above it, where the part is a tree."""
    names: list[str] = []
    while row >= 0:
        names.append(sides.names[row])
        row = int(sides.parent[row])
    return " / ".join(name for name in reversed(names) if name)


def _note(part: Part, row: int, metric: Metric) -> str:
    sides = part.sides
    match = sides.match[row]
    notes = [str(change) for change in part.changes.get(row, ())]
    if match in (Match.BASE_ONLY, Match.TARGET_ONLY):
        notes.insert(0, "gone" if match is Match.BASE_ONLY else "new")
    elif match is Match.MOVED:
        notes.insert(0, "moved")
    elif match is Match.REPLACED:
        notes.insert(0, f"other kernel, was {sides.base_names[row]}")
    elif match is Match.RENAMED:
        notes.insert(0, f"was {sides.base_names[row]}")
    if sides.no_intervals is None and sides.metrics[metric].within_noise[row]:
        notes.append("within noise")
    return ", ".join(notes)


def _per(sides: SideBySide) -> str:
    return "per step" if sides.per_step else "in the whole run"
