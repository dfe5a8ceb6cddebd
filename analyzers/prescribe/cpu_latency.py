"""Host work that launches little while the GPU idles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...queries.metric import Metric
from ..findings import Finding
from ..quantities import share, time
from .facts import Facts
from .host_rows import ONCE, building, compiling, loading, standing_by, steps, waits
from .places import innermost, nearest
from .wording import gained


@dataclass(frozen=True, slots=True)
class Limits:
    factor: float
    """Host time over GPU time below a context, above."""
    launch_us: float
    """Host time for each launch, above: below it launching itself is the matter."""
    share: float
    """Of the devices' time idle meanwhile, at least."""


@dataclass(frozen=True, slots=True)
class Place:
    row: int
    longest: float
    """Part of the time of its visits that the longest one took."""
    host_ns: int
    gpu_ns: int
    idle_ns: int


@dataclass(frozen=True, slots=True)
class Result:
    places: list[Place]
    """The one with most idle time first."""
    idle_ns: int
    """Of all together, counted once."""


def analyze(facts: Facts, limits: Limits) -> Result:
    if not facts.devices:
        return Result([], 0)
    waiting = waits(facts)
    host = facts.sum_below(np.where(waiting, 0, facts.own(Metric.HOST)))
    launches = facts.sum_below(facts.own(Metric.LAUNCHES))
    known = loading(facts) | compiling(facts) | building(facts) | standing_by(facts) | waiting
    elsewhere = nearest(facts.parent, known) >= 0
    least = limits.share * facts.window_ns / len(facts.devices)
    rows = np.flatnonzero(
        facts.is_code & ~steps(facts) & ~elsewhere & (host > limits.factor * facts.cost)
        & (host > limits.launch_us * 1000 * launches) & (host >= least)
    ).astype(np.int32)  # fmt: skip
    wanted = np.zeros(len(facts.parent), np.bool_)
    wanted[rows] = True
    events = facts.events_of(wanted)
    group = np.searchsorted(rows, facts.host_row[events]).astype(np.int32)
    idle = np.zeros(len(facts.parent), np.int64)
    others = facts.events_of(known)
    idle[rows] = facts.idle_within(events, group, len(rows), others)
    hits = rows[idle[rows] >= limits.share * facts.window_ns]
    kept = innermost(facts.parent, hits, idle)
    length = facts.report.host.dur_ns[events]
    whole = np.maximum(np.bincount(group, length, minlength=len(rows)), 1)
    longest = np.zeros(len(facts.parent))
    np.maximum.at(longest, rows[group], length / whole[group])
    places = [
        Place(row, float(longest[row]), int(host[row]), int(facts.cost[row]), int(idle[row]))
        for row in kept
    ]
    inside = events[np.isin(facts.host_row[events], kept)]
    nobody = np.zeros(len(inside), np.int32)
    return Result(places, int(facts.idle_within(inside, nobody, 1, others)[0]))


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not result.places:
        return []
    by_row = {place.row: place for place in result.places}
    most = facts.alike([p.row for p in result.places], [p.idle_ns for p in result.places])[0]
    places = [by_row[row] for row in most.rows]
    again = "" if places[0].longest < ONCE else ", nearly all in one visit: a first use, perhaps"
    gpu_ns = sum(place.gpu_ns for place in places)
    launched = f"for {time(gpu_ns)} of GPU time" if gpu_ns else "and launches no GPU work"
    return [
        gained(
            "cpu-latency",
            f"{most.text} works {time(sum(place.host_ns for place in places))} on the host "
            f"{launched}{again}; the GPU idles "
            f"{share(result.idle_ns / facts.window_ns)} of the time in such places.",
            "Move this work off the path of launches: do it once, in another thread or a step "
            "ahead, or on the GPU. What only the first use costs belongs in a warm-up.",
            "The GPU idles less in these contexts (dctx verdict, Steps).",
            facts.evidence([p.row for p in result.places],
                           [p.idle_ns / 1e6 for p in result.places], "ms", "idle in {}"),
            facts.gain(result.idle_ns, "idle time while these contexts ran"),
        )
    ]  # fmt: skip
