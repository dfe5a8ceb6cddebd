"""The verdict on host overhead as the application shows it first: texts ready to be drawn.

Plain values without an analysis behind them: they are kept beside the store, and a second open
draws them before anything else is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

NOT_ASKED = "not-asked"
"""Id of the line that stands for the findings of a trace with too many events to ask unasked."""

LeadView = Literal["steps", "kernels", "paths"]


@dataclass(frozen=True, slots=True)
class Lead:
    """Where a line of the card leads."""

    view: LeadView
    node: int | None = None
    """A call path, for `paths`."""
    op: tuple[int, str] | None = None
    """`GpuKind` and name of GPU work, for `kernels`."""


@dataclass(frozen=True, slots=True)
class CardValue:
    """A signal in one phase."""

    text: str
    crossed: bool


@dataclass(frozen=True, slots=True)
class CardSignal:
    """One line of the evidence."""

    name: str
    value: str
    limit: str
    mark: str
    """`severe`, `elevated`, `crossed`, or what else is to be said; empty within the limit."""
    phases: tuple[CardValue, ...]
    """In the order of the card's phases."""


@dataclass(frozen=True, slots=True)
class CardFinding:
    """Something found, and where to look at it."""

    id: str
    weight: int
    gain_share: float
    """Of the time, at most; below 0 where it is not estimated."""
    sentence: str
    remedy: str
    lead: Lead


@dataclass(frozen=True, slots=True)
class CardSteps:
    """Steps of the trace, in order of time."""

    title: str
    walls_ns: tuple[int, ...]
    """Wall time of each step, or the longest of each few steps."""
    caption: str


@dataclass(frozen=True, slots=True)
class VerdictCard:
    """What the Overview says about host overhead."""

    answer: str
    """YES, NO or N/A."""
    headline: str
    basis: str
    window_kind: str
    window: str
    phases: tuple[str, ...]
    signals: tuple[CardSignal, ...]
    limits_note: str
    """Limits of phases that differ from those of the whole; empty where none does."""
    reliability: str
    reasons: tuple[str, ...]
    """Why the figures are to be taken with care, or not known."""
    next_step: str
    lead: Lead
    findings: tuple[CardFinding, ...]
    steps: CardSteps | None
    """None: the trace has no steps."""


def decoded(data: Mapping[str, Any]) -> VerdictCard:
    """The card of `dataclasses.asdict`, as JSON gives it back. KeyError or TypeError when it is
    none."""
    # Mappings of any values: JSON tells no types.
    signals: list[dict[str, Any]] = data["signals"]
    steps: dict[str, Any] | None = data["steps"]
    fields: dict[str, Any] = {
        **data,
        "phases": tuple(data["phases"]),
        "signals": tuple(_signal(signal) for signal in signals),
        "reasons": tuple(data["reasons"]),
        "lead": _lead(data["lead"]),
        "findings": decoded_findings(data),
        "steps": None if steps is None else _steps(steps),
    }
    return VerdictCard(**fields)


def decoded_findings(data: Mapping[str, Any]) -> tuple[CardFinding, ...]:
    """Of `{"findings": …}` as JSON gives it back. KeyError or TypeError when it is none."""
    findings: list[dict[str, Any]] = data["findings"]
    return tuple(_finding(finding) for finding in findings)


def _signal(data: dict[str, Any]) -> CardSignal:
    fields: dict[str, Any] = {**data, "phases": tuple(CardValue(**v) for v in data["phases"])}
    return CardSignal(**fields)


def _finding(data: dict[str, Any]) -> CardFinding:
    fields: dict[str, Any] = {**data, "lead": _lead(data["lead"])}
    return CardFinding(**fields)


def _lead(data: dict[str, Any]) -> Lead:
    op: list[Any] | None = data.get("op")
    fields: dict[str, Any] = {**data, "op": None if op is None else (op[0], op[1])}
    return Lead(**fields)


def _steps(data: dict[str, Any]) -> CardSteps:
    fields: dict[str, Any] = {**data, "walls_ns": tuple(data["walls_ns"])}
    return CardSteps(**fields)
