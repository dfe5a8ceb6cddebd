"""Known ways in which serving code gets slower between two versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ingest.model import Layer
from .change import Status
from .findings import Evidence, Finding, Side, Weight, ordered
from .quantities import us

if TYPE_CHECKING:
    from .regression import Comparison, TableChange

FETCH = ("_fetch_new_requests", "fetch_new_requests")
BROADCAST = ("broadcast_requests", "_broadcast_requests")
FETCH_FACTOR = 2.0
LAUNCH_FACTOR = 1.5
SAME_GPU_SHARE = 0.10
"""Within this part of the base the kernel time per step is the same."""
BOOKKEEPING_NS = 50_000


def comparison_findings(comparison: Comparison) -> tuple[Finding, ...]:
    """The patterns that the comparison shows, weightiest first; none is the normal result."""
    found = (
        request_management(comparison),
        launch_count(comparison),
        new_bookkeeping(comparison),
        rank_dependent(comparison),
    )
    return ordered([finding for finding in found if finding is not None])


def request_management(comparison: Comparison) -> Finding | None:
    """`_fetch_new_requests` at least doubled, or `broadcast_requests` is new."""
    table = comparison.operations
    if table is None:
        return None
    rows = [
        row
        for row, name in enumerate(table.names)
        if table.sure[row]
        and table.target_ns[row] > table.baseline_ns[row]
        and (
            (name in FETCH and table.target_ns[row] >= FETCH_FACTOR * table.baseline_ns[row])
            or (name in BROADCAST and table.status[row] is Status.NEW)
        )
    ]
    if not rows:
        return None
    total = sum(float(table.delta_ns[row]) for row in rows)
    parts = "; ".join(_grown(table, row) for row in rows)
    return Finding(
        id="request-management",
        weight=Weight.SEVERE,
        sentence=f"Request handling takes {us(total)} more per step: {parts}.",
        remedy="Batch the broadcasts and the updates of request state, and skip them in steps "
        "that brought no new request.",
        evidence=tuple(_evidence(table, row) for row in rows),
    )


def launch_count(comparison: Comparison) -> Finding | None:
    """At least 1.5 times as many launched kernels for about the same kernel time."""
    old, new = comparison.baseline, comparison.target
    if (
        old.launched_kernels is None
        or new.launched_kernels is None
        or old.gpu_ns is None
        or new.gpu_ns is None
    ):
        return None
    before, after = old.launched_kernels.mean, new.launched_kernels.mean
    gpu_before, gpu_after = old.gpu_ns.mean, new.gpu_ns.mean
    if not before or after is None or not gpu_before or gpu_after is None:
        return None
    if after < LAUNCH_FACTOR * before or abs(gpu_after - gpu_before) > SAME_GPU_SHARE * gpu_before:
        return None
    spent_before = None if old.launch_ns is None else old.launch_ns.mean
    spent = None if new.launch_ns is None else new.launch_ns.mean
    cost = ""
    if spent is not None and spent_before is not None:
        cost = f"; launching takes {us(spent - spent_before, sign=True)} per step"
    evidence = [
        Evidence("launched kernels", "1/step", after, before, side=Side.TARGET),
        Evidence("kernel time", "µs/step", gpu_after / 1000, gpu_before / 1000, side=Side.TARGET),
    ]
    if spent is not None and spent_before is not None:
        evidence.append(
            Evidence("time in launch calls", "µs/step", spent / 1000, spent_before / 1000,
                     side=Side.TARGET)
        )  # fmt: skip
    kernels = comparison.kernels
    if kernels is not None:
        grown = sorted(
            (row for row in range(len(kernels)) if kernels.layer[row] == Layer.KERNEL),
            key=lambda row: kernels.baseline_calls[row] - kernels.target_calls[row],
        )
        evidence += [
            _calls_evidence(kernels, row)
            for row in grown[:3]
            if kernels.target_calls[row] > kernels.baseline_calls[row]
        ]
    return Finding(
        id="launch-count",
        weight=Weight.WARNING,
        sentence=f"{before:.1f} → {after:.1f} launched kernels per step ({after / before:.1f} x) "
        f"while the kernel time per step stayed within {100 * SAME_GPU_SHARE:.0f} %{cost}.",
        remedy="Work left the CUDA graph or lost its fusion: find the calls that launch these "
        "kernels, and capture or fuse them again.",
        evidence=tuple(evidence),
    )


def new_bookkeeping(comparison: Comparison) -> Finding | None:
    """Ranges of at least 50 µs that the base does not have."""
    table = comparison.operations
    if table is None:
        return None
    rows = [
        row
        for row in table.rows_of(Status.NEW)
        if table.target_ns[row] >= BOOKKEEPING_NS and table.names[row] not in (*FETCH, *BROADCAST)
    ]
    if not rows:
        return None
    parts = ", ".join(
        f"{table.names[row]} {us(float(table.target_ns[row]))} ({table.place(row)})" for row in rows
    )
    return Finding(
        id="new-bookkeeping",
        weight=Weight.WARNING,
        sentence=f"New work in each step: {parts}.",
        remedy="Defer it until the GPU is busy, batch it over steps, or leave it out where no "
        "request asks for it.",
        evidence=tuple(_evidence(table, row) for row in rows),
    )


def rank_dependent(comparison: Comparison) -> Finding | None:
    """Operations that got slower on one rank and faster on another."""
    table = comparison.operations
    rows = [] if table is None else table.rows_of(Status.RANK_DEPENDENT)
    if table is None or not rows:
        return None
    names = ", ".join(table.names[row] for row in rows)
    return Finding(
        id="rank-dependent",
        weight=Weight.HINT,
        sentence=f"Slower on one rank and faster on another: {names}.",
        remedy="Compare the ranks one by one: a mean over them hides the change.",
        evidence=tuple(_evidence(table, row) for row in rows),
    )


def _grown(table: TableChange, row: int) -> str:
    after = us(float(table.target_ns[row]))
    if table.status[row] is Status.NEW:
        return f"{table.names[row]} is new, {after}"
    factor = float(table.target_ns[row] / table.baseline_ns[row])
    return f"{table.names[row]} {us(float(table.baseline_ns[row]))} → {after} ({factor:.1f} x)"


def _evidence(table: TableChange, row: int) -> Evidence:
    node, of_target = table.node(row)
    return Evidence(
        what=table.names[row],
        unit="µs/step",
        value=float(table.target_ns[row]) / 1000,
        baseline=float(table.baseline_ns[row]) / 1000 if table.baseline_row[row] >= 0 else None,
        name=table.names[row],
        node=node,
        side=Side.TARGET if of_target else Side.BASELINE,
    )


def _calls_evidence(table: TableChange, row: int) -> Evidence:
    node, of_target = table.node(row)
    return Evidence(
        what=table.names[row],
        unit="1/step",
        value=float(table.target_calls[row]),
        baseline=float(table.baseline_calls[row]),
        name=table.names[row],
        node=node,
        side=Side.TARGET if of_target else Side.BASELINE,
    )
