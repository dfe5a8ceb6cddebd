"""Several targets against one base, in one table: text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..analyzers.several import SharedRow, shared_rows
from . import format as fmt
from . import markdown as md
from .host_json import host_json
from .json_text import json_text
from .rule_gates import amount
from .side_by_side import told_times
from .text_table import paragraph, table

if TYPE_CHECKING:
    from .host_json import HostReport

_SHOWN = 24
_CHANCE = "~"
_LEGEND = (
    f"{_CHANCE}: no more than the steps vary by chance. Each target is compared with the base by "
    "its own steady steps, or as a whole run (marked so) with the base's whole run; base figures "
    "are those of the first comparison that has them. `dctx "
    "compare BASE TARGET` tells more of one target."
)


def several_text(reports: Sequence[HostReport], width: int) -> str:
    """The conclusion of each target, the figures of all, and the parts that were asked for."""
    lines = paragraph(f"Compare: {reports[0].labels[0]} (base) with", width)
    for number, report in enumerate(reports, 1):
        lines += paragraph(f"  {_mark(number)} {report.labels[1]}: {conclusion(report)}", width,
                           "      ")  # fmt: skip
    lines += ["", *paragraph(f"Figures, {_unit(reports)}", width)]
    headings = _headings(reports)
    lines += table((*headings, "figure"), _figures(reports), width, left=(len(headings),),
                   name=len(headings))  # fmt: skip
    for title, what, rows, more in _parts(reports):
        lines += ["", *paragraph(f"{title}, {what}, {_unit(reports)}", width)]
        if not rows:
            lines += paragraph("  no change", width)
            continue
        cells = [_row(row, lambda text: text) for row in rows]
        lines += table((*headings, "name"), cells, width, left=(len(headings),),
                       name=len(headings))  # fmt: skip
        lines += [f"  … and {more} more (--json has all rows)."] if more else []
    return "\n".join([*lines, "", *paragraph(_LEGEND, width)]) + "\n"


def several_markdown(reports: Sequence[HostReport]) -> str:
    """The same, for a comment on a pull request."""
    lines = [f"### {md.cell(reports[0].labels[0])} (base) with {len(reports)} targets", ""]
    for number, report in enumerate(reports, 1):
        name = md.cell(report.labels[1])
        lines.append(f"- {_mark(number)} {name}: {md.plain(conclusion(report))}")
    headings = _headings(reports)
    left = (len(headings),)
    lines += ["", f"Figures, {_unit(reports)}", ""]
    lines += md.table((*headings, "figure"), _figures(reports), left)
    for title, what, rows, more in _parts(reports):
        lines += ["", f"<details><summary>{title}, {what}, {_unit(reports)}</summary>", ""]
        lines += md.table((*headings, "name"), [_row(row, md.cell) for row in rows], left)
        lines += ["", f"… and {more} more."] if more else []
        lines += ["", "</details>"]
    return "\n".join([*lines, "", md.plain(_LEGEND), ""])


def several_document(reports: Sequence[HostReport]) -> str:
    """A document of each target, as of a comparison with one."""
    return json_text({"targets": [host_json(report) for report in reports]}, indent=2) + "\n"


def conclusion(report: HostReport) -> str:
    """What became of the target, in one sentence."""
    result = report.compared
    if result is None or result.conclusion is None:
        why = "" if result is None else f" ({result.not_comparable})"
        return f"No steps to compare{why}: the whole runs are compared."
    return result.conclusion.sentences[0]


def _mark(number: int) -> str:
    return f"[{number}]"


def _by_step(report: HostReport) -> bool:
    return report.compared is not None and report.compared.comparison is not None


def _unit(reports: Sequence[HostReport]) -> str:
    steps = [_by_step(report) for report in reports]
    if all(steps):
        return "per step"
    return "per step where steps can be compared, else in the whole run" if any(steps) else (
        "in the whole run"
    )  # fmt: skip


def _headings(reports: Sequence[HostReport]) -> tuple[str, ...]:
    """Of a whole run beside figures per step that is told: base figures are not of its kind."""
    mixed = len({_by_step(report) for report in reports}) > 1
    targets = [
        (_mark(number) + " run" * (mixed and not _by_step(report)), "%")
        for number, report in enumerate(reports, 1)
    ]
    return ("base", *(cell for pair in targets for cell in pair))


def _figures(reports: Sequence[HostReport]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name in reports[0].figures:
        found = [report.figures[name] for report in reports]
        known = next((figure for figure in found if figure.base is not None), None)
        cells = [fmt.NA if known is None else amount(known, known.base)]
        for figure in found:
            cells += [
                amount(figure, figure.target),
                _percent(figure.percent, chance=figure.within_noise),
            ]
        rows.append((*cells, name))
    return rows


def _parts(
    reports: Sequence[HostReport],
) -> Iterator[tuple[str, str, list[SharedRow], int]]:
    """Title, what is measured, the rows with most change, and how many are left out."""
    for title in reports[0].parts:
        sides = [report.parts[title].sides for report in reports]
        for metric, what in told_times(sides[0]) or told_times(sides[-1]):
            rows = [row for row in shared_rows(sides, metric) if row.largest]
            if rows or all(metric not in part.missing for part in sides):
                yield title, what, rows[:_SHOWN], max(0, len(rows) - _SHOWN)


def _row(row: SharedRow, name: Callable[[str], str]) -> tuple[str, ...]:
    cells = ["-" if row.base is None else fmt.number(row.base / 1000)]
    for cell in row.cells:
        if cell is None:
            cells += [fmt.NA, ""]
        elif cell.value is None:
            cells += ["-", "gone" if cell.delta else ""]
        else:
            before = cell.value - cell.delta
            percent = 100 * cell.delta / before if before else None
            changed = "new" if row.base is None else _percent(percent, chance=cell.within_noise)
            cells += [fmt.number(cell.value / 1000), changed]
    return (*cells, name(row.name))


def _percent(percent: float | None, *, chance: bool | None) -> str:
    if not percent:
        return "" if percent is None else "same"
    return fmt.change_percent(percent) + _CHANCE * bool(chance)
