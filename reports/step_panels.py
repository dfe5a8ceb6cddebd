"""The panels of the Steps view: lines of figures and names, each with the place it leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..analyzers.step_selection import Selection, StepSeries, step_series, windows_of
from ..ingest.model import GpuKind
from ..queries.kernels import op_stats
from ..queries.paths import heaviest_nodes
from ..queries.scope import TimeScope
from .cost_panels import cost_panel, phase_panel, table_panels
from .idle_panels import gap_panel, idle_panel, largest_panel
from .panel import Panel, PanelLine
from .step_texts import about, selection_text, step_text
from .verdict_card import Lead

if TYPE_CHECKING:
    from ..analyzers.step_report import StepReport
    from ..analyzers.steps import Steps
    from ..queries.trace import Trace

__all__ = ["Panel", "PanelLine", "StepPanels", "scope_of", "step_panels", "step_text"]


@dataclass(frozen=True, slots=True, eq=False)
class StepPanels:
    """What the Steps view shows of a window, or of some steps."""

    report: StepReport
    about: str
    """How the steps were found, or why none; which window is looked at."""
    ranks: tuple[str, ...]
    series: StepSeries
    """The mean of these ranks."""
    panels: tuple[Panel, ...]
    everyone: Steps
    """Of all ranks: steps are chosen by the numbers that they share."""


def step_panels(
    trace: Trace,
    report: StepReport,
    everyone: Steps | None = None,
    nodes: tuple[int, int] | None = None,
) -> StepPanels:
    """The panels of a report; the strip shows the mean of its ranks. `everyone`: the steps of all
    processes, where the report is of one; `nodes`: the subtree of that one. Reads summary
    tables."""
    steps, result = report.steps, report.judged.result
    thread = _launching_thread(report)
    panels = (
        phase_panel(report),
        idle_panel(report.judged.blame, report.divisor, thread, _heaviest_copy(trace)),
        gap_panel(report.gaps, thread),
        largest_panel(report.gaps, result),
        cost_panel(report.judged.profile),
        *table_panels(report.judged.profile),
    )
    shown = tuple(panel for panel in panels if panel is not None)
    return StepPanels(
        report=report,
        about=about(report),
        ranks=tuple(r.label for r in steps.ranks),
        series=step_series(steps),
        panels=_with_nodes(trace, shown, nodes),
        everyone=steps if everyone is None else everyone,
    )


def _launching_thread(report: StepReport) -> str | None:
    """Name of the thread that launches to the first of the GPUs."""
    blame = report.judged.blame
    lanes = [] if blame is None else [own[0] for own in blame.launching.values() if own]
    return report.judged.result.data.lanes[lanes[0]].name if lanes else None


def _heaviest_copy(trace: Trace) -> str | None:
    copies = op_stats(trace, kinds=(GpuKind.MEMCPY,))
    return copies[0].name if copies else None


def scope_of(steps: Steps, selection: Selection) -> TimeScope:
    """What Call paths and Kernels are limited to."""
    label = selection_text(steps, selection)
    return TimeScope(label, windows_of(steps, selection))


def _with_nodes(
    trace: Trace, panels: Sequence[Panel], subtree: tuple[int, int] | None
) -> tuple[Panel, ...]:
    """Lines with a name lead to the heaviest context of it."""
    wanted = {name for panel in panels for line in panel.lines for name in line.names}
    nodes = heaviest_nodes(trace, wanted, subtree)

    def placed(line: PanelLine) -> PanelLine:
        node = next((nodes[name] for name in line.names if name in nodes), None)
        return line if node is None else replace(line, lead=Lead("paths", node))

    return tuple(replace(panel, lines=tuple(map(placed, panel.lines))) for panel in panels)
