"""GPU operations as columns, for sweeps over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ingest.model import GpuKind
from .trace import Trace

Ids = NDArray[np.int32]
Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Spans:
    """Time spans of devices, by (device, start). Columns of one length."""

    device: Ids
    start_ns: Times
    end_ns: Times


@dataclass(frozen=True, slots=True)
class Replays:
    """Replays of CUDA graphs by (device, start): one row each, whether the trace has a row for
    the replay or one for each of its nodes."""

    device: Ids
    graph: Times
    start_ns: Times
    end_ns: Times


def kernel_names(trace: Trace) -> dict[int, str]:
    """Short kernel names by string id. Reads summary tables only."""
    return dict(trace.rows("ops.names", {"kinds": [int(GpuKind.KERNEL)]}))


def spans_named(trace: Trace, names: Sequence[int]) -> Spans:
    """Kernels with one of the names. Reads events: NotReadyError while they are being loaded."""
    return Spans(
        **trace.event_arrays(
            "ops.named", {"kind": int(GpuKind.KERNEL), "names": [int(name) for name in names]}
        )
    )


def graph_replays(trace: Trace) -> Replays:
    """Replays whose launch is in the trace. Reads events."""
    return Replays(
        **trace.event_arrays("ops.replays", {"kinds": [int(GpuKind.KERNEL), int(GpuKind.GRAPH)]})
    )
