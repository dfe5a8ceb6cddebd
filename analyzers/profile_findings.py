"""What the steady steps of one trace show by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from .findings import Evidence, Finding, Weight, ordered
from .quantities import us
from .step_table import per_step
from .straggler import straggler_finding

if TYPE_CHECKING:
    from .step_profile import StepProfile

WAITS = frozenset(
    {
        "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy",
        "cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyDtoH",
        "cuMemcpyHtoD", "hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize",
        "hipMemcpy", "hipMemcpyWithStream",
    }
)  # fmt: skip
"""Calls that return when the GPU has caught up."""
WAIT_SHARE = 0.01
"""Of the wall time per step; less is no finding."""


def profile_findings(profile: StepProfile) -> tuple[Finding, ...]:
    """Findings of one trace, weightiest first; none is the normal result."""
    found = (sync_in_step(profile), straggler_finding(profile))
    return ordered([finding for finding in found if finding is not None])


def sync_in_step(profile: StepProfile) -> Finding | None:
    """The step's thread waits for the GPU inside the step, as `.item()` makes it."""
    table, wall = profile.host, profile.wall_per_step_ns
    if table is None or wall is None:
        return None
    waits = np.array([name in WAITS for name in table.names], np.bool_)
    waits &= (table.layer == Layer.API) & ~table.other_thread
    ns = per_step(table.total_in_step_ns, table.steps)
    order: list[int] = np.argsort(-ns, kind="stable").tolist()
    rows = [row for row in order if waits[row] and ns[row] > 0]
    total = float(ns[rows].sum())
    if total < WAIT_SHARE * wall:
        return None
    where = ", ".join(
        f"{table.names[row]} {us(float(ns[row]))} ({table.place(row)})" for row in rows[:3]
    )
    return Finding(
        id="sync-in-step",
        weight=Weight.WARNING,
        sentence=f"Each step waits {us(total)} for the GPU inside itself: {where}.",
        remedy="Reading a result on the host (.item(), .cpu(), print) makes the call wait: keep "
        "it on the GPU, or read it a step later from a pinned copy.",
        evidence=tuple(
            Evidence(
                what=table.names[row],
                unit="µs/step",
                value=float(ns[row]) / 1000,
                name=table.names[row],
                node=int(table.node[row]),
            )
            for row in rows
        ),
    )
