"""Training steps as a recording counted them, where single events are not kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RecordedSteps:
    """Rows by process, in order; columns of one length. Times in ns, -1 where they are not known.
    Values are of all steps of a row together."""

    lane: I32
    """First thread of the process."""
    number: I64
    """Of the first step of the row."""
    steps: I64
    start_ns: I64
    wall_ns: I64
    longest_ns: I64
    cpu_ns: I64
    host_gap_ns: I64
    faults: I64
    switches: I64
    rss_bytes: I64
    """Greatest resident memory at the end of a step."""
    device_peak_bytes: I64
    """Most that torch's allocator had in use of one GPU."""
    gpu_busy_ns: I64
    """Union of kernels and graph replays in the steps, summed over GPUs."""
    copied_bytes: I64
    """By GPUs, in copies that began in the steps."""


def recorded_steps(trace: Trace) -> RecordedSteps:
    """All of them."""
    return RecordedSteps(**trace.arrays("recorded_steps.rows"))
