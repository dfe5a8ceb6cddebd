"""Steps and totals of two traces as rows: each figure with base, target and change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..analyzers.gate_rules import Unit
from . import format as fmt
from .compare_cells import percent_cell

if TYPE_CHECKING:
    from ..analyzers.compare_figures import Figure
    from ..analyzers.pairing import Compared
    from ..analyzers.step_profile import StepProfile
    from ..analyzers.step_table import Series

_QUANTILES = (0.1, 0.5, 0.9, 0.99)
_STEPS: Mapping[str, Callable[[StepProfile], Series]] = {
    "wall_time": lambda profile: profile.wall,
    "step_time": lambda profile: profile.duration,
    "gap_time": lambda profile: profile.gap,
}


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure; values are ns, bytes or numbers, None where not known."""

    name: str
    parent: int
    """Row of the figure it belongs to, -1 without one."""
    base: float | None
    target: float | None
    noise: float | None
    unit: Unit
    missing: str | None
    meaning: str = ""

    @property
    def delta(self) -> float | None:
        return None if self.base is None or self.target is None else self.target - self.base

    @property
    def within_noise(self) -> bool | None:
        """No more than chance; None where nothing can tell."""
        delta = self.delta
        return None if delta is None or self.noise is None else abs(delta) <= self.noise

    def texts(self) -> tuple[str, str, str, str, str]:
        """Change, percent, noise, base, target."""
        delta, base = self.delta, self.base
        change = "" if delta is None else ("+" if delta > 0 else "") + self._text(delta)
        percent = ""
        if delta is not None and not delta:
            change, percent = "0", percent_cell(0)
        elif delta is not None and base:
            percent = percent_cell(100 * delta / base)
        noise = "" if self.noise is None else f"±{self._text(self.noise)}"
        return change, percent, noise, self._text(base), self._text(self.target)

    def _text(self, value: float | None) -> str:
        if value is None:
            return fmt.NA
        if self.unit is Unit.TIME:
            return fmt.duration(value)
        return fmt.size(round(value)) if self.unit is Unit.BYTES else f"{value:,.1f}"


@dataclass(frozen=True, slots=True)
class FigureTree:
    """The rows in pre-order: quantiles stand below the time they are of."""

    rows: tuple[FigureRow, ...]
    per: str
    """`step` or `run`."""


NOTHING = FigureTree((), "run")


def figure_tree(
    compared: Compared, figures: Mapping[str, Figure], *, swapped: bool = False
) -> FigureTree:
    """`swapped`: base and target have changed places."""
    return FigureTree(
        tuple(_rows(compared, figures, swapped=swapped)),
        "step" if compared.comparison is not None else "run",
    )


def _rows(
    compared: Compared, figures: Mapping[str, Figure], *, swapped: bool
) -> Iterator[FigureRow]:
    at = 0
    comparison = compared.comparison
    for name, figure in figures.items():
        old, new = (figure.target, figure.base) if swapped else (figure.base, figure.target)
        kind = figure.kind
        yield FigureRow(
            kind.label, -1, old, new, figure.noise, kind.unit, figure.missing, kind.title
        )
        top, at = at, at + 1
        series = _STEPS.get(name)
        if series is None or comparison is None:
            continue
        profiles = [comparison.baseline, comparison.target]
        if swapped:
            profiles.reverse()
        for q in _QUANTILES:
            old, new = (series(profile).quantile_ns(q) for profile in profiles)
            yield FigureRow(f"p{100 * q:.0f}", top, old, new, None, kind.unit, None)
            at += 1
