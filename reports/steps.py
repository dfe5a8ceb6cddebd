"""The steps of one trace as text: how they were found, how long they take, what takes the time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..analyzers.quantities import plural
from ..analyzers.steps import Phase
from ..ingest.model import Layer
from . import format as fmt
from .findings import findings_text
from .kernel_level import kernel_level_text, straggler_text
from .step_times import step_count, step_times
from .step_use import use_rows
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.step_profile import StepProfile
    from ..analyzers.step_table import Series, StepTable
    from ..analyzers.step_view import StepView
    from ..analyzers.steps import Steps

_SHOWN = 20
_SHORT_PLACE = {"in step": "step", "gap": "gap", "other threads": "other"}


def short_place(place: str) -> str:
    """For a column: `nested` for what is part of another operation."""
    return _SHORT_PLACE.get(place, "nested")


def steps_text(label: str, view: StepView, *, width: int = 80) -> str:
    """Lines of at most `width` characters."""
    steps, profile = view.steps, view.profile
    lines = paragraph(f"Steps of {label}", width)
    lines += paragraph(f"found by: {steps.method.value}; {steps.reason}", width, indent="  ")
    if len(steps):
        if steps.all_reduce is not None:
            lines += paragraph(f"all-reduce pattern: {steps.validation}", width, indent="  ")
        lines += paragraph(_phases(steps), width, indent="  ")
        if steps.benchmark_reason:
            lines += paragraph(f"judged: {steps.benchmark_reason}", width, indent="  ")
        lines += ["", *step_times(steps, width)]
        if profile.pairs:
            lines += ["", *step_costs(profile, width)]
        else:
            lines += _single_steps(steps, width)
        if profile.straggler is not None:
            lines += ["", *straggler_text(profile.straggler, width)]
    if view.level is not None:
        lines += ["", *kernel_level_text(view.level, width)]
    else:
        lines += [
            "",
            *paragraph("Idle gaps of the GPU: n/a, no single kernel was recorded.", width),
        ]
    lines += ["", *findings_text(view.findings, width)] if view.findings else []
    return "\n".join(lines) + "\n"


def _single_steps(steps: Steps, width: int) -> Iterator[str]:
    """The steps one by one, where there are too few for means."""
    yield ""
    yield "Each step, µs"
    several = len(steps.ranks) > 1
    rows = [
        (
            steps.ranks[int(steps.rank[row])].label if several else "",
            str(number if (number := int(steps.number[row])) >= 0 else row),
            Phase(int(steps.phase[row])).name.lower(),
            fmt.number(float(steps.start_ns[row]) / 1000),
            fmt.number(float(steps.end_ns[row] - steps.start_ns[row]) / 1000),
        )
        for row in range(min(len(steps), _SHOWN))
    ]
    headings = ("rank" if several else "", "step", "phase", "start", "duration")
    yield from table(headings, rows, width, left=(2,))
    if len(steps) > _SHOWN:
        yield f"  … and {len(steps) - _SHOWN:,} more"


def step_costs(profile: StepProfile, width: int) -> Iterator[str]:
    """What the host and the GPU did in each step."""
    rows = [
        (name, *_cells(series, divisor))
        for name, series, divisor in (
            ("launched kernels", profile.launched_kernels, 1),
            ("kernel time of these, µs", profile.launched_ns, 1000),
            ("executed kernels, with graphs", profile.executed_kernels, 1),
            ("kernel time, µs", profile.gpu_ns, 1000),
            ("time in launch calls, µs", profile.launch_ns, 1000),
            ("copied, bytes", profile.copy_bytes, 1),
        )
        if series is not None
    ]
    ranks = len(profile.ranks)
    if rows and ranks > 1:
        yield from table(("per step", "per rank", f"all {ranks}"), rows, width, indent="")
    elif rows:
        yield from table(("per step", "mean"), [row[:2] for row in rows], width, indent="")
    if rows and profile.gpu is not None and profile.gpu.other_thread.any():
        yield from paragraph(
            "GPU time is of work that any thread launched, the other rows are of the step's own.",
            width,
            indent="  ",
        )
    if rows:
        yield ""
    if profile.use is not None:
        yield from table(("per step", "mean"), use_rows(profile.use), width, indent="")
        yield ""
    yield from _operations(profile, width)
    yield ""
    if profile.gpu is None:
        yield from paragraph(f"GPU work: n/a, {profile.gpu_missing}.", width)
    else:
        yield "GPU work, µs per step"
        yield from _table(profile.gpu, np.arange(len(profile.gpu)), width, own=False)
    if profile.open_ranges:
        yield from paragraph(
            f"! {profile.open_ranges:,} ranges have no recorded end and are left out.", width
        )


def _operations(profile: StepProfile, width: int) -> Iterator[str]:
    host = profile.host
    if host is None:
        yield from paragraph(f"Operations: n/a, {profile.host_missing}.", width)
        return
    api = host.layer == Layer.API
    yield "Operations, µs per step"
    yield from _table(host, np.flatnonzero(~api & ~host.is_step), width, own=True)
    yield "CUDA calls, µs per step"
    yield from _table(host, np.flatnonzero(api), width, own=True)
    gap, step = profile.unattributed_gap_ns, profile.unattributed_step_ns
    if gap is not None and step is not None:
        yield from paragraph(
            f"Unattributed: {fmt.number((gap + step) / 1000)} µs per step (gap "
            f"{fmt.number(gap / 1000)}, step {fmt.number(step / 1000)}): time of the step's "
            "thread outside all of these.",
            width,
            indent="  ",
        )


def _table(
    rows_of: StepTable, rows: np.ndarray[tuple[int], np.dtype[np.int64]], width: int, *, own: bool
) -> Iterator[str]:
    if not len(rows):
        yield "  none"
        return
    total, self_ns, calls = rows_of.total.mean, rows_of.self_per_step_ns, rows_of.calls_per_step
    order: list[int] = rows[np.argsort(-total[rows], kind="stable")].tolist()
    shown: list[tuple[str, ...]] = [
        (
            rows_of.names[row],
            fmt.number(float(total[row]) / 1000),
            *([fmt.number(float(self_ns[row]) / 1000)] if own else []),
            fmt.number(float(calls[row])),
            short_place(rows_of.place(row)),
        )
        for row in order[:_SHOWN]
    ]
    headings = ("name", "total", *(["self"] if own else []), "calls", "where")
    yield from table(headings, shown, width, left=(len(headings) - 1,))
    if len(order) > _SHOWN:
        # Totals hold what is nested in them: only what rows do themselves adds up.
        rest = float((self_ns if own else total)[order[_SHOWN:]].sum())
        what = "µs self time" if own else "µs"
        yield f"  … and {len(order) - _SHOWN:,} more, together {fmt.number(rest / 1000)} {what}"


def _phases(steps: Steps) -> str:
    phases = ", ".join(
        f"{phase.name.lower()} {len(np.unique(steps.iteration[steps.of_phase(phase)])):,}"
        for phase in steps.phases
    )
    steady = len(np.unique(steps.iteration[steps.steady]))
    text = f"{step_count(steps)} on {plural(len(steps.ranks), 'rank')}; {phases}; steady {steady:,}"
    if steps.steady_generation is not None:
        text += f" with {plural(steps.steady_generation, 'generation request')}"
    return text


def _cells(series: Series | None, divisor: int) -> tuple[str, str]:
    if series is None or series.mean is None:
        return fmt.NA, fmt.NA
    mean = series.mean / divisor
    return fmt.number(mean), fmt.number(mean * len(series.values))
