"""The least time that a device needs for what a call computes and moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .architecture import Architecture
    from .perf_figures import Figures

COMPUTE_BOUND: Final = "COMPUTE_BOUND"
MEMORY_BOUND: Final = "MEMORY_BOUND"


@dataclass(frozen=True, slots=True)
class Roofline:
    """A bound of a call's time."""

    time_us: float
    bound: str
    """What takes longer: COMPUTE_BOUND or MEMORY_BOUND."""
    basis: str
    """achievable or peak: what the rate of computation is; peak where only memory counts."""


def roofline(
    of: Figures, architecture: Architecture, compat: frozenset[str] = frozenset()
) -> Roofline | str:
    """The longer of FLOPs / rate and bytes / bandwidth; why there is none where it cannot be told.

    A call without FLOPs is bound by memory (TraceLens gives it no bound).
    """
    if of.flops is None or of.bytes is None:
        return "FLOPs or bytes are not known"
    memory_us = of.bytes / (architecture.bandwidth_gbps * 1e3)
    if of.flops == 0 and "D28" not in compat:
        return Roofline(memory_us, MEMORY_BOUND, "peak")
    if of.flops == 0 or of.bytes == 0:
        return "nothing is computed or moved"
    if of.spec is None:
        return "no rate is known for this element type"
    rate = architecture.rate(of.spec)
    if rate is None or ("D26" in compat and rate.spec != of.spec):
        return f"{architecture.name} has no rate for {of.spec}"
    compute_us = of.flops / (rate.tflops * 1e6)
    bound = COMPUTE_BOUND if compute_us >= memory_us else MEMORY_BOUND
    return Roofline(max(compute_us, memory_us), bound, rate.basis)
