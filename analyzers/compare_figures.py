"""The figures of a comparison as a whole, and the rules that they must keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from ..queries.metric import Metric
from .change import noise_of
from .gate_rules import KINDS, Against
from .step_table import Series

if TYPE_CHECKING:
    from collections.abc import Callable

    from .change import Change
    from .gate_rules import FigureKind, GateRule
    from .pairing import Compared
    from .side_by_side import Compare, SideBySide
    from .step_table import Flags

_KERNELS = (Layer.KERNEL, Layer.GRAPH)
_COPIES = (Layer.MEMCPY, Layer.MEMSET)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure on both sides: ns, bytes or a number, per step or of the whole run."""

    kind: FigureKind
    base: float | None
    """None: not known, see `missing`."""
    target: float | None
    noise: float | None
    """What a change must exceed to be more than chance; None where nothing can tell."""
    missing: str | None

    @property
    def delta(self) -> float | None:
        if self.base is None or self.target is None:
            return None
        return self.target - self.base

    @property
    def percent(self) -> float | None:
        """None where the base has none."""
        return None if self.delta is None or not self.base else 100 * self.delta / self.base

    @property
    def within_noise(self) -> bool | None:
        """None where nothing can tell."""
        if self.delta is None or self.noise is None:
            return None
        return abs(self.delta) <= self.noise


def figures(compared: Compared, found: Compare) -> dict[str, Figure]:
    """All figures by name, in the order of `KINDS`."""
    per_rows: dict[str, tuple[SideBySide, Metric, Callable[[SideBySide], Flags]]] = {
        "gpu_time": (found.paths, Metric.GPU, _all),
        "kernel_time": (found.kernels, Metric.GPU, lambda sides: _layers(sides, _KERNELS)),
        "copy_time": (found.kernels, Metric.GPU, lambda sides: _layers(sides, _COPIES)),
        "comm_time": (found.collectives, Metric.GPU, _all),
        "host_time": (found.paths, Metric.HOST, _all),
        "api_time": (found.calls, Metric.HOST, _all),
        "kernels": (found.paths, Metric.KERNELS, _all),
        "launches": (found.paths, Metric.LAUNCHES, _all),
        "api_calls": (found.calls, Metric.CALLS, _all),
        "samples": (found.paths, Metric.SAMPLES, _all),
        "copy_bytes": (found.paths, Metric.BYTES, _all),
    }
    comparison = compared.comparison
    whole: dict[str, Change | None] = dict.fromkeys(("wall_time", "step_time", "gap_time"))
    if comparison is not None:
        changes = (comparison.wall, comparison.duration, comparison.gap)
        whole = dict(zip(whole, changes, strict=True))
    result: dict[str, Figure] = {}
    for name, kind in KINDS.items():
        if name in per_rows:
            sides, metric, rows = per_rows[name]
            # A trace without GPU work has no time of communication either.
            if name == "comm_time" and Metric.GPU in found.paths.missing:
                result[name] = _unknown(kind, found.paths.missing[Metric.GPU])
            else:
                result[name] = _of_rows(kind, sides, metric, rows(sides))
        elif (change := whole[name]) is not None:
            result[name] = Figure(kind, change.baseline, change.target, change.noise, None)
        else:
            result[name] = _unknown(kind, f"no steps to compare: {compared.not_comparable}")
    return result


def _unknown(kind: FigureKind, why: str) -> Figure:
    return Figure(kind, None, None, None, why)


def _all(sides: SideBySide) -> Flags:
    return np.ones(len(sides), np.bool_)


def _layers(sides: SideBySide, layers: tuple[Layer, ...]) -> Flags:
    found: Flags = np.isin(sides.layer, layers)
    return found


def _of_rows(kind: FigureKind, sides: SideBySide, metric: Metric, rows: Flags) -> Figure:
    """What the rows cost themselves."""
    if metric in sides.missing:
        return _unknown(kind, sides.missing[metric])
    old, new = (
        Series(tuple(values[costs.rank == rank] for rank in range(costs.ranks)))
        for values, costs in zip(
            sides.steps_where(metric, rows), (sides.base.costs, sides.target.costs), strict=True
        )
    )
    if old.mean is None or new.mean is None:
        return _unknown(kind, "there are no steps")
    noise = float(noise_of(old.samples, new.samples, sides.limits)[0])
    known = sides.no_intervals is None and np.isfinite(noise)
    return Figure(kind, old.mean, new.mean, noise if known else None, None)


@dataclass(frozen=True, slots=True)
class RuleGate:
    """A rule, and what became of it."""

    rule: GateRule
    figure: Figure
    value: float | None
    """What is held against the limit; None: not known, or beyond any number."""
    failed: bool
    unknown: str | None
    """Why it could not be checked; None where it was."""
    by_chance: bool
    """The limit is crossed, but by no more than the steps vary: the gate holds."""


def check_rules(rules: tuple[GateRule, ...], found: dict[str, Figure]) -> tuple[RuleGate, ...]:
    """Every rule against its figure."""
    return tuple(_check(rule, found[rule.kind.name]) for rule in rules)


def _check(rule: GateRule, figure: Figure) -> RuleGate:
    base, target, delta = figure.base, figure.target, figure.delta
    if base is None or target is None or delta is None:
        return RuleGate(rule, figure, None, False, figure.missing or "not known", False)
    match rule.against:
        case Against.VALUE:
            value, by_chance = target, False
        case Against.CHANGE:
            value, by_chance = delta, bool(figure.within_noise)
        case Against.PERCENT:
            # From nothing to something is more than any share of nothing.
            value = 100 * delta / base if base else (0.0 if not delta else float("inf"))
            by_chance = bool(figure.within_noise)
    crossed = rule.crossed(value)
    return RuleGate(
        rule=rule,
        figure=figure,
        value=value if np.isfinite(value) else None,
        failed=crossed and not by_chance,
        unknown=None,
        by_chance=crossed and by_chance,
    )
