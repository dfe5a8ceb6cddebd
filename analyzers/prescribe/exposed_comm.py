"""Communication that no computation hides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...queries.metric import Metric
from ..findings import Evidence, Finding
from ..quantities import share
from .facts import Facts
from .wording import gained


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of the devices' time, at least."""


@dataclass(frozen=True, slots=True)
class Result:
    exposed_ns: int
    all_ns: int
    """Communication, hidden or not."""
    devices: list[tuple[str, int]]
    """Device and its exposed time, most first."""
    kernels: list[int]
    """Rows of the kernels with most time."""


def analyze(facts: Facts, limits: Limits) -> Result:
    times = [(d.report.device, d.report.timeline) for d in facts.devices]
    exposed = sum(timeline.exposed_comm_ns for _, timeline in times)
    if not exposed or exposed < limits.share * facts.window_ns:
        return Result(0, 0, [], [])
    own = np.where(facts.is_kernel & facts.where(facts.is_communication), facts.own(Metric.GPU), 0)
    order = np.argsort(-own, kind="stable")
    worst = sorted(times, key=lambda pair: -pair[1].exposed_comm_ns)[:3]
    return Result(
        exposed,
        sum(timeline.comm_ns for _, timeline in times),
        [(facts.labels[device], timeline.exposed_comm_ns) for device, timeline in worst],
        order[own[order] > 0].tolist(),
    )


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not result.exposed_ns:
        return []
    own = facts.own(Metric.GPU)
    evidence = facts.evidence(
        result.kernels, [float(own[row]) / 1e6 for row in result.kernels], "ms", "{}, hidden or not"
    )
    evidence += [Evidence(f"exposed on {name}", "ms", ns / 1e6) for name, ns in result.devices]
    return [
        gained(
            "exposed-communication",
            f"Communication that no computation hides takes "
            f"{share(result.exposed_ns / facts.window_ns)} of the time, "
            f"{share(result.exposed_ns / result.all_ns)} of all communication.",
            "Start it earlier and beside computation: gradient buckets in the backward pass, "
            "prefetching of shards, a stream of its own; or move less (accumulate, compress). "
            "Waiting for a late rank counts here too: see Comms.",
            "Exposed communication in the Overview's split of GPU time.",
            evidence,
            facts.gain(result.exposed_ns, "communication while nothing is computed"),
        )
    ]  # fmt: skip
