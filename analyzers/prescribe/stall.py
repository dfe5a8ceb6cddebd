"""What the heavy kernels wait for, by source line or instruction: where the trace holds samples,
or Nsight Compute measured them."""

from __future__ import annotations

from dataclasses import dataclass

from ...ingest.model import GpuKind
from ...queries.kernels import OpStat, op_stats
from ...queries.stalls import sampled_kernels, stall_rows
from ..collect_command import function_name
from ..findings import Evidence, Finding
from ..kernel_samples import Hot, KernelSamples, hot_lines, hot_places, of_ncu, of_trace
from ..quantities import share
from ..stall_reasons import REASONS, Stall, stalls_of, words
from .facts import Facts
from .wording import gained

_LISTED = 5
_PANEL = "i on the kernel in view 3"
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
    samples: KernelSamples
    stalls: tuple[Stall, ...]
    places: tuple[Hot, ...]
    """Source lines where they are known, else instructions."""

    @property
    def stalled_ns(self) -> int:
        """Its time, as far as its samples were stalled."""
        stalled = sum(stall.samples for stall in self.stalls)
        return self.op.sum_ns * stalled // self.samples.total


def analyze(facts: Facts, limits: Limits) -> list[Stalled]:
    """Most time first; each kernel once: by the measured launch with most samples, else by what
    the trace itself sampled."""
    recorded = sampled_kernels(facts.trace)
    found: list[Stalled] = []
    if not facts.measured and not recorded:
        return found
    for op in op_stats(facts.trace, kinds=(GpuKind.KERNEL,)):
        if (op.share or 0.0) < limits.share:
            continue
        samples = _measured(facts, op)
        if samples is None and op.name_id in recorded:
            samples = of_trace(stall_rows(facts.trace, op.name_id))
        if samples is None or samples.total < limits.samples:
            continue
        _, stalls = stalls_of(samples.stalls)
        if stalls:
            hot = hot_lines(samples) or hot_places(samples)
            places = tuple(place for place in hot if place.share >= limits.line_share)
            found.append(Stalled(op, samples, stalls, places))
    return found


def _measured(facts: Facts, op: OpStat) -> KernelSamples | None:
    name = function_name(op.name)
    same = [of_ncu(kernel) for kernel in facts.measured if function_name(kernel.name) == name]
    known = [samples for samples in same if samples is not None]
    return max(known, key=lambda samples: samples.total, default=None)


def findings(result: list[Stalled], facts: Facts) -> list[Finding]:
    """One for each kernel."""
    return [_finding(one, facts) for one in result]


def _finding(one: Stalled, facts: Facts) -> Finding:
    top = one.stalls[0]
    reason = REASONS.get(top.reason)
    means = "" if reason is None else f" ({reason.means})"
    rows = [(_place(hot), hot.share, hot.reason) for hot in one.places[:_LISTED]]
    rows = rows or [("all instructions", s.share, s.reason) for s in one.stalls[:_LISTED]]
    return gained(
        "stall",
        f"{function_name(one.op.name)} takes {share(one.op.share)} of the GPU time; "
        f"{share(top.share)} of its stalled samples are {words(top.reason)}{means}.",
        f"Look at the samples by instruction: {_PANEL}."
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


def _place(hot: Hot) -> str:
    place = hot.place
    if place.file is not None and place.line is not None:
        return f"{place.file}:{place.line}"
    return f"{place.text} at {place.at}" if place.at else place.text
