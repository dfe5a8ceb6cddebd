"""Gates for pipelines: which of the asked conditions failed, with their values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from .reliability import Reliability, Trust
from .verdict import Answer

if TYPE_CHECKING:
    from collections.abc import Collection

    from .host_overhead import HostOverhead
    from .regression import Comparison

MAX_REGRESSION_PERCENT = 5.0
CANNOT_TELL = "cannot tell"


class GateName(StrEnum):
    """What `--fail-on` can name."""

    VERDICT = "verdict"
    REGRESSION = "regression"
    UNRELIABLE = "unreliable"


@dataclass(frozen=True, slots=True)
class Gate:
    """One asked condition."""

    name: GateName
    failed: bool
    value: str | float | None
    """None: not known, which never fails a gate."""
    limit: str | float
    judged: bool = True
    """False: too little data to judge it, which fails no gate but `unreliable`."""
    reason: str = ""
    """Why it failed, where the value does not say it."""

    @property
    def sentence(self) -> str:
        """For one line in a log."""
        if self.name is GateName.REGRESSION:
            value = "n/a" if self.value is None else f"{self.value:+.1f} %"
            return f"wall per step {value}, limit +{self.limit:g} %"
        if self.name is GateName.UNRELIABLE:
            return f"the figures cannot be relied on ({self.reason})"
        return f"the verdict is {self.value}"


def named_gates(
    names: Collection[str],
    result: HostOverhead,
    comparison: Comparison | None = None,
    max_percent: float = MAX_REGRESSION_PERCENT,
    lacking: str | None = None,
) -> tuple[Gate, ...]:
    """The gates of these names, in one order. lacking: why a comparison could not be judged."""
    gates = (
        verdict_gate(result.answer),
        regression_gate(comparison, max_percent),
        reliability_gate(result.reliability, lacking),
    )
    return tuple(gate for gate in gates if gate.name.value in names)


def verdict_gate(answer: Answer) -> Gate:
    """Fails when the host is the bottleneck."""
    return Gate(GateName.VERDICT, answer is Answer.YES, answer.value, Answer.YES.value)


def regression_gate(
    comparison: Comparison | None, max_percent: float = MAX_REGRESSION_PERCENT
) -> Gate:
    """Fails when wall per step grew by more than the limit, and by more than chance."""
    wall = None if comparison is None else comparison.wall
    percent = None if wall is None else wall.percent
    judged = wall is not None and wall.noise is not None
    failed = (
        wall is not None
        and percent is not None
        and percent > max_percent
        and wall.noise is not None
        and wall.delta > wall.noise
    )
    value = None if percent is None else round(percent, 4)
    return Gate(GateName.REGRESSION, failed, value, max_percent, judged)


def reliability_gate(found: Reliability, lacking: str | None = None) -> Gate:
    """Fails when the figures of the trace cannot be relied on, or two traces tell nothing."""
    level = found.level.name.lower()
    why = [f"{c.code}: {c.text}" for c in found.conditions if c.trust is Trust.UNRELIABLE]
    why += [] if lacking is None else [lacking]
    value = level if lacking is None or found.level is Trust.UNRELIABLE else CANNOT_TELL
    return Gate(GateName.UNRELIABLE, bool(why), value, "unreliable", reason="; ".join(why))
