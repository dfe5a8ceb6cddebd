"""Steps in a few words: how they were found, which of them are looked at, how long one takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.step_selection import Selection, StepSeries
from ..analyzers.steps import Label, Phase
from . import format as fmt
from .step_times import step_count
from .verdict_summary import steady_text, window_text

if TYPE_CHECKING:
    from ..analyzers.step_report import StepReport
    from ..analyzers.steps import Steps

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
    "NVTX or user annotation around an iteration will do."
)
_WINDOW_HELP = {
    "auto": "w: the steady state alone",
    "steady": "w: from the first kernel to the last",
    "trace": "w: the benchmark phase",
}
"""By the window that is looked at: where `w` leads."""


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
        known = "" if result.window is None else " Idle time and gaps are known anyway."
        text = f"No steps: {steps.reason}. {NO_STEPS_REMEDY}{known}"
        window = window_text(result).partition(" (")[0]  # the reason is said already
        return f"{text}\nwindow {window}"
    found = f"{step_count(steps)} by {steps.method.value}"
    if report.selection is not None:
        window = f"only {selection_text(steps, report.selection)}: x shows all steps"
    else:
        kind = "" if result.window is None else result.window.kind
        if kind == "auto" and not len(steps.steady):
            kind = "steady"  # there is none: `w` passes it over
        window = f"window {window_text(result)} ({_WINDOW_HELP.get(kind, 'w: another window')})"
    return f"{found}: {steady_text(steps)}\n{window}"


def step_text(series: StepSeries, first: int, last: int) -> str:
    """The steps at places `first` to `last` of a series, in one line."""
    number = int(series.number[first])
    name = f"step {number if number >= 0 else int(series.iteration[first])}"
    times = slice(first, last + 1)
    linked = series.has_next[times]
    counted = linked if linked.any() else ~linked  # duration and gap of the same steps
    duration = float(series.duration_ns[times][counted].mean())
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
