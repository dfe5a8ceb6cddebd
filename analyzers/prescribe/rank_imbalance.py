"""One rank computes longer than the others, which wait for it."""

from __future__ import annotations

from dataclasses import dataclass

from ..findings import Evidence, Finding
from ..quantities import share, time
from .facts import Facts
from .wording import gained


@dataclass(frozen=True, slots=True)
class Limits:
    spread: float
    """Of the slowest rank's computation that the mean lacks, at least."""
    share: float
    """Of the devices' time that balance may gain, at least."""


@dataclass(frozen=True, slots=True)
class Result:
    devices: list[tuple[str, int]]
    """Device and its computation, most first; empty: balanced."""
    mean_ns: float
    gain_ns: int


def analyze(facts: Facts, limits: Limits) -> Result:
    nothing = Result([], 0.0, 0)
    times = [(d.report.device, d.report.timeline) for d in facts.devices]
    if len(times) < 2 or not all(timeline.comm_ns for _, timeline in times):
        return nothing
    order = sorted(times, key=lambda pair: -pair[1].computation_ns)
    slowest = order[0][1].computation_ns
    mean = sum(timeline.computation_ns for _, timeline in times) / len(times)
    # A device gains no more than it waits; the slowest one gains what is taken off it.
    waits = [timeline.exposed_comm_ns + timeline.idle_ns for _, timeline in order[1:]]
    gain = sum(
        min(slowest - timeline.computation_ns, wait)
        for (_, timeline), wait in zip(order[1:], waits, strict=True)
    )
    if not slowest or slowest - mean < limits.spread * slowest:
        return nothing
    if gain < limits.share * facts.window_ns:
        return nothing
    return Result([(facts.labels[d], t.computation_ns) for d, t in order], mean, gain)


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not result.devices:
        return []
    name, slowest = result.devices[0]
    shown = [*result.devices[:3], *result.devices[3:][-1:]]
    return [
        gained(
            "rank-imbalance",
            f"{name} computes {time(slowest)}, the {len(result.devices)} devices "
            f"{time(result.mean_ns)} on average ({share(1 - result.mean_ns / slowest)} less): the "
            "others wait for it.",
            "Give each rank the same work: balance lengths of sequences, experts, shards or "
            "stages; look for a slow device (clocks, other processes).",
            "Computation of the devices in the Overview is even.",
            [Evidence(f"computation, {label}", "ms", ns / 1e6) for label, ns in shown],
            facts.gain(result.gain_ns, "what the others wait for the slowest device at most"),
        )
    ]  # fmt: skip
