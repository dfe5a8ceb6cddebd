"""What single steady steps cost: time, host operations, CUDA calls and GPU work, for each rank.

A step's window is [start, start of the next step), for those steps whose next one is steady too.
Everything is averaged over the steps of a rank, then over ranks. Events are assigned by their
start, GPU work by the start of its launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ingest.model import Layer
from ..native import name_key
from ..queries.capture import device_labels
from ..queries.step_events import (
    collective_work,
    context_keys,
    gpu_rows,
    launch_nodes,
    open_ranges,
    sized_work,
    texts,
)
from .markers import Method
from .step_places import StepPlaces
from .step_slots import Slots
from .step_sums import Keys, Sums, key_sums, step_table
from .step_table import Series, StepTable, per_step
from .step_use import StepUse, step_use
from .straggler import Straggler, straggler

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .steps import Steps


@dataclass(frozen=True, slots=True)
class StepProfile:
    """Per-step figures of one trace. Series and tables are over the same steps (`pairs`)."""

    steps: Steps
    on_threads: bool
    """Each rank's steps run on one thread, whose self times therefore add up to at most them."""
    ranks: tuple[str, ...]
    """Labels."""
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
    straggler: Straggler | None
    """Who comes last to the collectives; None with one GPU or without collectives."""
    open_ranges: int
    """Ranges without a recorded end: left out."""
    use: StepUse | None = None
    """Of the compared steps, where a recording counted them and kept no single events."""

    @property
    def pairs(self) -> int:
        """Compared steps, all ranks together."""
        return self.wall.count

    @property
    def iterations(self) -> int:
        """Distinct compared steps, however many ranks ran each."""
        return len(np.unique(self.steps.iteration[self.steps.pairs]))

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
        if self.host is None or mean is None or not self.on_threads:
            return None
        table = self.host
        ns = table.self_in_step_ns if in_step else table.self_ns - table.self_in_step_ns
        named = ~table.other_thread & ~table.is_step
        return mean - float(per_step(ns, table.steps)[named].sum())


def step_profile(trace: Trace, steps: Steps, places: StepPlaces | None = None) -> StepProfile:
    """The per-step figures of the steady steps. Reads events; `places`: those of the steps, where
    others need them too."""
    slots = Slots(steps) if places is None else places.slots
    duration = tuple(slots.end_ns[r] - slots.start_ns[r] for r in slots.ranks)
    wall = tuple(slots.next_ns[r] - slots.start_ns[r] for r in slots.ranks)
    counted = steps.method is Method.RECORDED
    events: _Events | None = None
    if slots.count and not counted:
        events = _Events(places or StepPlaces(trace, slots))
        if places is None:
            events.forget_host()
    nothing = {**_NOTHING, **_COUNTED} if counted and slots.count else _NOTHING
    return StepProfile(
        steps=steps,
        ranks=tuple(rank.label for rank in steps.ranks),
        duration=Series(duration),
        gap=Series(tuple(w - d for w, d in zip(wall, duration, strict=True))),
        wall=Series(wall),
        on_threads=events is not None and events.on_threads,
        open_ranges=0 if events is None else open_ranges(trace, slots.window_ns),
        use=step_use(trace, steps, steps.pairs),
        **(nothing if events is None else {**nothing, **events.host(), **events.gpu()}),
    )


_NO_STEPS = "no two consecutive steady steps were found"
_COUNTED: dict[str, Any] = {
    "host_missing": "the recording counted the steps, but keeps sums of the whole run, no timeline",
    "gpu_missing": "the recording counted the steps, but keeps sums of the whole run, no timeline",
}
_NOTHING: dict[str, Any] = {
    "host": None,
    "host_missing": _NO_STEPS,
    "gpu": None,
    "gpu_missing": _NO_STEPS,
    "launched_kernels": None,
    "launched_ns": None,
    "executed_kernels": None,
    "gpu_ns": None,
    "copy_bytes": None,
    "launches": None,
    "launch_ns": None,
    "straggler": None,
}


class _Events:
    """The events of the compared steps, and what they add up to."""

    def __init__(self, places: StepPlaces) -> None:
        self._places = places
        self._trace = trace = places.trace
        self._slots = slots = places.slots
        self._keys = Keys(context_keys(trace))
        self.on_threads = self._places.on_threads
        self._of_host = self._host_sums()
        steps = slots.steps
        ids = {name for name in np.unique(steps.name[steps.steady]).tolist() if name >= 0}
        self._step_names = {name_key(text) for text in texts(trace, ids).values()}

    def forget_host(self) -> None:
        """Their sums are made: the columns they were made of are as many as there are events."""
        self._places.forget_host()

    def _host_sums(self) -> Sums:
        keys, of = self._keys, self._places.host
        is_launch = np.zeros(len(keys.parent), np.bool_)
        is_launch[launch_nodes(self._trace)] = True
        total = np.where(keys.repeats[of.node], 0, of.total_ns)
        return key_sums(of, keys, is_launch[of.node], total)

    def host(self) -> dict[str, Any]:
        """Operations, CUDA calls and launches."""
        sums, slots = self._of_host, self._slots
        if slots.on_device:
            return {
                "host_missing": "the steps were found on the GPU: no thread is known to run them"
            }
        if not len(sums.key):
            return {
                "host_missing": "no annotation, operator or CUDA call was recorded in the steps"
            }
        found: dict[str, Any] = {
            "host": step_table(self._trace, sums, slots, self._keys, self._step_names),
            "host_missing": None,
        }
        if sums.flag.any():
            slot = sums.slot[sums.flag]
            found["launches"] = slots.series(slot, sums.count[sums.flag])
            found["launch_ns"] = slots.series(slot, sums.total_ns[sums.flag])
        return found

    def gpu(self) -> dict[str, Any]:
        """GPU work by name, its sums, and who comes last to collectives."""
        keys, slots, of = self._keys, self._slots, self._places.work
        sums = key_sums(of, keys, of.in_graph, of.total_ns)
        if not len(sums.key):
            return {"gpu_missing": self._why_no_gpu()}
        layer, slot = keys.layer[sums.key], sums.slot
        kernel = layer == Layer.KERNEL
        launched = kernel & ~sums.flag
        busy = kernel | (layer == Layer.GRAPH)
        copies, size, _ = sized_work(self._trace, slots.window_ns[0])
        return {
            "gpu": step_table(self._trace, sums, slots, keys, self._step_names),
            "gpu_missing": None,
            "launched_kernels": slots.series(slot[launched], sums.count[launched]),
            "launched_ns": slots.series(slot[launched], sums.total_ns[launched]),
            "executed_kernels": slots.series(slot[kernel], sums.count[kernel]),
            "gpu_ns": slots.series(slot[busy], sums.total_ns[busy], others=True),
            "copy_bytes": slots.series(self._places.of(copies) >> 1, size),
            "straggler": self._straggler(),
        }

    def _why_no_gpu(self) -> str:
        rows, launched = gpu_rows(self._trace, self._slots.window_ns)
        if not rows:
            return "no GPU work was recorded in the steps"
        if not launched:
            return "the launches of the GPU work are not in the trace, so it belongs to no step"
        return "no GPU work was launched in the steps"

    def _straggler(self) -> Straggler | None:
        where, node = collective_work(self._trace, self._slots.window_ns[0])
        place = self._places.of(where)
        rows = np.flatnonzero(place >= 0)
        step = self._slots.rows[place[rows] >> 2]
        return straggler(
            where.device[rows].astype(np.int64),
            self._slots.steps.iteration[step].astype(np.int64),
            self._keys.key[node[rows]].astype(np.int64),
            where.start_ns[rows],
            device_labels(self._trace),
        )
