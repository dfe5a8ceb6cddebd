"""Rules of a comparison in words and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analyzers.gate_rules import Against, Unit
from . import format as fmt

if TYPE_CHECKING:
    from ..analyzers.compare_figures import Figure, RuleGate

Json = dict[str, Any]


def rule_sentence(gate: RuleGate) -> str:
    """For one line in a log: the figure on both sides, and the limit."""
    rule, figure = gate.rule, gate.figure
    if gate.unknown is not None:
        return f"{rule.text}: n/a, {gate.unknown}"
    both = f"{amount(figure, figure.base)} → {amount(figure, figure.target)}"
    if rule.against is Against.PERCENT:
        percent = figure.percent
        told = "from nothing" if percent is None else f"{fmt.change_percent(percent, 2)} %"
        return f"{rule.text}: {told} ({both})"
    if rule.against is Against.CHANGE:
        return f"{rule.text}: {amount(figure, figure.delta, sign=True)} ({both})"
    return f"{rule.text}: {amount(figure, figure.target)}"


def amount(figure: Figure, value: float | None, *, sign: bool = False) -> str:
    """A value of the figure, in its unit."""
    if value is None:
        return fmt.NA
    if figure.kind.unit is Unit.TIME:
        return f"{fmt.number(value / 1000, sign=sign)} µs"
    if figure.kind.unit is Unit.BYTES:
        return f"{fmt.number(value, 0, sign=sign)} B"
    return fmt.number(value, sign=sign)


def rule_json(gate: RuleGate) -> Json:
    """One rule; times in ns."""
    rule, figure = gate.rule, gate.figure
    return {
        "rule": rule.text,
        "figure": rule.kind.name,
        "unit": rule.kind.unit.value,
        "against": rule.against.value,
        "base": figure.base,
        "target": figure.target,
        "value": gate.value,
        "limit": rule.limit,
        "failed": gate.failed,
        "within_noise": figure.within_noise,
        "unknown": gate.unknown,
    }


def figure_json(figure: Figure) -> Json:
    """One figure; times in ns."""
    return {
        "unit": figure.kind.unit.value,
        "base": figure.base,
        "target": figure.target,
        "delta": figure.delta,
        "percent": figure.percent,
        "noise": figure.noise,
        "within_noise": figure.within_noise,
        "missing": figure.missing,
    }
