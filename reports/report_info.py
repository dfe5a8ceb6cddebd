"""The sheet that tells what a report is about: keys and values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .format import utc_time
from .sheets import Column, Sheet

if TYPE_CHECKING:
    from ..queries.capture import Capture

Rows = list[tuple[str, str]]

UNITS = (
    "ms, µs and ns as in the headings; sizes under MB are MiB (2^20 bytes); GB/s, TB/s and "
    "TFLOPS/s are 10^9, 10^12 and 10^12; a blank cell is a value that is not known"
)


def info_sheet(
    capture: Capture,
    own: Iterable[tuple[str, str]],
    sheets: Sequence[Sheet],
    missing: dict[str, str],
    *,
    workbook: bool,
) -> Sheet:
    """What was recorded, what this report counts (`own`), what it lacks, and what the workbook of
    these sheets cuts where there is to be one."""
    rows: Rows = [
        ("trace", capture.path),
        ("format", capture.format),
        ("producer", " ".join(filter(None, (capture.producer, capture.producer_version)))),
        ("recorded", utc_time(capture.start_utc_ns)),
    ]
    if capture.start_utc_ns is not None:
        rows.append(("start_utc_ns", str(capture.start_utc_ns)))
    rows += own
    rows.append(("units", UNITS))
    rows += [("missing", f"{name}: {why}") for name, why in missing.items()]
    if workbook:
        from .workbook import workbook_cuts  # looks at every cell

        rows += [("workbook", f"{cut.sheet}: {cut.what}") for cut in workbook_cuts(sheets)]
    rows += [("note", f"{note.severity.name.lower()}: {note.text}") for note in capture.notes]
    return Sheet(
        "report_info",
        [Column("key", [key for key, _ in rows]), Column("value", [value for _, value in rows])],
    )
