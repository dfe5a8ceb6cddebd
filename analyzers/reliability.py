"""How far a verdict can be trusted: what is missing from the trace or distorts it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ..ingest.api_names import is_memory
from ..ingest.model import HostKind, Severity
from ..native import IntervalSets
from ..queries.capture import Capture
from ..queries.timeline import (
    RUNNING_KINDS,
    GraphUse,
    WaitingSpans,
    calls_named,
    kernel_starts_within,
    launched_ops,
    texts_of,
)
from .host_metrics import HIDDEN_GRAPHS, Measured
from .launches import BACK_PRESSURE, LOADING, LaunchTimes
from .quantities import plural
from .steps import Steps
from .trace_data import TraceData
from .windows import Window, steps_within

WHILE_LOADING = "code was being loaded"
"""Part of the text of R5 where launches were blocked by that, not by a full queue."""

_FEW_OPS = 50
_SHORT_NS = 10_000_000
_FEW_ITERATIONS = 5
_COPY_SHARE = 0.20
_BLOCKED_SHARE = 0.5
_SPREAD = 0.15
_PROFILER_SHARE = 0.05
_ORPHAN_SHARE = 0.20
_BAD_TIME_SHARE = 0.001
_LOADING_SHARE = 0.5
_LOST = re.compile(r"\blost\b|\bdropp?|overflow|\bmissing\b|not enough|incomplete", re.IGNORECASE)


class Trust(IntEnum):
    """The worst condition decides."""

    OK = 0
    CAUTION = 1
    UNRELIABLE = 2


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that limits what the figures mean. `code` is R1 to R12."""

    code: str
    trust: Trust
    text: str


@dataclass(frozen=True, slots=True)
class Reliability:
    """All conditions that hold."""

    conditions: tuple[Condition, ...]

    @property
    def level(self) -> Trust:
        return max((c.trust for c in self.conditions), default=Trust.OK)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(condition.code for condition in self.conditions)


def hidden_graphs(data: TraceData, window: Window, use: GraphUse) -> bool:
    """Graphs were launched inside the window, but what they ran is not in the trace."""
    start = data.graph_launches.start_ns
    launched = (start >= window.start_ns) & (start < window.end_ns)
    if not launched.any() or use.replays or use.node_kernels:
        return False
    launches = data.graph_launches.id
    return not any(
        np.isin(ops.launch, launches).any() for ops in launched_ops(data.trace, RUNNING_KINDS)
    )


def reliability(
    data: TraceData,
    facts: Capture,
    window: Window,
    steps: Steps,
    measured: Measured,
    waiting: WaitingSpans,
    times: LaunchTimes,
    use: GraphUse,
    *,
    hidden: bool,
) -> Reliability:
    """The conditions of a verdict over `window`."""
    found: list[Condition] = []

    def add(code: str, trust: Trust, text: str) -> None:
        found.append(Condition(code, trust, text))

    if hidden:
        add("R1", Trust.UNRELIABLE, HIDDEN_GRAPHS)
    if use.replays:
        add(
            "R2",
            Trust.CAUTION,
            f"{use.replays:,} graph replays are recorded as a whole: idle time inside them is not "
            "seen, so GPU idle is a lower bound, and all-reduces inside them do not show",
        )
    small = _too_small(data, window, steps)
    if small:
        add("R3", Trust.UNRELIABLE, f"too little to judge: {small}")
    copies = _copy_share(measured)
    if copies >= _COPY_SHARE:
        add("R4", Trust.CAUTION, f"only copies run during {100 * copies:.1f} % of the window")
    if measured.launch is not None and measured.launch.blocked_share >= _BLOCKED_SHARE:
        add("R5", Trust.CAUTION, _blocked_text(measured, data, waiting, window))
    for text in _without_gpu(data):
        add("R6", Trust.CAUTION, text)
    lost = [n.text for n in facts.notes if n.source == "capture" and _lost(n.severity, n.text)]
    if lost:
        add("R7", Trust.UNRELIABLE, f"the recording lost data: {lost[0]}")
    if window.kind == "trace" or (window.kind == "auto" and steps.benchmark is None):
        share = _start_up_share(data, waiting, window)
        if share >= _LOADING_SHARE:
            add(
                "R8",
                Trust.CAUTION,
                f"loading code and allocating memory takes {100 * share:.0f} % of the first "
                "fifth of the window: judge the steady state (window `steady`, or a span)",
            )
    own = _profiler_share(data, waiting, window, times)
    if own > _PROFILER_SHARE:
        add(
            "R9",
            Trust.CAUTION,
            f"the profiler itself takes {100 * own:.1f} % of the launching thread",
        )
    orphans, kernels = facts.orphans.get("kernel", 0), facts.kernels or 0
    if kernels and orphans > _ORPHAN_SHARE * kernels:
        add(
            "R10",
            Trust.CAUTION,
            f"{orphans:,} of {kernels:,} kernels have no launch in the trace: which host code is "
            "behind them cannot be told (GPU idle can)",
        )
    assumed = [device.label for device in data.devices if device.assumed]
    if assumed:
        add("R11", Trust.CAUTION, f"the identity of {', '.join(assumed)} is assumed")
    if measured.idle_spread > _SPREAD:
        add(
            "R11",
            Trust.CAUTION,
            f"GPU idle differs by {100 * measured.idle_spread:.1f} % between GPUs",
        )
    bad = sum(_facts(facts, "bad_time."))
    used = sum(facts.used.values())
    if used and bad > _BAD_TIME_SHARE * used:
        add("R12", Trust.CAUTION, f"{bad:,} of {used:,} rows have impossible times")
    return Reliability(tuple(found))


def _too_small(data: TraceData, window: Window, steps: Steps) -> str:
    devices = [device.device for device in data.devices]
    ops = kernel_starts_within(data.trace, window.start_ns, window.end_ns, devices)
    if ops < _FEW_OPS:
        what = "kernel or graph replay" if ops == 1 else "kernels and graph replays"
        return f"{ops} {what} in the window"
    if window.length_ns < _SHORT_NS:
        return f"a window of {window.length_ns / 1e6:.2f} ms"
    iterations = len(np.unique(steps.iteration[steps_within(steps, window)]))
    if len(steps) and iterations < _FEW_ITERATIONS:
        inside = "" if iterations == steps.count else f"{iterations:,} of "
        return f"{inside}{plural(steps.count, 'step')} in the window"
    return ""


def _copy_share(measured: Measured) -> float:
    window = sum(device.window_ns for device in measured.taking_part)
    return sum(d.copy_only_ns for d in measured.taking_part) / window if window else 0.0


def _lost(severity: Severity, text: str) -> bool:
    return severity >= Severity.WARNING and _LOST.search(text) is not None


def _overhead(data: TraceData, waiting: WaitingSpans, names: frozenset[str] | None) -> IntervalSets:
    """Overhead rows by lane: those with one of the names, or without `names` all that belong to
    the profiler itself."""
    rows = np.flatnonzero(waiting.kind == HostKind.OVERHEAD)
    texts = texts_of(data.trace, np.unique(waiting.label[rows]).tolist())
    wanted = [
        name
        for name, text in texts.items()
        if (text.lower() not in BACK_PRESSURE | LOADING if names is None else text.lower() in names)
    ]
    rows = rows[np.isin(waiting.label[rows], wanted)]
    return IntervalSets(
        waiting.lane[rows], waiting.start_ns[rows], waiting.end_ns[rows], len(data.lanes)
    )


def _blocked_text(
    measured: Measured, data: TraceData, waiting: WaitingSpans, window: Window
) -> str:
    assert measured.launch is not None
    loading = _overhead(data, waiting, LOADING).clip(window.start_ns, window.end_ns).lengths().sum()
    full = _overhead(data, waiting, BACK_PRESSURE).clip(window.start_ns, window.end_ns)
    why = "the queue of the GPU was full"
    if loading > full.lengths().sum():
        why = WHILE_LOADING
    return (
        f"{100 * measured.launch.blocked_share:.0f} % of the launch time was spent blocked "
        f"({why}; told by {measured.launch.blocked_by})"
    )


def _without_gpu(data: TraceData) -> list[str]:
    """Processes that call the API, but of which no GPU work is recorded."""
    calling: list[int] = data.calls.lanes[data.lanes_asked[data.calls.lanes]].tolist()
    callers = {data.lanes[lane].process for lane in calling} - {None}
    owners = {process for owned in data.owners for process in owned}
    return [
        f"{data.processes[process].label} calls CUDA, but none of its GPU work was recorded: if it "
        "was forked, start it with spawn, or record with --trace-fork-before-exec=true"
        for process in sorted(p for p in callers - owners if p is not None)
        if owners
    ]


def _start_up_share(data: TraceData, waiting: WaitingSpans, window: Window) -> float:
    """Loading code and memory calls, of the first fifth of the window, on the busiest thread."""
    end = window.start_ns + max(window.length_ns // 5, 1)
    names = [name for name, text in data.base_names().items() if is_memory(text)]
    calls = calls_named(data.trace, data.calls, names)
    memory = IntervalSets(calls.lane, calls.start_ns, calls.end_ns, len(data.lanes))
    busy = memory | _overhead(data, waiting, LOADING)
    lengths = busy.clip(window.start_ns, end).lengths()
    return float(lengths.max()) / (end - window.start_ns) if len(lengths) else 0.0


def _profiler_share(
    data: TraceData, waiting: WaitingSpans, window: Window, times: LaunchTimes
) -> float:
    """Overhead of the profiler on the threads that launch, the highest share of the window."""
    lengths = _overhead(data, waiting, None).clip(window.start_ns, window.end_ns).lengths()
    launching = list(times.lanes)
    return float(lengths[launching].max()) / window.length_ns if launching else 0.0


def _facts(facts: Capture, prefix: str) -> list[int]:
    return [int(value) for key, value in facts.facts.items() if key.startswith(prefix)]
