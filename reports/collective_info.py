"""What a report of collectives is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..analyzers.collective_match import MATCHES
from ..queries.capture import capture
from .report_info import info_sheet

if TYPE_CHECKING:
    from ..analyzers.collective_report import CollectiveReport
    from ..queries.trace import Trace
    from .sheets import Sheet


def collective_info(
    trace: Trace,
    report: CollectiveReport,
    sheets: Sequence[Sheet],
    missing: dict[str, str],
    *,
    workbook: bool,
) -> Sheet:
    """Ranks, hosts, clocks, how collectives were matched, and what to know before trusting it."""
    of = report.timed
    members = of.found.members
    basis = of.matched.basis.tolist()
    counts = [f"{basis.count(i)} by {word}" for i, word in enumerate(MATCHES) if i in basis]
    per_node = of.settings.gpus_per_node
    part = [] if report.scope is None else [("part", f"{report.scope.label}: launched in it")]
    rows = [
        *part,
        ("ranks", ", ".join("?" if m.rank is None else str(m.rank) for m in members)),
        ("collectives", str(len(of.first))),
        ("communication kernels", str(len(of.found))),
        ("matched", ", ".join(counts)),
        ("gpus_per_node", "not known" if per_node is None else str(per_node)),
        (
            "clocks",
            "as recorded" if not of.settings.align else "corrected by the ends of collectives",
        ),
        ("ts", "µs from the start of the trace, on each rank's own clock"),
        *(("note", note) for note in report.notes),
    ]
    return info_sheet(capture(trace), rows, sheets, missing, workbook=workbook)
