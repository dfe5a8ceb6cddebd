"""The host waits for the GPU, and the GPU then waits for the host."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ingest.model import Layer
from ...queries.metric import Metric
from ..findings import Finding
from ..quantities import plural, share, time
from .facts import Facts
from .host_rows import waits
from .places import nearest
from .wording import gained


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of a device's time in such calls, at least."""
    idle_share: float
    """Of the devices' time in the pauses in which such calls return, at least."""


@dataclass(frozen=True, slots=True)
class Place:
    row: int
    """The line that waits: innermost function, else range or operator."""
    calls: int
    idle_ns: int


@dataclass(frozen=True, slots=True)
class Result:
    places: list[Place]
    """The one with most idle time first."""
    calls: int
    wait_ns: int
    idle_ns: int


def analyze(facts: Facts, limits: Limits) -> Result:
    nothing = Result([], 0, 0, 0)
    if not facts.devices:
        return nothing
    waiting = waits(facts)
    spent = int(facts.own(Metric.HOST)[waiting].sum())
    if spent < limits.share * facts.window_ns / len(facts.devices):
        return nothing
    line = nearest(facts.parent, np.isin(facts.layer, [Layer.PYTHON, Layer.SOURCE_LINE]))
    outer = nearest(facts.parent, facts.is_code)
    own = np.arange(len(outer), dtype=np.int32)
    place = np.where(line >= 0, line, np.where(outer >= 0, outer, own))
    events = facts.events_of(waiting)
    group = place[facts.host_row[events]].astype(np.int32)
    idle = facts.gaps_after(events, group, len(facts.parent))
    calls = np.bincount(group, minlength=len(facts.parent))
    total = int(idle.sum())
    if total < limits.idle_share * facts.window_ns:
        return nothing
    order = np.argsort(-idle, kind="stable")
    order = order[idle[order] > 0]
    places = [Place(r, int(calls[r]), int(idle[r])) for r in order.tolist()]
    return Result(places, len(events), spent, total)


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not result.places:
        return []
    first = facts.alike([p.row for p in result.places], [p.idle_ns for p in result.places])[0]
    return [
        gained(
            "sync",
            f"{plural(result.calls, 'call')} wait for the GPU ({time(result.wait_ns)}), and the "
            f"GPU idles {share(result.idle_ns / facts.window_ns)} of the time until the host, "
            f"back from them, launches again; most after {first.text}.",
            "Keep results on the GPU, read them a step later from a pinned copy, or launch the "
            "next work first. In PyTorch .item(), .cpu(), print, bool(tensor) and nonzero wait.",
            "These calls no longer lie between the kernels of a step (Steps, Launches).",
            facts.evidence([p.row for p in result.places],
                           [p.idle_ns / 1e6 for p in result.places], "ms", "idle after {}"),
            facts.gain(result.idle_ns,
                       "pauses of the GPU in which such a call returns, no longer than the call"),
        )
    ]  # fmt: skip
