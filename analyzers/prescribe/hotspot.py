"""Where the time goes: the innermost contexts that hold a good part of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...ingest.model import Layer
from ..findings import Finding, Weight
from ..quantities import share
from .facts import Facts
from .host_rows import standing_by, steps
from .places import nearest
from .wording import COMPARE, gained


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of all GPU time, below a context."""
    most: float
    """Contexts."""
    least_us: float
    """GPU time of a call, at least: shorter ones reach no roofline."""
    near: float
    """Part of the roofline from which on operators count as well tuned."""


@dataclass(frozen=True, slots=True)
class Result:
    rows: list[int]
    """Contexts, the heaviest first."""
    cost_ns: list[int]
    excess_ns: int | None
    """Time of their operators above the least that the hardware needs; None: not known."""
    known_ns: int
    """Time of the operators of which that is known."""
    tuned: bool
    """These reach the part of the roofline that can be had."""


def analyze(facts: Facts, limits: Limits) -> Result:
    comm = facts.is_kernel & facts.where(facts.is_communication)  # has analyzers of its own
    own = np.where(comm, 0, facts.own_cost - facts.ran_once)
    cost = facts.sum_below(own)
    passive = facts.is_code & (steps(facts) | standing_by(facts))
    of_ops = np.isin(facts.layer, [int(Layer.OP), int(Layer.HLO)])
    if not facts.on_gpu and of_ops.any():  # ranges and functions wait for other threads, too
        passive |= ~of_ops
    heavy = facts.is_code & ~passive & (cost >= limits.share * max(_total_ns(facts), 1))
    deepest = heavy.copy()
    around = nearest(facts.parent, heavy)
    above = around[facts.parent[np.flatnonzero(heavy & (facts.parent >= 0))]]
    deepest[above[above >= 0]] = False
    # A context that only passes on to many small ones tells nothing.
    direct = np.zeros(len(cost), np.int64)
    owner = facts.code_around(np.arange(len(cost), dtype=np.int32))
    np.add.at(direct, owner[owner >= 0], own[owner >= 0])
    found = np.flatnonzero(deepest & (2 * direct >= cost))
    rows = found[np.argsort(-cost[found], kind="stable")][: int(limits.most)].tolist()
    excess, known = _excess(facts, rows, limits.least_us)
    tuned = excess is not None and excess <= (1 - limits.near) * known
    return Result(rows, [int(cost[row]) for row in rows], excess, known, tuned)


def _excess(facts: Facts, rows: list[int], least_us: float) -> tuple[int | None, int]:
    hot = np.zeros(len(facts.parent), np.bool_)
    hot[rows] = True
    within = np.append(nearest(facts.parent, hot) >= 0, False)
    excess, known = 0.0, 0
    for device in facts.devices:
        table = device.report.exclusive.table
        least = facts.roofline_ns(device.report)
        # The operator with a model may be around a hot one: its work tells where it belongs.
        owner, context = table.row, device.row[device.report.counted]
        pieces = np.bincount(owner[owner >= 0], minlength=len(least))
        inside = np.bincount(owner[(owner >= 0) & within[context]], minlength=len(least))
        counted = (pieces > 0) & (inside == pieces)
        counted &= ~np.isnan(least) & (table.direct_ns >= least_us * 1000)
        above = np.maximum(table.direct_ns[counted] - least[counted], 0)
        excess += float(above.sum())
        known += int(table.direct_ns[counted].sum())
    return (round(excess), known) if known else (None, 0)


def _total_ns(facts: Facts) -> int:
    """What contexts are compared with: a short run should not be judged by its imports."""
    return facts.total_ns - int(facts.ran_once.sum())


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not result.rows:
        return []
    total = _total_ns(facts)
    places = facts.alike(result.rows, result.cost_ns)
    part = share(sum(result.cost_ns) / total)
    first = places[0]
    sentence = f"{first.text} takes {share(first.total / total)} of the {facts.cost_name}."
    if len(places) > 1:
        sentence = (
            f"{len(places)} contexts take {part} of the {facts.cost_name}, most {first.text} with "
            f"{share(first.total / total)}."
        )
    gain, why = None, "the least time of these operators is not known: no model or no limits"
    if not facts.on_gpu:
        why = "the least time of work on a CPU is not known"
    if total < facts.total_ns:
        aside = share(1 - total / facts.total_ns)
        sentence += f" What ran once (imports, set-up, first calls: {aside} of it) is left out."
    if result.excess_ns is not None:
        gain, why = facts.gain(result.excess_ns, "time above the roofline of the device"), ""
        reached = 1 - result.excess_ns / result.known_ns if result.known_ns else 0.0
        sentence += f" The operators with a model reach {share(reached)} of the roofline."
    look = (
        "Open them in Ops for the roofline of each call, and try a faster kernel, a smaller type "
        "or less work."
        if facts.devices
        else "Open them in Call paths: fewer or larger calls, a faster implementation, or less "
        "work."
    )
    found = gained(
        "hotspot", sentence,
        f"Start here: what these contexts save counts most. {look}",
        COMPARE,
        facts.evidence(result.rows, [ns / 1e6 for ns in result.cost_ns], "ms"),
        gain, why,
    )  # fmt: skip
    return [replace(found, weight=Weight.HINT) if result.tuned else found]
