"""What steps used as a recording measured it, where single events are not kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..queries.recorded_steps import recorded_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.trace import Trace
    from .steps import Steps

    I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StepUse:
    """Means of a step; None: not recorded."""

    cpu_ns: float | None
    """CPU time of all threads of the process."""
    host_gap_ns: float | None
    """Python time before operators and scopes, on the thread that ended the steps."""
    faults: float | None
    """Page faults."""
    switches: float | None
    """Context switches."""
    rss_bytes: int | None
    """Greatest resident memory at the end of a step."""
    device_peak_bytes: int | None
    """Most that torch's allocator had in use of one GPU."""
    gpu_busy_ns: float | None
    """GPUs ran kernels or graph replays, summed over GPUs."""
    copied_bytes: float | None
    """By GPUs, in copies that began in the step."""


def step_use(trace: Trace, steps: Steps, rows: I64) -> StepUse | None:
    """Of these rows of `steps`; a step of several that were kept together counts with their mean.
    None when the steps were not counted by a recording."""
    kept = recorded_steps(trace)
    if not len(kept.lane) or not len(rows):
        return None
    lanes = np.array([-1 if r.lane is None else r.lane for r in steps.ranks], np.int64)
    # Rows of one lane lie together, by number: one number of both finds the row of a step.
    span = int((kept.number + kept.steps).max()) + 1
    order = np.argsort(kept.lane * np.int64(span) + kept.number, kind="stable")
    begin = (kept.lane * np.int64(span) + kept.number)[order]
    wanted = lanes[steps.rank[rows]] * span + steps.number[rows]
    at = order[np.maximum(np.searchsorted(begin, wanted, side="right") - 1, 0)]

    def mean(values: I64) -> float | None:
        known = values[at] >= 0
        each = values[at][known] / kept.steps[at][known]
        return float(each.mean()) if known.any() else None

    def most(values: I64) -> int | None:
        return int(values[at].max()) if bool((values[at] >= 0).any()) else None

    return StepUse(
        mean(kept.cpu_ns),
        mean(kept.host_gap_ns),
        mean(kept.faults),
        mean(kept.switches),
        most(kept.rss_bytes),
        most(kept.device_peak_bytes),
        mean(kept.gpu_busy_ns),
        mean(kept.copied_bytes),
    )
