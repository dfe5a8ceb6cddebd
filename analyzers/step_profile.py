"""What single steady steps cost: time, host operations, CUDA calls and GPU work, for each rank.

A step's window is [start, start of the next step), for those steps whose next one is steady too.
Everything is averaged over the steps of a rank, then over ranks. Events are assigned by their
start, GPU work by the start of its launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import GpuKind
from ..native import name_key
from ..queries.step_events import (
    GpuWork,
    HostEvents,
    context_keys,
    gpu_work,
    host_events,
    launch_nodes,
    open_ranges,
    process_of_lanes,
)
from .step_slots import Slots, by_rank
from .step_sums import Keys, sum_by_name
from .step_table import I64, Series, StepTable, per_step

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .steps import Steps


@dataclass(frozen=True, slots=True)
class StepProfile:
    """Per-step figures of one trace. Series and tables are over the same steps (`pairs`)."""

    steps: Steps
    ranks: tuple[str, ...]
    """Labels."""
    steady_duration: Series
    """ns of all steady steps, also of those whose next one is not."""
    duration: Series
    gap: Series
    """Next start - end; negative where steps overlap."""
    wall: Series
    """Next start - start = duration + gap, step by step."""
    host: StepTable | None
    """Annotations, operators and CUDA calls; None: see `host_missing`."""
    host_missing: str | None
    gpu: StepTable | None
    """Kernels, copies, memsets and graph replays by name; None: see `gpu_missing`."""
    gpu_missing: str | None
    launched_kernels: Series | None
    """Kernels outside CUDA graphs that the step's thread launched."""
    launched_ns: Series | None
    """Their time on the GPU."""
    executed_kernels: Series | None
    """With the nodes of CUDA graphs."""
    gpu_ns: Series | None
    """Kernels and graph replays that any thread of the process launched."""
    copy_bytes: Series | None
    launches: Series | None
    """Kernel and graph launches of the step's thread."""
    launch_ns: Series | None
    """Time inside them."""
    open_ranges: int
    """Ranges without a recorded end: left out."""

    @property
    def pairs(self) -> int:
        """Compared steps, all ranks together."""
        return self.wall.count

    @property
    def wall_per_step_ns(self) -> float | None:
        return self.wall.mean

    @property
    def unattributed_step_ns(self) -> float | None:
        """Step duration that no operation or CUDA call of its thread accounts for."""
        return self._rest(self.duration, in_step=True)

    @property
    def unattributed_gap_ns(self) -> float | None:
        """Likewise of the gap. The two sum to wall per step minus all self times."""
        return self._rest(self.gap, in_step=False)

    def _rest(self, part: Series, *, in_step: bool) -> float | None:
        mean = part.mean
        if self.host is None or mean is None:
            return None
        table = self.host
        ns = table.self_in_step_ns if in_step else table.self_ns - table.self_in_step_ns
        named = ~table.other_thread & ~table.is_step
        return mean - float(per_step(ns, table.steps)[named].sum())


def step_profile(trace: Trace, steps: Steps) -> StepProfile:
    """The per-step figures of the steady steps. Reads events."""
    slots = Slots(steps)
    durations = tuple(
        (steps.end_ns - steps.start_ns)[rows] for rows in by_rank(steps, steps.steady)
    )
    duration = tuple(slots.end_ns[r] - slots.start_ns[r] for r in slots.ranks)
    wall = tuple(slots.next_ns[r] - slots.start_ns[r] for r in slots.ranks)
    gap = tuple(w - d for w, d in zip(wall, duration, strict=True))
    host = gpu = None
    host_missing = gpu_missing = None
    unended = 0
    figures: dict[str, Series | None] = dict.fromkeys(
        ("launched_kernels", "launched_ns", "executed_kernels", "gpu_ns", "copy_bytes",
         "launches", "launch_ns")
    )  # fmt: skip
    if slots.count == 0:
        host_missing = gpu_missing = "no two consecutive steady steps were found"
    else:
        window = (int(slots.start_ns.min()), int(slots.next_ns.max()))
        keys = Keys(context_keys(trace))
        events = host_events(trace, window)
        unended = open_ranges(trace, window)
        step_keys = {name_key(text) for text in steps.names}
        place = slots.of_host(events, process_of_lanes(trace))
        if slots.by_thread and len(events.id):
            host = _host_table(trace, events, place, slots, keys, step_keys)
            figures |= _launch_series(trace, events, place, slots)
        else:
            host_missing = (
                "the steps were found on the GPU: the thread that runs them is not known"
                if len(events.id)
                else "no annotation, operator or CUDA call was recorded in the steps"
            )
        work = gpu_work(trace, window[0])
        gpu_place = slots.of_gpu(work, events, place)
        if (gpu_place >= 0).any():
            gpu = _gpu_table(trace, work, gpu_place, slots, keys, step_keys)
            figures |= _gpu_series(work, gpu_place >> 1, slots)
        else:
            gpu_missing = _no_gpu(work)
    return StepProfile(
        steps=steps,
        ranks=tuple(rank.label for rank in steps.ranks),
        steady_duration=Series(durations),
        duration=Series(duration),
        gap=Series(gap),
        wall=Series(wall),
        host=host,
        host_missing=host_missing,
        gpu=gpu,
        gpu_missing=gpu_missing,
        open_ranges=unended,
        **figures,
    )


def _no_gpu(work: GpuWork) -> str:
    if not len(work.launch):
        return "no GPU work was recorded in the steps"
    if not (work.launch >= 0).any():
        return "the launches of the GPU work are not in the trace, so it belongs to no step"
    return "no GPU work was launched in the steps"


def _host_table(
    trace: Trace,
    events: HostEvents,
    place: I64,
    slots: Slots,
    keys: Keys,
    step_names: set[str],
) -> StepTable:
    inside = place >= 0
    node = events.node[inside]
    total = np.where(keys.repeats[node], 0, events.dur_ns[inside])
    return sum_by_name(
        trace, place[inside], node, total, events.self_ns[inside], slots, keys, step_names
    )


def _gpu_table(
    trace: Trace, work: GpuWork, place: I64, slots: Slots, keys: Keys, step_names: set[str]
) -> StepTable:
    inside = place >= 0
    dur = work.dur_ns[inside]
    return sum_by_name(trace, place[inside], work.node[inside], dur, dur, slots, keys, step_names)


def _launch_series(
    trace: Trace, events: HostEvents, place: I64, slots: Slots
) -> dict[str, Series | None]:
    is_launch = np.zeros(int(events.node.max(initial=0)) + 1, np.bool_)
    nodes = launch_nodes(trace)
    is_launch[nodes[nodes < len(is_launch)]] = True
    rows = is_launch[events.node]
    if not rows.any():
        return {}
    slot = place[rows] >> 1
    return {"launches": slots.series(slot), "launch_ns": slots.series(slot, events.dur_ns[rows])}


def _gpu_series(work: GpuWork, slot: I64, slots: Slots) -> dict[str, Series | None]:
    kernel = work.kind == GpuKind.KERNEL
    launched = kernel & ~work.in_graph
    busy = kernel | (work.kind == GpuKind.GRAPH)
    copied = (work.kind == GpuKind.MEMCPY) | (work.kind == GpuKind.MEMSET)
    return {
        "launched_kernels": slots.series(slot[launched]),
        "launched_ns": slots.series(slot[launched], work.dur_ns[launched]),
        "executed_kernels": slots.series(slot[kernel]),
        "gpu_ns": slots.series(slot[busy], work.dur_ns[busy], others=True),
        "copy_bytes": slots.series(slot[copied], work.bytes[copied]),
    }
