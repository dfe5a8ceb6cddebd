"""A logarithmic axis over a number of terminal cells."""

from dataclasses import dataclass
from math import ceil, floor, log10

ROUNDING = 1e-9
"""Of logarithms."""


@dataclass(frozen=True, slots=True)
class Axis:
    """From the power of ten `low` to `high` over `cells` cells."""

    low: float
    high: float
    cells: int

    def place(self, value: float) -> float:
        """Where a value above zero stands, in cells; beyond the ends for values beyond."""
        return (log10(value) - self.low) / (self.high - self.low) * self.cells

    def cell(self, value: float) -> int:
        """Its cell, the first or last one for values beyond."""
        return max(0, min(self.cells - 1, floor(self.place(value))))

    def value(self, place: float) -> float:
        """What stands at a place in cells."""
        return float(10 ** (self.low + place / self.cells * (self.high - self.low)))

    @property
    def ticks(self) -> list[tuple[int, float]]:
        """Cell and value of the powers of ten."""
        first, last = ceil(self.low - ROUNDING), floor(self.high + ROUNDING)
        return [(self.cell(10.0**n), 10.0**n) for n in range(first, last + 1)]


def log_axis(least: float, most: float, cells: int) -> Axis:
    """From `least` to `most`, both above zero, with a little room below and at least a decade."""
    low, high = log10(least) - 0.1, log10(most)
    if high - low < 1:
        low, high = floor(low), max(ceil(high), floor(low) + 1)
    return Axis(low, high, cells)


def tick_text(value: float) -> str:
    """`0.01`, `1`, `100`, `10k`."""
    for divisor, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= divisor:
            return f"{value / (divisor if unit != 'k' else 1e3):.0f}{unit}"
    return f"{value:g}"
