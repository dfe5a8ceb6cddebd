"""Regions in which the GPU waits for one launch after the other: candidates for CUDA graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...queries.metric import Metric
from ..findings import Finding
from ..quantities import plural, share, time
from .facts import Facts
from .host_rows import waits
from .places import innermost
from .wording import gained


@dataclass(frozen=True, slots=True)
class Limits:
    kernels: float
    """For each visit of a region, at least."""
    gap_us: float
    """Pauses up to this length before a kernel are those of launches."""
    part: float
    """Of the pauses and the GPU time of the region that are pauses, at least."""
    share: float
    """Of the devices' time in these pauses, at least."""


@dataclass(frozen=True, slots=True)
class Place:
    row: int
    visits: int
    kernels: int
    gap_ns: int
    waits: int
    """Calls within it that wait for the GPU: a graph cannot hold them."""


def analyze(facts: Facts, limits: Limits) -> list[Place]:
    if not facts.devices:
        return []
    gap = facts.sum_below(facts.gap_own(round(limits.gap_us * 1000)))
    runs = facts.sum_below(facts.own(Metric.KERNELS))
    visits = np.where(facts.is_code, facts.own(Metric.CALLS), 0)
    waiting = facts.sum_below(np.where(waits(facts), facts.own(Metric.CALLS), 0))
    hits = np.flatnonzero(
        (visits > 0) & (runs > 0) & (runs >= limits.kernels * visits)
        & (gap >= limits.part * (gap + facts.cost)) & (gap >= limits.share * facts.window_ns)
    ).astype(np.int32)  # fmt: skip
    # The larger the graph, the fewer launches: only what adds little is left out.
    return [
        Place(row, int(visits[row]), int(runs[row]), int(gap[row]), int(waiting[row]))
        for row in innermost(facts.parent, hits, gap, part=0.9)
    ]


def findings(result: list[Place], facts: Facts) -> list[Finding]:
    if not result:
        return []
    first = result[0]
    total = sum(place.gap_ns for place in result)
    hinder = (
        f" It waits {plural(round(first.waits / first.visits), 'time')} a visit for the GPU: those "
        "calls must "
        "leave it first."
        if first.waits >= first.visits
        else ""
    )
    return [
        gained(
            "launch-bound",
            f"{facts.text(first.row)} launches {first.kernels / first.visits:,.0f} kernels a "
            f"visit, and the GPU waits {time(first.gap_ns / first.kernels)} for each: such pauses "
            f"take {share(total / facts.window_ns)} of the time.{hinder}",
            "Capture it in a CUDA graph (torch.cuda.graph, or torch.compile with "
            "mode='reduce-overhead'), or give each launch more work: larger batch, fused kernels.",
            "Kernels of the region run in graphs (dctx verdict), its pauses go.",
            facts.evidence([p.row for p in result], [p.gap_ns / 1e6 for p in result], "ms",
                           "pauses in {}"),
            facts.gain(total, "pauses before its kernels, none longer than the limit"),
        )
    ]  # fmt: skip
