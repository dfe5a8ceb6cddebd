"""What Nsight Compute measured of one launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..stall_names import canonical

Triple = tuple[int, int, int]

STALL_METRIC: Final = "smsp__pcsamp_warps_issue_stalled_"
"""Of the metrics that count samples: a reason follows."""
NOT_ISSUED: Final = "_not_issued"
"""Ends the twin that counts those when the scheduler issued nothing."""


@dataclass(frozen=True, slots=True)
class NcuRule:
    """Advice of Nsight Compute's own."""

    name: str
    text: str
    speedup_percent: float | None
    """As it estimates it."""


@dataclass(frozen=True, slots=True)
class NcuLine:
    """Samples of one instruction, or of one line of source."""

    address: str
    text: str
    stalls: dict[str, int]
    """Samples by reason, `selected` included."""
    not_issued: int | None = None
    """Samples when the scheduler issued nothing; None: not told."""
    file: str | None = None
    line: int | None = None
    source: str | None = None
    """The source line, where the file brings it along."""


@dataclass(slots=True)
class NcuKernel:
    """One profiled launch."""

    name: str
    grid: Triple | None = None
    block: Triple | None = None
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    """By metric; of the details page by `section: name`."""
    units: dict[str, str] = field(default_factory=dict[str, str])
    rules: list[NcuRule] = field(default_factory=list[NcuRule])
    lines: list[NcuLine] = field(default_factory=list[NcuLine])

    @property
    def not_issued(self) -> int | None:
        """Samples when the scheduler issued nothing; None where that was not exported."""
        told = [line.not_issued for line in self.lines if line.not_issued is not None]
        if told:
            return sum(told)
        values = [
            value
            for name, value in self.metrics.items()
            if name.startswith(STALL_METRIC) and name.endswith(NOT_ISSUED)
        ]
        return round(sum(values)) if values else None

    @property
    def stalls(self) -> dict[str, int]:
        """Samples of warps by reason, `selected` (an instruction was issued) included. Empty where
        none were exported. The sum over the lines where there are some."""
        found: dict[str, int] = {}
        for line in self.lines:
            for reason, samples in line.stalls.items():
                found[reason] = found.get(reason, 0) + samples
        if not found:
            for name, value in self.metrics.items():
                if name.startswith(STALL_METRIC) and not name.endswith(NOT_ISSUED):
                    reason = canonical(name.removeprefix(STALL_METRIC))
                    found[reason] = found.get(reason, 0) + round(value)
        return found
