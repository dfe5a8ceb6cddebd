"""The columns of host and GPU events that sweeps over a whole trace read, each read once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ingest.model import GpuKind, HostKind
from .trace import Trace

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

API_KINDS = (HostKind.RUNTIME, HostKind.DRIVER)


def kernel_starts_within(trace: Trace, start_ns: int, end_ns: int) -> int:
    """Kernels and graph replays that start in [start_ns, end_ns). Reads events."""
    [(count,)] = trace.event_rows(
        "timeline.starts_within",
        {"kinds": [int(GpuKind.KERNEL), int(GpuKind.GRAPH)], "start": start_ns, "end": end_ns},
    )
    return int(count)


def graph_build_times(trace: Trace) -> I64:
    """Starts of the calls that capture or instantiate CUDA graphs, ascending. Reads events."""
    times: I64 = trace.event_arrays("timeline.graph_builds", {"kinds": list(API_KINDS)})["start_ns"]
    return times
