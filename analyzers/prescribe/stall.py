"""What the heavy kernels wait for, by instruction: where Nsight Compute measured them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...ingest.model import GpuKind
from ...queries.kernels import OpStat, op_stats
from ..collect_command import function_name
from ..findings import Evidence, Finding
from ..quantities import share
from ..stall_reasons import REASONS, Stall, hot_lines, stalls_of, words
from .facts import Facts
from .wording import gained

if TYPE_CHECKING:
    from ...ingest.ncu import NcuKernel

_VERIFY = "Measure the kernel again and compare the shares: dctx kernel TRACE NAME --ncu FILE"


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of all GPU work that the kernel takes, at least."""
    samples: float
    """Of the kernel, at least."""
    line_share: float
    """Of its stalled samples that a line has, at least."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """One kernel that was measured."""

    op: OpStat
    kernel: NcuKernel
    samples: int
    stalls: tuple[Stall, ...]
    lines: tuple[tuple[str, float, str], ...]
    """Text, share of the stalled samples, reason of most of them."""

    @property
    def stalled_ns(self) -> int:
        """Its time, as far as its samples were stalled."""
        stalled = sum(stall.samples for stall in self.stalls)
        return self.op.sum_ns * stalled // self.samples


def analyze(facts: Facts, limits: Limits) -> list[Stalled]:
    """Most time first; each kernel once, by the launch with most samples."""
    found: list[Stalled] = []
    if not facts.measured:
        return found
    for op in op_stats(facts.trace, kinds=(GpuKind.KERNEL,)):
        same = [k for k in facts.measured if function_name(k.name) == function_name(op.name)]
        if not same or (op.share or 0.0) < limits.share:
            continue
        kernel = max(same, key=lambda one: sum(one.stalls.values()))
        samples, stalls = stalls_of(kernel.stalls)
        if samples < limits.samples or not stalls:
            continue
        stalled = sum(stall.samples for stall in stalls)
        lines = tuple(
            (f"{line.text} at {line.address}", number / stalled, reason)
            for line, number, reason in hot_lines(kernel)
            if number >= limits.line_share * stalled
        )
        found.append(Stalled(op, kernel, samples, stalls, lines))
    return found


def findings(result: list[Stalled], facts: Facts) -> list[Finding]:
    """One for each kernel."""
    return [_finding(one, facts) for one in result]


def _finding(one: Stalled, facts: Facts) -> Finding:
    top = one.stalls[0]
    reason = REASONS.get(top.reason)
    means = "" if reason is None else f" ({reason.means})"
    rows = one.lines or tuple(("all instructions", s.share, s.reason) for s in one.stalls[:5])
    return gained(
        "stall",
        f"{function_name(one.op.name)} takes {share(one.op.share)} of the GPU time; "
        f"{share(top.share)} of its stalled samples are {words(top.reason)}{means}.",
        "Look at the samples by instruction."
        if reason is None
        else f"{reason.helps[0].upper()}{reason.helps[1:]}.",
        _VERIFY,
        [
            Evidence(
                f"stalled samples of {text}, mostly {words(why)}",
                "%",
                100 * part,
                name=one.op.name,
                kind=GpuKind.KERNEL,
            )
            for text, part, why in rows
        ],
        facts.gain(one.stalled_ns, "the kernel's time, as far as its samples are stalled"),
    )
