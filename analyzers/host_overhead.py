"""Is the GPU waiting for the host? Metrics, verdict and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ingest.capabilities import Capability
from ..queries.capture import capture
from ..queries.timeline import GraphUse, WaitingSpans, graph_use, waiting_spans
from ..queries.trace import Trace
from .config import HostConfig, default_config
from .host_metrics import Measured, measure, prep_sets
from .launches import LaunchTimes, launch_times
from .one_process import data_of_process, steps_of_process
from .reliability import Condition, Reliability, Trust, hidden_graphs, reliability
from .steps import Phase, Steps, find_steps
from .trace_data import TraceData, read_trace_data
from .verdict import Answer, Overall, verdict
from .windows import Parts, Window, choose_window, of_rows, steps_within, whole

_FILLED = 0.95
"""Of a window: its steps fill it."""
PHASE_NAMES = {Phase.CONTEXT: "context", Phase.GENERATION: "generation", Phase.STEP: "step"}

NO_KERNELS = (
    "the trace has no kernel and no graph replay: nothing ran on a GPU, or it was not recorded"
)
SUMS_ONLY = (
    "the profile holds sums over the whole run, no timeline: when a GPU idled cannot be told"
)


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """The steps of one phase, in their own windows."""

    name: str
    iterations: int
    """Distinct steps of the window."""
    ranges: int
    """Step ranges of all ranks."""
    measured: Measured
    graphs: bool
    """A CUDA graph ran in its steps."""


@dataclass(frozen=True, slots=True, eq=False)
class HostOverhead:
    """The answer, with everything it rests on."""

    window: Window | None
    """None: the trace has no kernel."""
    overall: Overall
    guide: Overall
    """By the guide's own formulas."""
    measured: Measured
    phases: Mapping[str, PhaseResult]
    reliability: Reliability
    steps: Steps
    graph_use: GraphUse
    config: HostConfig
    data: TraceData
    waiting: WaitingSpans
    launches: LaunchTimes

    @property
    def answer(self) -> Answer:
        return self.overall.answer

    @property
    def step_rows(self) -> NDArray[np.int64]:
        """Rows of the steps of the window; every count of steps in it is of these."""
        return steps_of(self.steps, self.window)

    @property
    def iterations(self) -> int:
        """Distinct steps of the window."""
        return len(np.unique(self.steps.iteration[self.step_rows]))

    @property
    def divisor(self) -> int:
        """Iterations that the window's idle time is spread over; 0 where steps do not fill it."""
        return fill(self.steps, self.step_rows, self.window)


def analyze(
    trace: Trace,
    config: HostConfig | None = None,
    *,
    window: str = "auto",
    steps: Steps | None = None,
    process: int | None = None,
) -> HostOverhead:
    """Judge a trace. NotReadyError while events are being loaded, RequestError for a window or a
    pattern that cannot be used.

    window: `auto`, `trace`, `steady`, or a span in seconds `a:b`. steps: of
    all processes, where they are known. process: judge what this one did alone (`one_process`).
    """
    config = config or default_config()
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(read_trace_data, trace)
        steps = steps if steps is not None else find_steps(trace, config.steps)
        data = read.result()
    if process is not None:
        steps = steps_of_process(steps, data, process)
        data = data_of_process(data, process)
    waiting = waiting_spans(trace)
    chosen = choose_window(window, data, steps)
    times = launch_times(data, waiting)
    if chosen is None:
        return _declined(trace, config, steps, data, waiting, times)
    own = None if process is None else [device.device for device in data.devices]
    use = graph_use(trace, chosen.start_ns, chosen.end_ns, own)
    hidden = hidden_graphs(data, chosen, use)
    prep = prep_sets(data, steps)
    measured = measure(data, whole(chosen, data), times, prep, hidden_graphs=hidden)
    phases: dict[str, PhaseResult] = {}
    for phase, rows in _phase_rows(steps, chosen).items():
        parts = of_rows(rows, steps, chosen, data)
        phases[PHASE_NAMES[phase]] = PhaseResult(
            name=PHASE_NAMES[phase],
            iterations=len(np.unique(steps.iteration[rows])),
            ranges=len(rows),
            measured=measure(data, parts, times, prep, hidden_graphs=hidden),
            graphs=_graphs_within(data, parts),
        )
    metrics = {name: result.measured.metrics for name, result in phases.items()}
    trust = reliability(
        data, capture(trace), chosen, steps, measured, waiting, times, use, hidden=hidden
    )
    return HostOverhead(
        window=chosen,
        overall=verdict(measured.metrics, metrics, config),
        guide=verdict(measured.metrics, metrics, config, as_guide=True),
        measured=measured,
        phases=phases,
        reliability=trust,
        steps=steps,
        graph_use=use,
        config=config,
        data=data,
        waiting=waiting,
        launches=times,
    )


def _declined(
    trace: Trace,
    config: HostConfig,
    steps: Steps,
    data: TraceData,
    waiting: WaitingSpans,
    times: LaunchTimes,
) -> HostOverhead:
    """Without a kernel there is no window, and no verdict. What the host did is still measured,
    over the whole trace."""
    span = Window("trace", 0, max(capture(trace).span_ns or 0, 1), "the whole trace")
    measured = measure(data, whole(span, data), times, None)
    declined = verdict(measured.metrics, {}, config)
    facts = capture(trace)
    sums_only = any(lacking is Capability.EVENTS for lacking, _ in facts.lacking)
    why = SUMS_ONLY if sums_only else NO_KERNELS
    nothing = Reliability((Condition("R3", Trust.UNRELIABLE, why),))
    return HostOverhead(
        None, declined, declined, measured, {}, nothing, steps, GraphUse(0, 0, 0), config, data,
        waiting, times,
    )  # fmt: skip


def steps_of(steps: Steps, window: Window | None) -> NDArray[np.int64]:
    """Rows of the steps of a window; without one, all."""
    return np.arange(len(steps)) if window is None else steps_within(steps, window)


def fill(steps: Steps, rows: NDArray[np.int64], window: Window | None) -> int:
    """Distinct steps of `rows` where they fill a window, else 0: time of loading or of a pause
    divided by steps would be no time of a step."""
    if window is None or not len(rows):
        return 0
    first, last = int(steps.start_ns[rows].min()), int(steps.next_ns[rows].max())
    covered = min(last, window.end_ns) - max(first, window.start_ns)
    filled = covered >= _FILLED * window.length_ns
    return len(np.unique(steps.iteration[rows])) if filled else 0


def _phase_rows(steps: Steps, window: Window) -> dict[Phase, NDArray[np.int64]]:
    """Rows of the window's steps by phase. Steps that GPU work tells have no range on the host:
    they give no phases."""
    if not len(steps) or any(rank.lane is None for rank in steps.ranks):
        return {}
    rows = steps_of(steps, window)
    found = {phase: rows[steps.phase[rows] == phase] for phase in Phase}
    return {phase: own for phase, own in found.items() if len(own)}


def _graphs_within(data: TraceData, parts: Parts) -> bool:
    """Whether a thread launched a graph inside the windows of its process."""
    start = data.graph_launches.start_ns
    process = data.lane_process[data.graph_launches.lane]
    windows = parts.by_process
    for number in np.unique(process).tolist():
        own = windows.take(np.array([number], np.int32))
        if not own.count:  # no step of the phase on this process
            continue
        times = start[process == number]
        at = np.searchsorted(own.start, times, side="right") - 1
        if bool(((at >= 0) & (times < own.end[at])).any()):
            return True
    return False
