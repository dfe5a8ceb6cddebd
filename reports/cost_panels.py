"""What steps cost: by phase and part of the run, and by operation, call and kernel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..analyzers.step_selection import MeanTimes, mean_times
from ..analyzers.steps import Label, Phase
from ..ingest.api_names import LAUNCHES, base_name
from ..ingest.model import Layer
from ..queries.kernels import KIND_OF_LAYER
from . import format as fmt
from .panel import LISTED, Panel, PanelLine, node_lead, time_cell, unknown_line, us_cell
from .step_texts import LABELS, PHASES
from .step_use import use_rows
from .steps import short_place
from .verdict_card import Lead

if TYPE_CHECKING:
    from ..analyzers.step_profile import StepProfile
    from ..analyzers.step_report import StepReport
    from ..analyzers.step_table import Series, StepTable

PHASE_HEADING = (
    f"{'steps':>7} {'step':>9} {'gap':>9} {'GPU idle':>9} {'launch':>8} {'beyond':>7} "
    f"{'verdict':>8}  phase"
)


def phase_panel(report: StepReport) -> Panel | None:
    """Phases as judged, then the parts of the run, of all its steps."""
    steps, overall = report.steps, report.judged.result.overall
    if not len(steps):
        return None
    lines: list[PanelLine] = []
    lead, names = Lead("paths"), _step_names(report.judged.profile)
    counted = report.rows
    for phase in Phase:
        own = counted[steps.phase[counted] == phase]
        if not len(own):
            continue
        title = PHASES[phase]
        judged, part = overall.phases.get(title), report.judged.result.phases.get(title)
        verdict = ("",) * 4
        label = title
        if judged is not None and part is not None:
            metrics = part.measured.metrics
            verdict = (
                fmt.share(metrics.gpu_idle_ratio),
                fmt.share(metrics.launch_overhead_ratio),
                f"{judged.crossed_count}/{judged.applicable_count}",
                judged.answer.value,
            )
            if phase is Phase.GENERATION:
                label += ", with CUDA graphs" if part.graphs else ", without CUDA graphs"
        if title in overall.elevated_by:
            label += ": makes the whole YES"
        figures = _phase_figures(mean_times(steps, own), verdict)
        lines.append(PanelLine(label, figures, lead, names))
    for part_of_run in Label:
        rows = counted[steps.label[counted] == part_of_run]
        if len(rows):
            figures = _phase_figures(mean_times(steps, rows), ("",) * 4)
            lines.append(PanelLine(LABELS[part_of_run], figures, lead, names, dim=True))
    return Panel("phases", "Phases and parts of the run, mean times", PHASE_HEADING, tuple(lines))


def _phase_figures(times: MeanTimes, verdict: tuple[str, ...]) -> str:
    idle, launch, crossed, answer = verdict
    return (
        f"{fmt.count(times.iterations):>7} "
        f"{time_cell(times.duration_ns)} {time_cell(times.gap_ns)} "
        f"{idle:>9} {launch:>8} {crossed:>7} {answer:>8}  "
    )


def _step_names(profile: StepProfile) -> tuple[str, ...]:
    """The name of the contexts that the step ranges are, where they are any."""
    table = profile.host
    if table is None or not table.is_step.any():
        return ()
    return (table.names[int(np.flatnonzero(table.is_step)[0])],)


COST_HEADING = f"{'per rank':>11} {'all ranks':>11}"


def cost_panel(profile: StepProfile) -> Panel | None:
    if profile.use is not None:
        used = [PanelLine(name, f"{figure:>23}  ") for name, figure in use_rows(profile.use)]
        return Panel("costs", "A steady step, mean", f"{'mean':>23}", tuple(used))
    if profile.gpu is None and profile.host is None:
        return None
    work, calls = _heaviest_work(profile.gpu), _heaviest_call(profile.host, LAUNCHES)
    lines = [
        PanelLine(name, f"{figures}  ", lead=lead)
        for name, figures, lead in (
            ("kernels launched one by one", _series(profile.launched_kernels, count=True), work),
            ("kernel time of these", _series(profile.launched_ns), work),
            (
                "kernels executed, those of graphs too",
                _series(profile.executed_kernels, count=True),
                work,
            ),
            ("kernel time, those of graphs too", _series(profile.gpu_ns), work),
            ("time in launch calls", _series(profile.launch_ns), calls),
        )
    ]
    return Panel("costs", "A steady step, mean", COST_HEADING, tuple(lines))


def _heaviest_work(table: StepTable | None) -> Lead:
    """The GPU work that takes most time a step."""
    if table is None or not len(table):
        return Lead("kernels")
    return _work_lead(table, int(np.argmax(table.total.mean)))


def _work_lead(table: StepTable, row: int) -> Lead:
    kind = KIND_OF_LAYER.get(Layer(int(table.layer[row])))
    return Lead("kernels", op=None if kind is None else (int(kind), table.names[row]))


def _heaviest_call(table: StepTable | None, names: Collection[str]) -> Lead:
    """The context of API calls of these names that takes most time a step."""
    places: list[int] = [] if table is None else np.flatnonzero(table.node >= 0).tolist()
    if table is not None:
        places = [row for row in places if base_name(table.names[row]) in names]
    if table is None or not places:
        return Lead("paths")
    total = table.total.mean
    return Lead("paths", int(table.node[max(places, key=lambda row: float(total[row]))]))


TABLE_HEADING = f"{'total µs':>10} {'self µs':>10} {'calls':>8}  {'where':<7} name"
WORK_HEADING = f"{'total µs':>10} {'count':>8}  name"


def table_panels(profile: StepProfile) -> Iterable[Panel]:
    host, gpu = profile.host, profile.gpu
    if host is None:
        if profile.steps.count:
            line = unknown_line(f"n/a: {profile.host_missing}")
            yield Panel("operations", "Operations a step", "", (line,))
    else:
        api = host.layer == Layer.API
        yield Panel(
            "operations",
            "Operations a step (ranges, operators, Python)",
            TABLE_HEADING,
            tuple(_operations(host, np.flatnonzero(~api & ~host.is_step).tolist())),
        )
        yield Panel(
            "calls",
            "CUDA calls a step",
            TABLE_HEADING,
            tuple(_operations(host, np.flatnonzero(api).tolist())),
        )
    if gpu is None:
        if profile.steps.count:
            line = unknown_line(f"n/a: {profile.gpu_missing}")
            yield Panel("work", "GPU work a step", "", (line,))
    else:
        total, calls = gpu.total.mean, gpu.calls_per_step
        order: list[int] = np.argsort(-total, kind="stable").tolist()
        lines = [
            PanelLine(
                gpu.names[row],
                f"{us_cell(float(total[row])):>10} {fmt.number(float(calls[row])):>8}  ",
                lead=_work_lead(gpu, row),
            )
            for row in order[:LISTED]
        ]
        if len(order) > LISTED:
            rest = float(total[order[LISTED:]].sum())
            lines.append(
                PanelLine(
                    f"{len(order) - LISTED:,} more",
                    f"{us_cell(rest):>10} {'':>8}  ",
                    lead=Lead("kernels"),
                    dim=True,
                )
            )
        yield Panel("work", "GPU work a step", WORK_HEADING, tuple(lines))


def _operations(table: StepTable, rows: Sequence[int]) -> list[PanelLine]:
    if not rows:
        return [unknown_line("none")]
    total, own, calls = table.total.mean, table.self_per_step_ns, table.calls_per_step
    order = sorted(rows, key=lambda row: -float(total[row]))
    lines = [
        PanelLine(
            table.names[row],
            f"{us_cell(float(total[row])):>10} {us_cell(float(own[row])):>10} "
            f"{fmt.number(float(calls[row])):>8}  {short_place(table.place(row)):<7} ",
            lead=node_lead(int(table.node[row])),
        )
        for row in order[:LISTED]
    ]
    if len(order) > LISTED:
        rest = sum(float(own[row]) for row in order[LISTED:])
        lines.append(
            PanelLine(
                f"{len(order) - LISTED:,} more",
                f"{'':>10} {us_cell(rest):>10} {'':>8}  {'':<7} ",
                lead=Lead("paths"),
                dim=True,
            )
        )
    return lines


def _series(series: Series | None, *, count: bool = False) -> str:
    if series is None or series.mean is None:
        return f"{fmt.NA:>11} {fmt.NA:>11}"
    mean, ranks = series.mean, len(series.values)
    if count:
        return f"{fmt.number(mean):>11} {fmt.number(mean * ranks):>11}"
    return f"{fmt.duration(mean):>11} {fmt.duration(mean * ranks):>11}"
