"""Which steps are warm-up, steady state or drain, and which part of a trace is the one to judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..queries.capture import device_times, span_ns
from ..queries.timeline import graph_build_times, kernel_starts_within
from ..queries.trace import Trace
from .all_reduce import AllReduce
from .distinct import distinct
from .markers import Method
from .step_columns import Found
from .step_sources import long_pause_ns

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

ENOUGH_ITERATIONS = 5
"""Fewer are too few to judge a run by."""
_COMMON_SHARE = 0.5
_ENOUGH_STEADY = 20
_WARM_UP_NUMBER = 10
_WARM_UP_STEPS = 3
_SLOW = 5


class Label(IntEnum):
    """Part of a run that a step belongs to."""

    STEADY = 0
    RAMP_UP = 1
    """Requests are still entering."""
    WARM_UP = 2
    DRAIN = 3
    """Requests are leaving."""
    SLOW = 4
    """A training step that took more than five times the median."""
    OTHER = 5
    PARTIAL = 6
    """Cut by the edge of the trace."""


@dataclass(frozen=True, slots=True)
class Run:
    """Iterations without a long pause between them."""

    start_ns: int
    end_ns: int
    iterations: int


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of the trace without steps: `load`, `JIT / capture`, `pause` or `teardown`."""

    label: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True, eq=False)
class Staging:
    """Runs, labels and the choice of what to judge."""

    run: I32
    runs: tuple[Run, ...]
    benchmark: int | None
    reason: str
    label: U8
    steady_generation: int | None
    generation_counts: Mapping[int, int]
    segments: tuple[Segment, ...]


def stage(
    trace: Trace,
    method: Method,
    found: Found,
    iteration: I32,
    generation: int | None,
    all_reduce: AllReduce | None,
) -> Staging:
    """generation: requests of the steady state that the user asks for."""
    if not len(iteration):
        return Staging(
            np.zeros(0, np.int32), (), None, "no steps", np.zeros(0, np.uint8), None, {}, ()
        )
    run, runs, common = _runs(found, iteration)
    benchmark, reason = _benchmark(method, runs, common)
    rows = np.flatnonzero(run == benchmark) if benchmark is not None else np.arange(len(run))
    counts = _generation_counts(found, iteration, rows)
    steady = generation if generation is not None else _steady_generation(counts)
    partial = found.partial | _cut(trace, method, found)
    inside = _label_serving(found, rows, steady) if counts else _label_training(found, rows)
    label = np.full(len(run), Label.WARM_UP, np.uint8)
    if benchmark is not None:
        label[run > benchmark] = Label.OTHER
    label[rows] = inside
    label[~found.common] = Label.OTHER
    label[partial] = Label.PARTIAL
    return Staging(
        run=run,
        runs=runs,
        benchmark=benchmark,
        reason=reason,
        label=label,
        steady_generation=steady if counts else None,
        generation_counts=counts,
        segments=_segments(trace, runs, all_reduce),
    )


def _runs(found: Found, iteration: I32) -> tuple[I32, tuple[Run, ...], NDArray[np.bool_]]:
    """Run of each row, the runs, and by run the share of iterations of the common size."""
    count = int(iteration.max()) + 1
    start = np.full(count, np.iinfo(np.int64).max)
    end = np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(start, iteration, found.start_ns)
    np.maximum.at(end, iteration, found.end_ns)
    reach = np.maximum.accumulate(end)
    period = float(np.median(np.diff(start))) if count > 1 else 0.0
    cut = np.flatnonzero(start[1:] - reach[:-1] > long_pause_ns(period)) + 1
    first = np.concatenate([[0], cut])
    last = np.append(cut, count)
    of_iteration = np.repeat(np.arange(len(first), dtype=np.int32), last - first)
    runs = tuple(
        Run(int(start[a]), int(end[a:b].max()), int(b - a))
        for a, b in zip(first.tolist(), last.tolist(), strict=True)
    )
    run = of_iteration[iteration]
    rows = np.bincount(run, minlength=len(runs))
    share = np.bincount(run, found.common, len(runs)) / np.maximum(rows, 1)
    return run, runs, share >= _COMMON_SHARE


def _benchmark(
    method: Method, runs: tuple[Run, ...], common: NDArray[np.bool_]
) -> tuple[int | None, str]:
    """The last run with enough iterations: what comes before is warm-up."""
    for index in range(len(runs) - 1, -1, -1):
        if runs[index].iterations >= ENOUGH_ITERATIONS and common[index]:
            which = "the only run of steps"
            if len(runs) > 1:
                which = f"run {index + 1} of {len(runs)}, the last one with enough steps"
            return index, f"benchmark phase: {which} ({runs[index].iterations} iterations)"
    alike = " of the common size" if method is Method.ALL_REDUCE else ""
    return None, f"no run has {ENOUGH_ITERATIONS} iterations{alike}"


def _generation_counts(found: Found, iteration: I32, rows: NDArray[np.intp]) -> dict[int, int]:
    """Iterations without context requests by number of generation requests."""
    pure = rows[(found.context[rows] == 0) & (found.generation[rows] > 0)]
    _, first = np.unique(iteration[pure], return_index=True)
    values, counts = np.unique(found.generation[pure[first]], return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _steady_generation(counts: Mapping[int, int]) -> int | None:
    """The largest batch, where it lasts; else the commonest one (the larger of two)."""
    if not counts:
        return None
    largest = max(counts)
    if counts[largest] >= _ENOUGH_STEADY:
        return largest
    return max(counts, key=lambda requests: (counts[requests], requests))


def _label_serving(found: Found, rows: NDArray[np.intp], steady: int | None) -> U8:
    context, generation = found.context[rows], found.generation[rows]
    start, number = found.start_ns[rows], found.number[rows]
    is_steady = (context == 0) & (generation == steady)
    begin = int(start[is_steady].min()) if is_steady.any() else np.iinfo(np.int64).max
    early = (start < begin) | ((number >= 0) & (number < _WARM_UP_NUMBER))
    fewer = (context == 0) & (generation >= 0) & (generation < (steady or 0))
    return np.select(
        [is_steady, context > 0, early, fewer],
        [Label.STEADY, Label.RAMP_UP, Label.WARM_UP, Label.DRAIN],
        Label.OTHER,
    ).astype(np.uint8)


def _label_training(found: Found, rows: NDArray[np.intp]) -> U8:
    """All steps of a rank but the first three, and without those that took very long."""
    lane, duration = found.lane[rows], (found.end_ns - found.start_ns)[rows]
    label = np.full(len(rows), Label.STEADY, np.uint8)
    for one in distinct(lane).tolist():
        own = np.flatnonzero(lane == one)
        slow = own[duration[own] > _SLOW * float(np.median(duration[own]))]
        label[slow] = Label.SLOW
        label[own[:_WARM_UP_STEPS]] = Label.WARM_UP
    return label


def _cut(trace: Trace, method: Method, found: Found) -> NDArray[np.bool_]:
    """Steps of a profiler that begins or ends inside a step: they touch the edge of the trace."""
    if method is not Method.PROFILER:
        return np.zeros(len(found.lane), np.bool_)
    last_ns = span_ns(trace)
    cut = found.start_ns <= 0
    return cut if last_ns is None else cut | (found.end_ns >= last_ns)


def _segments(
    trace: Trace, runs: tuple[Run, ...], all_reduce: AllReduce | None
) -> tuple[Segment, ...]:
    """What lies before, between and after the runs."""
    last_ns = span_ns(trace) or runs[-1].end_ns
    windows = [d.kernel_window_ns for d in device_times(trace) if d.kernel_window_ns is not None]
    first_kernel = min((window[0] for window in windows), default=None)
    segments: list[Segment] = []
    loaded = runs[0].start_ns if first_kernel is None else min(first_kernel, runs[0].start_ns)
    if loaded > 0:
        segments.append(Segment("load", 0, loaded))
    builds = graph_build_times(trace)
    begin = loaded
    for run in runs:
        if run.start_ns > begin:
            label = _outside(trace, begin, run.start_ns, builds, all_reduce)
            segments.append(Segment(label, begin, run.start_ns))
        begin = run.end_ns
    if last_ns > begin:
        segments.append(Segment("teardown", begin, last_ns))
    return tuple(segments)


def _outside(trace: Trace, start: int, end: int, builds: I64, all_reduce: AllReduce | None) -> str:
    """GPU work without a step and without all-reduces, or graphs being built, is preparation."""
    if bool(((builds >= start) & (builds < end)).any()):
        return "JIT / capture"
    if not kernel_starts_within(trace, start, end):
        return "pause"
    reduces = all_reduce is not None and any(
        bool(((d.start_ns >= start) & (d.start_ns < end)).any()) for d in all_reduce.devices
    )
    return "other work" if reduces else "JIT / capture"
