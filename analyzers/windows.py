"""The part of a trace that is judged, and the parts of it that belong to a phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..native import IntervalSets
from ..queries.capture import capture
from .errors import RequestError
from .steps import Steps
from .time_span import parse_span
from .trace_data import TraceData

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_PART = 0.1
"""Of a step that lies in a window it belongs to."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of the trace, and why it was chosen."""

    kind: str
    """`auto`, `trace`, `steady`, or the span as the user gave it."""
    start_ns: int
    end_ns: int
    reason: str

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Windows of a phase (or the whole window): by device, and by process of the host. The last
    process stands for threads whose process is not known."""

    by_device: IntervalSets
    by_process: IntervalSets


def choose_window(option: str, data: TraceData, steps: Steps) -> Window | None:
    """The window that the option names; None when the trace has no kernel to judge.

    auto: the benchmark phase where steps were found, else first kernel start to last kernel end.
    RequestError for an option that is none or cannot be had.
    """
    kernels = _kernel_window(data)
    if option in ("auto", "trace"):
        if kernels is None:
            return None
        if option == "auto" and steps.benchmark is not None:
            run = steps.runs[steps.benchmark]
            return Window(option, run.start_ns, run.end_ns, steps.benchmark_reason)
        why = "first kernel start to last kernel end"
        if option == "auto":
            why += f"; {steps.benchmark_reason if len(steps) else steps.no_steps}"
        return Window(option, *kernels, why)
    if option == "steady":
        steady = steps.steady_window()
        if steady is None:
            raise RequestError(
                f"the window `steady` needs steady steps, and there are none: {steps.reason}. "
                "Use `auto`, or name a span in seconds, such as `12.3:14.9`."
            )
        count = len(np.unique(steps.iteration[steps.steady]))
        return Window(option, *steady, f"steady state ({count} steps)")
    return _asked(option, capture(data.trace).span_ns)


def _asked(option: str, span_ns: int | None) -> Window:
    """A span as the user gave it, inside the trace: outside of it nothing is known, and no time
    there is idle time."""
    start, end = _span(option)
    if span_ns is None or end <= span_ns:
        return Window(option, start, end, "as asked for")
    trace = f"{span_ns / 1e9:.6f} s"
    if start >= span_ns:
        raise RequestError(
            f"the window {option!r} lies outside the trace, which ends after {trace}: name a span "
            f"between 0 and {span_ns / 1e9:.6f}, or one of auto, trace and steady."
        )
    return Window(option, start, span_ns, f"as asked for, cut where the trace ends, after {trace}")


def _span(option: str) -> tuple[int, int]:
    """`a:b` in seconds from the start of the trace."""
    span = parse_span(option)
    if span is None:
        raise RequestError(
            f"the window {option!r} is none. There are auto, trace, steady, and a span in seconds "
            "from the start of the trace, such as `12.3:14.9`."
        )
    return span


def _kernel_window(data: TraceData) -> tuple[int, int] | None:
    if not data.running.count:
        return None
    return int(data.running.start.min()), int(data.running.end.max())


def steps_within(steps: Steps, window: Window) -> I64:
    """Rows of the steps that belong to a window: those of which a good part lies in it. A first
    step that begins before its first kernel does, a step of a slower rank that only ends or begins
    in it does not."""
    inside = np.minimum(steps.end_ns, window.end_ns) - np.maximum(steps.start_ns, window.start_ns)
    return np.flatnonzero(inside >= _PART * (steps.end_ns - steps.start_ns))


def whole(window: Window, data: TraceData) -> Parts:
    """The whole window for every device and process."""
    return Parts(_repeated(window, data.device_count), _repeated(window, data.process_count + 1))


def _repeated(window: Window, groups: int) -> IntervalSets:
    return IntervalSets(
        np.arange(groups, dtype=np.int32),
        np.full(groups, window.start_ns, np.int64),
        np.full(groups, window.end_ns, np.int64),
        groups,
    )


def of_rows(rows: I64, steps: Steps, window: Window, data: TraceData) -> Parts:
    """The step ranges of some rows, inside the window: each process has its own, a device those of
    the processes that work on it."""
    process = np.array(
        [data.process_count if r.process is None else r.process for r in steps.ranks], np.int32
    )[steps.rank[rows]]
    start, end = steps.start_ns[rows], steps.end_ns[rows]
    unknown = data.process_count
    everywhere = np.full(len(rows), unknown, np.int32)
    by_process = IntervalSets(
        np.concatenate([process, everywhere]),
        np.concatenate([start, start]),
        np.concatenate([end, end]),
        unknown + 1,
    )
    return Parts(
        spread_over_devices(process, start, end, data).clip(window.start_ns, window.end_ns),
        by_process.clip(window.start_ns, window.end_ns),
    )


def spread_over_devices(process: I32, start: I64, end: I64, data: TraceData) -> IntervalSets:
    """Host intervals of processes, by the devices that they work on; those of a device that nobody
    is known to own are of all processes."""
    groups: list[I32] = []
    rows: list[NDArray[np.intp]] = []
    for device, owners in enumerate(data.owners):
        chosen = np.flatnonzero(np.isin(process, owners)) if owners else np.arange(len(process))
        rows.append(chosen)
        groups.append(np.full(len(chosen), device, np.int32))
    if not rows:
        return IntervalSets(process[:0], start[:0], end[:0], data.device_count)
    row = np.concatenate(rows)
    return IntervalSets(np.concatenate(groups), start[row], end[row], data.device_count)


def lanes_within(parts: Parts, lanes: Sequence[int], data: TraceData) -> IntervalSets:
    """The windows of the processes of these lanes, one group each."""
    return parts.by_process.take(data.lane_process[list(lanes)])
