"""Many small kernels under one context, which could be few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...queries.metric import Metric
from ..distinct import distinct
from ..findings import Finding
from ..kernel_traits import is_matrix
from ..quantities import share, time
from .facts import Facts
from .host_rows import steps
from .places import innermost
from .wording import gained

if TYPE_CHECKING:
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Limits:
    launches: float
    """Small kernels for each visit of a context, at least."""
    mean_us: float
    """Their mean duration, below."""
    names: float
    """Distinct kernels, at least."""
    part: float
    """Of all kernels below the context, at least."""
    gap_us: float
    """Pauses up to this length before a kernel are those of launches."""
    share: float
    """Of the devices' time that kernels and pauses take together, at least."""


@dataclass(frozen=True, slots=True)
class Place:
    row: int
    kernels: int
    kernel_ns: int
    gap_ns: int
    visits: int

    @property
    def gain_ns(self) -> int:
        """Everything but one kernel a visit."""
        return self.gap_ns + round(self.kernel_ns * (1 - self.visits / self.kernels))


def analyze(facts: Facts, limits: Limits) -> list[Place]:
    kernel = facts.is_kernel & ~facts.where(facts.is_communication)
    small = kernel & ~facts.where(is_matrix)
    runs = facts.own(Metric.KERNELS)
    count = facts.sum_below(np.where(small, runs, 0))
    every = facts.sum_below(np.where(kernel, runs, 0))
    spent = facts.sum_below(np.where(small, facts.own(Metric.GPU), 0))
    gap = facts.sum_below(np.where(small, facts.gap_own(round(limits.gap_us * 1000)), 0))
    visits = np.where(facts.is_kernel, 0, facts.own(Metric.CALLS))
    hits = np.flatnonzero(
        facts.is_code & ~steps(facts) & (visits > 0) & (count >= limits.launches * visits)
        & (spent < limits.mean_us * 1000 * count) & (count >= limits.part * every)
        & (spent + gap >= limits.share * facts.window_ns) & (count > 0)
    ).astype(np.int32)  # fmt: skip
    if not facts.devices:
        return []
    hits = hits[_names_below(facts, small, hits) >= limits.names]
    found = innermost(facts.parent, hits, spent + gap)
    return [
        Place(row, int(count[row]), int(spent[row]), int(gap[row]), int(visits[row]))
        for row in found
    ]


def _names_below(facts: Facts, wanted: Mask, hits: I32) -> I64:
    """Distinct frames of the wanted rows below each hit."""
    number = np.full(len(facts.parent) + 1, -1, np.int32)
    number[hits] = np.arange(len(hits), dtype=np.int32)
    at = np.flatnonzero(wanted).astype(np.int32)
    frame = facts.tree.table.frame[at]
    pairs: list[I64] = []
    while len(at):
        hit = number[at] >= 0
        pairs.append(number[at][hit].astype(np.int64) << 32 | frame[hit])
        at = facts.parent[at]
        at, frame = at[at >= 0], frame[at >= 0]
    known = distinct(np.concatenate(pairs)) if pairs else np.zeros(0, np.int64)
    return np.bincount(known >> 32, minlength=len(hits)).astype(np.int64)


def findings(result: list[Place], facts: Facts) -> list[Finding]:
    if not result:
        return []
    first = result[0]
    gain = facts.gain(
        sum(place.gain_ns for place in result),
        "pauses before these kernels, and all but one kernel a visit",
    )
    each = first.kernels / first.visits
    return [
        gained(
            "kernel-fusion",
            f"{facts.text(first.row)} runs {each:.0f} small kernels a visit, "
            f"{time(first.kernel_ns / first.kernels)} each on average, with "
            f"{time(first.gap_ns / first.visits)} of pauses between: all such places take "
            f"{share(sum(p.kernel_ns + p.gap_ns for p in result) / facts.window_ns)} of the time.",
            "Fuse them: torch.compile on this function, a fused loss, norm or optimizer, or one "
            "kernel written by hand.",
            "The number of kernels a visit falls (Call paths, column kernels).",
            facts.evidence([p.row for p in result],
                           [(p.kernel_ns + p.gap_ns) / 1e6 for p in result], "ms"),
            gain,
        )
    ]  # fmt: skip
