"""GPU durations that cannot be: an operation that runs on over the next ones of its stream."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..native import sort_order
from .account import count
from .arrays import I32, I64, NULL64, Mask
from .model import Severity

_OVERLAPPED: Final = 3
"""A stream runs its work in order; so many later starts inside one operation are no overlap."""
LONGEST_NS: Final = 7 * 24 * 3600 * 10**9
"""No single operation runs for more than a week."""


@dataclass(slots=True)
class Overruns:
    """Durations to use. `recorded`: what was recorded where it was cut, NULL64 elsewhere; None
    when nothing was."""

    dur: I64
    recorded: I64 | None
    overrun: int = 0
    """Operations cut at the next start on their lane."""
    absurd: int = 0
    """Operations of more than a week, taken as 0 where nothing follows them."""
    cut_ns: int = 0
    """Time taken from the former."""

    def note(self) -> tuple[Severity, str, str] | None:
        """What the user should know; None when nothing was cut."""
        if self.recorded is None:
            return None
        parts: list[str] = []
        if self.overrun:
            parts.append(
                f"{self.overrun} GPU operations last over the starts of the next ones on their "
                f"stream, which cannot be: they are cut there ({self.cut_ns / 1e6:.3f} ms in all)"
            )
        if self.absurd:
            parts.append(f"{self.absurd} GPU operations of more than a week are taken as 0")
        text = "; ".join(parts) + ". The profiler recorded a wrong end for them."
        return Severity.WARNING, "import", text[0].upper() + text[1:]


def cut_overruns(lane: I32, start: I64, dur: I64, launch: I32 | None = None) -> Overruns:
    """Cut operations that overlap at least three later starts of their lane, unless the next is
    of the same (graph) launch, at the next start; and what is longer than a week."""
    order = sort_order([lane, start]).astype(np.int64)
    if not len(order):
        return Overruns(dur, None)
    lanes, starts, ends = lane[order], start[order], (start + dur)[order]
    bounds = np.flatnonzero(np.diff(lanes)) + 1
    later = np.zeros(len(order), np.int64)
    following = np.full(len(order), NULL64)
    for first, last in zip([0, *bounds.tolist()], [*bounds.tolist(), len(order)], strict=True):
        of_lane = starts[first:last]
        places = np.arange(last - first)
        later[first:last] = np.searchsorted(of_lane, ends[first:last], "left") - places - 1
        after = np.searchsorted(of_lane, of_lane, "right")
        has_next = after < last - first
        following[first:last][has_next] = of_lane[after[has_next]]
    over = (later >= _OVERLAPPED) & (following != NULL64)
    if launch is not None:
        launches = launch[order]
        same = np.zeros(len(order), np.bool_)
        same[:-1] = (launches[:-1] >= 0) & (launches[:-1] == launches[1:])
        over &= ~same
    return _cut(dur, order, starts, following, over)


def _cut(dur: I64, order: I64, starts: I64, following: I64, over: Mask) -> Overruns:
    recorded = dur[order]
    absurd = (recorded > LONGEST_NS) & ~over
    if not over.any() and not absurd.any():
        return Overruns(dur, None)
    used = np.where(over, following - starts, np.where(absurd, 0, recorded))
    out = Overruns(np.empty_like(dur), np.full(len(dur), NULL64), count(over), count(absurd))
    changed = over | absurd
    out.cut_ns = int((recorded - used)[over].sum())
    out.dur[order] = used
    out.recorded = np.full(len(dur), NULL64)
    out.recorded[order[changed]] = recorded[changed]
    return out
