"""The panels of the Steps view: lines of figures and names, each with the place it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..analyzers.step_selection import (
    MeanTimes,
    Selection,
    StepSeries,
    mean_times,
    rows_of,
    step_series,
    windows_of,
)
from ..analyzers.steps import Label, Phase
from ..analyzers.thread_states import IdleClass
from ..ingest.model import Layer
from ..queries.paths import heaviest_nodes
from ..queries.scope import TimeScope
from . import format as fmt
from .steps import short_place
from .verdict import IDLE_TITLES, UNNAMED
from .verdict_card import Lead
from .verdict_summary import steady_text, window_text

if TYPE_CHECKING:
    from ..analyzers.gaps import Gap, Gaps
    from ..analyzers.host_overhead import HostOverhead
    from ..analyzers.idle_blame import IdleBlame
    from ..analyzers.step_profile import StepProfile
    from ..analyzers.step_report import StepReport
    from ..analyzers.step_table import I64, Series, StepTable
    from ..analyzers.steps import Steps
    from ..queries.trace import Trace

LISTED = 15
LABELS = {
    Label.STEADY: "steady",
    Label.RAMP_UP: "ramp-up",
    Label.WARM_UP: "warm-up",
    Label.DRAIN: "drain",
    Label.SLOW: "slow",
    Label.OTHER: "other",
    Label.PARTIAL: "cut by the edge of the trace",
}
PHASES = {Phase.CONTEXT: "context", Phase.GENERATION: "generation", Phase.STEP: "step"}

NO_STEPS_REMEDY = (
    "Tell dctx how yours are marked: dctx-tui --step-regex 'my step (?P<step>[0-9]+)' TRACE. Any "
    "NVTX or user annotation around an iteration will do. Idle time and gaps are known anyway."
)
WINDOW_HELP = {
    "auto": "w: the steady state alone",
    "steady": "w: from the first kernel to the last",
    "trace": "w: the benchmark phase",
}


@dataclass(frozen=True, slots=True)
class PanelLine:
    """One line, and where it leads."""

    label: str
    figures: str
    lead: Lead | None = None
    name: str | None = None
    """A context of this name is where it leads, if there is one."""
    dim: bool = False
    share: float | None = None
    """Drawn as a bar in front of the label."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A titled table; `heading` names the figures."""

    id: str
    title: str
    heading: str
    lines: tuple[PanelLine, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StepPanels:
    """What the Steps view shows of a window, or of some steps."""

    report: StepReport
    about: str
    """How the steps were found, or why none; which window is looked at."""
    ranks: tuple[str, ...]
    series: StepSeries
    """Of the rank asked for."""
    panels: tuple[Panel, ...]
    scope: TimeScope | None
    """Windows of the selected steps."""


def step_panels(trace: Trace, report: StepReport, rank: int | None) -> StepPanels:
    """The panels of a report; `rank`: whose steps the strip shows, None the mean of all. Reads
    summary tables."""
    steps, result = report.steps, report.judged.result
    panels = (
        _phase_panel(report),
        _idle_panel(report.judged.blame, len(_rows_counted(report))),
        _gap_panel(report.gaps),
        _largest_panel(report.gaps, result),
        _cost_panel(report.judged.profile),
        *_table_panels(report.judged.profile),
    )
    shown = tuple(panel for panel in panels if panel is not None)
    return StepPanels(
        report=report,
        about=about(report),
        ranks=tuple(r.label for r in steps.ranks),
        series=step_series(steps, rank),
        panels=_with_nodes(trace, shown),
        scope=None if report.selection is None else scope_of(steps, report.selection),
    )


def scope_of(steps: Steps, selection: Selection) -> TimeScope:
    """What Call paths and Kernels are limited to."""
    label = selection_text(steps, selection)
    return TimeScope(label, windows_of(steps, selection))


def selection_text(steps: Steps, selection: Selection) -> str:
    """`step 120`, `steps 120 to 140`, by the numbers of the trace where it tells them."""
    numbers = [
        int(found[0]) if len(found) and found[0] >= 0 else iteration
        for iteration in (selection.first, selection.last)
        for found in [steps.number[steps.iteration == iteration]]
    ]
    text = f"step {numbers[0]}" if selection.count == 1 else f"steps {numbers[0]} to {numbers[1]}"
    return text if selection.rank is None else f"{text} of {steps.ranks[selection.rank].label}"


def about(report: StepReport) -> str:
    """How the steps were found, or why none; what is looked at."""
    steps, result = report.steps, report.judged.result
    if not len(steps):
        text = f"No steps: {steps.reason}. {NO_STEPS_REMEDY}"
        window = window_text(result).partition(" (")[0]  # the reason is said already
        return f"{text}\nwindow {window}"
    found = f"{fmt.count(steps.count)} steps by {steps.method.value}"
    if report.selection is not None:
        window = f"only {selection_text(steps, report.selection)}: x shows all steps"
    else:
        kind = "" if result.window is None else result.window.kind
        window = f"window {window_text(result)} ({WINDOW_HELP.get(kind, 'w: another window')})"
    return f"{found}: {steady_text(steps)}\n{window}"


def step_text(series: StepSeries, first: int, last: int) -> str:
    """The steps at places `first` to `last` of a series, in one line."""
    number = int(series.number[first])
    name = f"step {number if number >= 0 else int(series.iteration[first])}"
    times = slice(first, last + 1)
    duration = float(series.duration_ns[times].mean())
    linked = series.has_next[times]
    gap = float(series.gap_ns[times][linked].mean()) if linked.any() else None
    if last > first:
        end = int(series.number[last])
        name += f" to {end if end >= 0 else int(series.iteration[last])}, {last - first + 1} steps"
        what = "mean "
    else:
        what = ""
        phase = PHASES[Phase(int(series.phase[first]))]
        requests = ", ".join(
            f"{int(values[first])} {kind}"
            for kind, values in (("ctx", series.context), ("gen", series.generation))
            if int(values[first]) >= 0
        )
        parts = [f"{phase} ({requests})" if requests else phase]
        parts.append(LABELS[Label(int(series.label[first]))])
        parts.append(f"at {series.start_ns[first] / 1e9:.4f} s")
        name += " · " + " · ".join(parts)
    after = "no next step" if gap is None else f"gap {fmt.duration(gap)} to the next"
    return f"{name} · {what}{fmt.duration(duration)} in the step, {after}"


# --------------------------------------------------------------------- panels --

PHASE_HEADING = (
    f"{'steps':>7} {'step':>9} {'gap':>9} {'GPU idle':>9} {'launch':>8} {'beyond':>7} "
    f"{'verdict':>8}  phase"
)


def _phase_panel(report: StepReport) -> Panel | None:
    """Phases as judged, then the parts of the run, of all its steps."""
    steps, overall = report.steps, report.judged.result.overall
    if not len(steps):
        return None
    lines: list[PanelLine] = []
    lead, name = Lead("paths"), _step_name(report.judged.profile)
    counted = _rows_counted(report)
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
        lines.append(PanelLine(label, figures, lead, name))
    for part_of_run in Label:
        rows = counted[steps.label[counted] == part_of_run]
        if len(rows):
            figures = _phase_figures(mean_times(steps, rows), ("",) * 4)
            lines.append(PanelLine(LABELS[part_of_run], figures, lead, name, dim=True))
    return Panel("phases", "Phases and parts of the run, mean times", PHASE_HEADING, tuple(lines))


def _phase_figures(times: MeanTimes, verdict: tuple[str, ...]) -> str:
    idle, launch, crossed, answer = verdict
    return (
        f"{fmt.count(times.iterations):>7} {_ns(times.duration_ns)} {_ns(times.gap_ns)} "
        f"{idle:>9} {launch:>8} {crossed:>7} {answer:>8}  "
    )


def _step_name(profile: StepProfile) -> str | None:
    """Name of the contexts that the step ranges are."""
    table = profile.host
    if table is None or not table.is_step.any():
        return None
    return table.names[int(np.flatnonzero(table.is_step)[0])]


IDLE_HEADING = (
    f"{'of idle':>8} {'time':>9} {'a step':>9}  {'kind':<18} what the launching thread did"
)


def _idle_panel(blame: IdleBlame | None, ranges: int) -> Panel:
    """Causes that sum to all idle time; `ranges`: step ranges that it is divided by, 0 for none."""
    title = "Where the idle time goes (idle: no kernel and no graph runs on a GPU)"
    if blame is None or not blame.devices:
        return Panel("idle", title, "", (_unknown("n/a: no kernel ran on a GPU in the window"),))
    total = sum(blame.idle_ns.values())

    def figures(ns: int, kind: str) -> str:
        return f"{_part(ns, total)} {_ns(ns)} {_ns(ns / ranges if ranges else None)}  {kind:<18} "

    causes = blame.top(LISTED)
    lines = [
        PanelLine(
            text or UNNAMED.get(kind, IDLE_TITLES[kind]),
            figures(ns, IDLE_TITLES[kind]),
            lead=Lead("kernels") if kind is IdleClass.COPY else Lead("paths"),
            name=text or None,
        )
        for kind, text, ns in causes
    ]
    rest = total - sum(ns for _, _, ns in causes)
    if rest:
        lines.append(PanelLine("all other causes", figures(rest, ""), lead=Lead("paths")))
    lines.append(
        PanelLine("all idle time of all GPUs", figures(total, ""), lead=Lead("paths"), dim=True)
    )
    return Panel("idle", title, IDLE_HEADING, tuple(lines))


def _rows_counted(report: StepReport) -> I64:
    """The steps that are looked at: the selected ones, else those that begin in the window."""
    window, steps = report.judged.result.window, report.steps
    if report.selection is not None:
        return rows_of(steps, report.selection)
    if window is None:
        return np.arange(len(steps))
    return np.flatnonzero((steps.start_ns >= window.start_ns) & (steps.start_ns < window.end_ns))


GAP_HEADING = f"{'length':>14} {'count':>8} {'time':>9} {'of idle':>8}  typical cause (a hint)"


def _gap_panel(gaps: Gaps | None) -> Panel | None:
    if gaps is None or not gaps.devices:
        return None
    idle = sum(gaps.idle_ns.values())
    lines: list[PanelLine] = []
    inside = 0
    for place, bucket in enumerate(gaps.devices[0].buckets if gaps.devices else ()):
        parts = [table.buckets[place] for table in gaps.devices]
        count, total = sum(p.count for p in parts), sum(p.total_ns for p in parts)
        inside += total
        share = total / idle if idle else 0.0
        lines.append(
            PanelLine(
                bucket.typical_cause,
                f"{_bounds(bucket.at_least_ns, bucket.below_ns):>14} {fmt.count(count):>8} "
                f"{_ns(total)} {_part(total, idle)}  ",
                lead=_bucket_lead(gaps, bucket.at_least_ns, bucket.below_ns),
                dim=not count,
                share=share,
            )
        )
    edges = idle - inside
    lines.append(
        PanelLine(
            "before the first and after the last kernel of the window",
            f"{'edges':>14} {'':>8} {_ns(edges)} {_part(edges, idle)}  ",
            lead=Lead("paths"),
            dim=True,
            share=edges / idle if idle else 0.0,
        )
    )
    return Panel("gaps", "Gaps between kernels of a GPU, by length", GAP_HEADING, tuple(lines))


def _bucket_lead(gaps: Gaps, least: int, below: int | None) -> Lead:
    """The call that ended the longest of these gaps, where it is one of those listed."""
    for gap in gaps.largest:
        within = gap.length_ns >= least and (below is None or gap.length_ns < below)
        if within and gap.after is not None and gap.after.launch_node is not None:
            return Lead("paths", gap.after.launch_node)
    return Lead("kernels")


LARGEST_HEADING = (
    f"{'length':>9} {'at':>11}  {'GPU':<6} what the host did most; kernel before > after"
)


def _largest_panel(gaps: Gaps | None, result: HostOverhead) -> Panel | None:
    if gaps is None or not gaps.devices:
        return None
    names = {device.device: device.label for device in result.data.devices}
    return Panel(
        "largest",
        "Longest gaps",
        LARGEST_HEADING,
        tuple(_gap_line(gap, names) for gap in gaps.largest),
    )


def _gap_line(gap: Gap, names: dict[int, str]) -> PanelLine:
    cause = ""
    if gap.causes:
        kind, text, ns = gap.causes[0]
        what = text or UNNAMED.get(kind, IDLE_TITLES[kind])
        cause = f"{what} {fmt.share(ns / gap.length_ns)}"
    before = "start of the window" if gap.before is None else gap.before.name
    after = "end of the window" if gap.after is None else gap.after.name
    node = None if gap.after is None else gap.after.launch_node
    at = f"{gap.start_ns / 1e9:.4f} s"
    return PanelLine(
        f"{cause}; {before} > {after}",
        f"{_ns(gap.length_ns)} {at:>11}  {names.get(gap.device, str(gap.device)):<6} ",
        lead=Lead("paths", node) if node is not None else Lead("kernels"),
    )


COST_HEADING = f"{'per rank':>11} {'all ranks':>11}"


def _cost_panel(profile: StepProfile) -> Panel | None:
    if profile.gpu is None and profile.host is None:
        return None
    lines = [
        PanelLine(name, f"{figures}  ", lead=Lead("kernels"))
        for name, figures in (
            ("kernels launched one by one", _series(profile.launched_kernels, count=True)),
            ("GPU time of these", _series(profile.launched_ns)),
            (
                "kernels executed, those of graphs too",
                _series(profile.executed_kernels, count=True),
            ),
            ("GPU time, of all kernels and graphs", _series(profile.gpu_ns)),
            ("time in launch calls", _series(profile.launch_ns)),
        )
    ]
    return Panel("costs", "A steady step, mean", COST_HEADING, tuple(lines))


TABLE_HEADING = f"{'total µs':>10} {'self µs':>10} {'calls':>8}  {'where':<7} name"
WORK_HEADING = f"{'total µs':>10} {'count':>8}  name"


def _table_panels(profile: StepProfile) -> Iterable[Panel]:
    host, gpu = profile.host, profile.gpu
    if host is None:
        if profile.steps.count:
            line = _unknown(f"n/a: {profile.host_missing}")
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
            line = _unknown(f"n/a: {profile.gpu_missing}")
            yield Panel("work", "GPU work a step", "", (line,))
    else:
        total, calls = gpu.total.mean, gpu.calls_per_step
        order: list[int] = np.argsort(-total, kind="stable").tolist()
        lines = [
            PanelLine(
                gpu.names[row],
                f"{_us(float(total[row])):>10} {fmt.number(float(calls[row])):>8}  ",
                lead=_node_lead(int(gpu.node[row]), "kernels"),
            )
            for row in order[:LISTED]
        ]
        if len(order) > LISTED:
            rest = float(total[order[LISTED:]].sum())
            lines.append(
                PanelLine(
                    f"{len(order) - LISTED:,} more",
                    f"{_us(rest):>10} {'':>8}  ",
                    lead=Lead("kernels"),
                    dim=True,
                )
            )
        yield Panel("work", "GPU work a step", WORK_HEADING, tuple(lines))


def _operations(table: StepTable, rows: Sequence[int]) -> list[PanelLine]:
    if not rows:
        return [_unknown("none")]
    total, own, calls = table.total.mean, table.self_per_step_ns, table.calls_per_step
    order = sorted(rows, key=lambda row: -float(total[row]))
    lines = [
        PanelLine(
            table.names[row],
            f"{_us(float(total[row])):>10} {_us(float(own[row])):>10} "
            f"{fmt.number(float(calls[row])):>8}  {short_place(table.place(row)):<7} ",
            lead=_node_lead(int(table.node[row]), "paths"),
        )
        for row in order[:LISTED]
    ]
    if len(order) > LISTED:
        rest = sum(float(own[row]) for row in order[LISTED:])
        lines.append(
            PanelLine(
                f"{len(order) - LISTED:,} more",
                f"{'':>10} {_us(rest):>10} {'':>8}  {'':<7} ",
                lead=Lead("paths"),
                dim=True,
            )
        )
    return lines


# --------------------------------------------------------------------- pieces --


def _with_nodes(trace: Trace, panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Lines with a name lead to the heaviest context of it."""
    wanted = {line.name for panel in panels for line in panel.lines if line.name is not None}
    nodes = heaviest_nodes(trace, wanted)
    return tuple(
        replace(
            panel,
            lines=tuple(
                replace(line, lead=Lead("paths", nodes[line.name]))
                if line.name is not None and line.name in nodes
                else line
                for line in panel.lines
            ),
        )
        for panel in panels
    )


def _node_lead(node: int, otherwise: str) -> Lead:
    if node >= 0:
        return Lead("paths", node)
    return Lead("kernels" if otherwise == "kernels" else "paths")


def _unknown(text: str) -> PanelLine:
    return PanelLine(text, "", dim=True)


def _ns(ns: float | None) -> str:
    return f"{fmt.duration(ns):>9}"


def _us(ns: float) -> str:
    return fmt.number(ns / 1000)


def _part(ns: int, total: int) -> str:
    return f"{fmt.share(ns / total if total else None):>8}"


def _bounds(least: int, below: int | None) -> str:
    if below is None:
        return f"> {_round(least)}"
    return f"{_round(least)} to {_round(below)}" if least else f"< {_round(below)}"


def _round(ns: int) -> str:
    """`5 µs`, `1 ms`: the edges of the buckets are round."""
    return f"{ns // 1_000_000} ms" if ns >= 1_000_000 else f"{ns // 1_000} µs"


def _series(series: Series | None, *, count: bool = False) -> str:
    if series is None or series.mean is None:
        return f"{fmt.NA:>11} {fmt.NA:>11}"
    mean, ranks = series.mean, len(series.values)
    if count:
        return f"{fmt.number(mean):>11} {fmt.number(mean * ranks):>11}"
    return f"{fmt.duration(mean):>11} {fmt.duration(mean * ranks):>11}"
