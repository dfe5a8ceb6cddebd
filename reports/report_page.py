"""Sheets as a page: charts of the main ones, and all tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .html import Document, Paragraph, Section
from .html_charts import Bars
from .sheets import Sheet

_MOST_BARS: Final = 15
_OPEN_ROWS: Final = 200
"""Longer tables are folded up at first."""

_CHARTS: Final = {
    "gpu_timeline": ("type", "time ms", "ms", "GPU time by class"),
    "ops_summary_by_category": (
        "op category",
        "total_direct_kernel_time_ms",
        "ms",
        "GPU time by category of operators",
    ),
    "ops_summary": ("name", "total_direct_kernel_time_ms", "ms", "GPU time by operator"),
    "kernel_summary": ("Kernel name", "Kernel duration (µs)_sum", "µs", "GPU time by kernel"),
    "annotation_summary": ("range", "gpu_time_ms", "ms", "GPU time by annotation"),
    "straggler_summary": (
        "rank",
        "total_wait_time_us",
        "µs",
        "Wait by rank: the others wait for the one that waits least",
    ),
    "nccl_summary_implicit_sync": (
        "Collective name",
        "Total comm latency (ms)",
        "ms",
        "Communication without waits",
    ),
}
"""By sheet: labels, values, their unit, title."""


def report_page(
    title: str, subtitle: str, sheets: Sequence[Sheet], missing: dict[str, str]
) -> Document:
    """A section for each sheet, and one for those that could not be made."""
    sections = [
        Section(sheet.name, [*_charts(sheet), sheet], open=len(sheet) <= _OPEN_ROWS)
        for sheet in sheets
    ]
    reasons: dict[str, list[str]] = {}
    for name, why in missing.items():
        reasons.setdefault(why, []).append(name)
    if reasons:
        told = [Paragraph(f"{', '.join(names)}: {why}") for why, names in reasons.items()]
        sections.append(Section("Not made", told))
    return Document(title, subtitle, sections)


def _charts(sheet: Sheet) -> list[Bars]:
    if sheet.name not in _CHARTS:
        return []
    by, of, unit, title = _CHARTS[sheet.name]
    columns = {column.name: column.values for column in sheet.columns}
    if by not in columns or of not in columns:
        return []
    device = columns.get("device")
    labels = [
        f"{'(unknown)' if text is None else text}"
        + ("" if device is None else f", GPU {device[i]}")
        for i, text in enumerate(columns[by][:_MOST_BARS])
    ]
    more = len(sheet) - _MOST_BARS
    rest = f" (first {_MOST_BARS} of {len(sheet)})" if more > 0 else ""
    return [Bars(title + rest, labels, columns[of][:_MOST_BARS], unit)]
