"""The GPU starves while the program fetches the next input."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...queries.metric import Metric
from ..findings import Finding
from ..quantities import share, time
from .facts import Facts
from .host_rows import loading
from .wording import gained

_SINGLE: Final = re.compile("_SingleProcessDataLoaderIter")


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of the devices' time idle meanwhile, at least."""
    host_share: float
    """Of all host time in it where the trace has no GPU work, at least."""


@dataclass(frozen=True, slots=True)
class Result:
    rows: list[int]
    """Outermost contexts that fetch, the costliest first."""
    waste_ns: list[int]
    """Idle time of the GPU meanwhile, else host time."""
    total_ns: int
    single: bool
    """It loads in the process that trains."""


def analyze(facts: Facts, limits: Limits) -> Result:
    found = loading(facts)
    outermost = found & (facts.outermost(found) == np.arange(len(found)))
    rows = np.flatnonzero(outermost).astype(np.int32)
    nothing = Result([], [], 0, False)
    if not len(rows):
        return nothing
    if facts.devices:
        events = facts.events_of(outermost)
        group = np.searchsorted(rows, facts.host_row[events]).astype(np.int32)
        waste = facts.idle_within(events, group, len(rows))
        total = int(facts.idle_within(events, np.zeros(len(events), np.int32), 1)[0])
        if total < limits.share * facts.window_ns:
            return nothing
    elif not facts.on_gpu:
        waste = facts.sum_below(facts.own(Metric.HOST))[rows]
        total = int(waste.sum())
        if total < limits.host_share * max(facts.total_ns, 1):
            return nothing
    else:
        return nothing
    order = np.argsort(-waste, kind="stable")
    order = order[waste[order] > 0]
    single = bool(facts.named(_SINGLE).any())
    return Result(rows[order].tolist(), waste[order].tolist(), total, single)


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not result.rows:
        return []
    part = share(result.total_ns / facts.window_ns)
    name = facts.text(result.rows[0])
    if facts.on_gpu:
        sentence = f"The GPU idles {part} of the time while {name} fetches the next input."
        basis = "idle time while inputs are fetched"
    else:
        sentence = (
            f"{name} takes {time(result.total_ns)}, {part} of the {facts.cost_name}: the program "
            "waits for its input."
        )
        basis = "all time in which inputs are fetched"
    if result.single:
        sentence += " It loads in the training process itself (num_workers=0)."
    return [
        gained(
            "data-loader",
            sentence,
            "Match the number of workers or threads to the cores (num_workers, not more than "
            "there are), prefetch (prefetch_factor, persistent_workers), pin memory, and do costly "
            "transforms ahead of time or on the GPU.",
            "Fetching takes next to no time of a step (Steps).",
            facts.evidence(result.rows, [ns / 1e6 for ns in result.waste_ns], "ms"),
            facts.gain(result.total_ns, basis),
        )
    ]  # fmt: skip
