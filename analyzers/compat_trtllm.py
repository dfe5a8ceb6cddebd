"""The figures of the public TensorRT-LLM scripts, by their own formulas, to compare with theirs.

They are kept as they are, right or wrong: all GPUs are one, graph replays and copies do not count,
only calls recorded as plain `cudaLaunchKernel` are launches, preparation is summed over ranks, and
the window of a phase reaches from its first step to its last one. For judging use `host_overhead`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ingest.api_names import base_name
from ..ingest.model import GpuKind
from ..native import IntervalSets
from ..queries.capture import capture
from ..queries.ops import kernel_names, spans_named
from ..queries.ranges import range_texts, ranges_named
from ..queries.timeline import GpuSpans, api_table, calls_named, gpu_spans
from ..queries.trace import Trace
from .config import HostConfig, default_config
from .launches import covered_ns
from .steps import Label, Steps
from .verdict import Metrics, Overall, judge_as_guide, verdict

I64 = NDArray[np.int64]

_STEP = re.compile(r"\[Executor\] _forward_step \d+: (\d+) ctx reqs, (\d+) gen reqs")
_PREP = ("_prepare_tp_inputs", "_prepare_inputs", "prepare_inputs")
_LAUNCH = "cudaLaunchKernel"
_BACKTRACES = "CUPTI_ACTIVITY_KIND_RUNTIME.class_67"
"""Second rows of a call, under its plain name: the only rows that the script takes for launches."""


@dataclass(frozen=True, slots=True)
class ScriptPhase:
    """One phase; `iteration_count` counts the ranges of all ranks."""

    iteration_count: int
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """What the detection script prints."""

    aggregate: Metrics
    phases: Mapping[str, ScriptPhase]
    overall: Overall


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    kernels: GpuSpans
    nccl_start: I64
    nccl_end: I64
    launch_start: I64
    launch_end: I64
    prep_start: I64
    prep_end: I64


def detect(trace: Trace, config: HostConfig | None = None) -> ScriptResult | None:
    """The detection script; None where it stops: no kernel, or no ranges at all."""
    kernels = gpu_spans(trace, (GpuKind.KERNEL,))
    texts = range_texts(trace)
    if not len(kernels.place) or not texts:
        return None
    prep = next(
        (own for name in _PREP if (own := [t.name for t in texts if t.text == name])), list[int]()
    )
    ranges = ranges_named(trace, prep)
    nccl = spans_named(
        trace, [name for name, text in kernel_names(trace).items() if "nccl" in text.lower()]
    )
    launch_start, launch_end = _launches(trace)
    columns = _Columns(
        kernels,
        nccl.start_ns,
        nccl.end_ns,
        launch_start,
        launch_end,
        ranges.start_ns,
        ranges.end_ns,
    )
    whole = _metrics(columns, int(kernels.start_ns.min()), int(kernels.end_ns.max()))
    phases: dict[str, ScriptPhase] = {}
    matches = {t.name: found for t in texts if (found := _STEP.match(t.text))}
    context = {name for name, found in matches.items() if int(found[1]) > 0}
    generation = {name for name, found in matches.items() if int(found[2]) > 0} - context
    for label, names in (("context", context), ("generation", generation)):
        steps = ranges_named(trace, sorted(names))
        if len(steps.lane):
            window = int(steps.start_ns.min()), int(steps.end_ns.max())
            phases[label] = ScriptPhase(len(steps.lane), _metrics(columns, *window))
    overall = verdict(
        whole,
        {name: phase.metrics for name, phase in phases.items()},
        config or default_config(),
        as_guide=True,
    )
    return ScriptResult(whole, phases, overall)


def _launches(trace: Trace) -> tuple[I64, I64]:
    table = api_table(trace)
    names = [name for name, text in table.names.items() if text == _LAUNCH]
    if not names and capture(trace).unused.get(_BACKTRACES):
        names = [n for n, text in table.names.items() if base_name(text) == _LAUNCH]
    calls = calls_named(trace, table, names)
    return calls.start_ns, calls.end_ns


def _metrics(columns: _Columns, start: int, end: int) -> Metrics:
    """The script's formulas. What begins inside the window counts whole, even past its end."""
    length = end - start
    kernels = columns.kernels
    here = np.flatnonzero((kernels.end_ns > start) & (kernels.start_ns < end))
    one = np.zeros(len(here), np.int32)
    busy_set = IntervalSets(one, kernels.start_ns[here], kernels.end_ns[here], 1)
    busy = int(busy_set.lengths()[0])
    idle = length - busy
    launch = _sum_inside(columns.launch_start, columns.launch_end, start, end)
    nccl = _sum_inside(columns.nccl_start, columns.nccl_end, start, end)
    values: dict[str, float] = {
        "gpu_idle_ratio": idle / length,
        "gpu_utilization": busy / length,
        "launch_overhead_ratio": launch / length,
        "nccl_ratio": nccl / busy if busy else 0.0,
    }
    inside = (columns.prep_start >= start) & (columns.prep_end <= end)
    prep_start, prep_end = columns.prep_start[inside], columns.prep_end[inside]
    prep = int((prep_end - prep_start).sum())
    if prep and busy_set.count:
        between = busy_set.gaps(int(busy_set.start[0]), int(busy_set.end[-1]))
        exposed = int(covered_ns(between, 0, prep_start, prep_end).sum())
        values["host_prep_exposed_ratio"] = exposed / prep
        values["host_prep_perf_impact"] = exposed / length
        values["host_prep_idle_attribution"] = exposed / idle if idle else 0.0
    return Metrics(**values)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def _sum_inside(first: I64, last: I64, start: int, end: int) -> int:
    inside = (first >= start) & (last <= end)
    return int((last[inside] - first[inside]).sum())


def crossed_count(metrics: Metrics, config: HostConfig, phase: str | None = None) -> int:
    """How many metrics the script finds crossed."""
    limits = config.thresholds if phase is None else config.of_phase(phase)
    return judge_as_guide(metrics, limits).crossed_count


def wall_per_step_ns(steps: Steps) -> float | None:
    """The analysis script's wall time per step: from the first to the last steady step, over their
    number, whatever lies between them; of the first rank. None without steady steps."""
    rows = np.flatnonzero((steps.label == Label.STEADY) & (steps.rank == 0))
    if not len(rows):
        return None
    return float(steps.end_ns[rows].max() - steps.start_ns[rows].min()) / len(rows)
