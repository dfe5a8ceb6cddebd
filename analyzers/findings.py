"""What an analysis found: the one model that every analyzer and report shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from ..ingest.model import GpuKind


class Weight(IntEnum):
    """How much a finding matters; a higher one is listed first."""

    HINT = 1
    """Worth knowing; costs little or changes how to read a figure."""
    WARNING = 2
    """Costs time."""
    SEVERE = 3
    """Decides the result."""


class Side(IntEnum):
    """The trace that a row of evidence is from."""

    ONLY = 0
    BASELINE = 1
    TARGET = 2


@dataclass(frozen=True, slots=True)
class Evidence:
    """One row that supports a finding, and where to look at it."""

    what: str
    """What was measured, as text from the trace or of ours."""
    unit: str
    """`µs/step`, `1/step`, `%` …"""
    value: float | None
    """Of the trace looked at; of the target where two are compared."""
    baseline: float | None = None
    """None where one trace is looked at, or the baseline has none."""
    name: str | None = None
    """Name key to search for in the views."""
    node: int | None = None
    """`path_node.id` to jump to, in the trace of `side`."""
    side: Side = Side.ONLY
    kind: GpuKind | None = None
    """The name is that of GPU work of this kind."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What a change can gain at most: never more than the time that the evidence covers."""

    ns: int
    """Summed over the devices."""
    share: float
    """Of the time that the devices have, or the threads where the trace has no GPU work."""
    basis: str
    """How it is derived."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One plain sentence with its numbers, what supports it, and what usually helps."""

    id: str
    """Stable, for programs: `launch-count`."""
    weight: Weight
    sentence: str
    remedy: str
    """The likely fix."""
    evidence: tuple[Evidence, ...] = ()
    gain: Gain | None = None
    """None: not estimated."""
    no_gain: str = ""
    """Why a gain that is usually estimated is not known here."""
    verify: str = ""
    """How to see that the change helped."""


SEVERE_SHARE = 0.10
WARNING_SHARE = 0.02


def weight_of(gain: Gain | None) -> Weight:
    """How much a finding matters by what it may gain."""
    if gain is None or gain.share < WARNING_SHARE:
        return Weight.HINT
    return Weight.SEVERE if gain.share >= SEVERE_SHARE else Weight.WARNING


def ordered(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The weightiest first; within one weight by what they may gain, those without an estimate
    last, as they were found."""
    return tuple(
        sorted(findings, key=lambda f: (-f.weight, 1.0 if f.gain is None else -f.gain.share))
    )
