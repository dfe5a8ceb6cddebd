"""Figures of two traces side by side as cells of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.side_by_side import TIMES
from ..queries.metric import Metric
from . import format as fmt

if TYPE_CHECKING:
    from ..analyzers.compare_rows import CompareRow
    from ..analyzers.side_by_side import SideBySide

ABSENT = "-"
"""A side has no such row."""
_MOST_PERCENT, _FAR = 99_999, 9e7
"""From here on how many times as much says more, and then only how many digits it has."""


class ChangeCells:
    """Texts of the rows of a part, by one metric: all in one unit."""

    def __init__(self, sides: SideBySide, metric: Metric) -> None:
        change = sides.metrics[metric]
        largest = 0.0 if not len(sides) else float(max(change.base.max(), change.target.max()))
        column = fmt.column_for(metric, largest)
        if metric in TIMES:
            self._decimals = min(column.decimals, 1) if column.unit == "µs" else column.decimals
        else:
            # Means over steps: 6.2 launches, 21.9 kernels.
            self._decimals = 1 if sides.per_step else column.decimals
        self._divisor = column.divisor
        self.unit = column.unit

    def _text(self, value: float, *, sign: bool = False) -> str:
        if not value:
            return "0"
        scaled, least = value / self._divisor, 10**-self._decimals
        if abs(scaled) < least / 2:
            return f"{'+' if value > 0 else '-'}0" if sign else f"<{least:.{self._decimals}f}"
        return fmt.number(scaled, self._decimals, sign=sign)

    def change(self, row: CompareRow) -> str:
        """`+310.2`."""
        return self._text(row.delta, sign=True)

    def base(self, row: CompareRow) -> str:
        return ABSENT if row.base is None else self._text(row.base)

    def target(self, row: CompareRow) -> str:
        return ABSENT if row.target is None else self._text(row.target)

    def sentence(self, row: CompareRow) -> str:
        """`36.4 → 270.4 µs, +234.0 (+642.9 %)`."""
        unit = f" {self.unit}" if self.unit else ""
        percent = self.percent(row)
        shown = f"{self.base(row)} → {self.target(row)}{unit}, {self.change(row)}"
        return f"{shown} ({percent})" if percent else shown

    def interval(self, row: CompareRow) -> str:
        """`±4.2`; nothing where steps tell none, or every one is the same."""
        return "" if not row.interval else f"±{self._text(row.interval)}"

    def percent(self, row: CompareRow) -> str:
        """`+75.1 %`, or in a word what has no percentage."""
        if row.percent is None:
            return "" if not row.delta else "new"
        if row.target is None:
            return "gone"
        return percent_cell(row.percent)

    def ratio(self, row: CompareRow) -> str:
        """`x1.75`, target over base."""
        return "" if row.ratio is None else f"x{row.ratio:.2f}"


def percent_cell(percent: float) -> str:
    """`+75.1 %`, `+12,345 %`, `x1,235`: nine characters at most."""
    if not percent:
        return "0 %"
    if percent >= _MOST_PERCENT:
        return f"x{1 + percent / 100:,.3g}" if percent >= _FAR else f"x{1 + percent / 100:,.0f}"
    return f"{fmt.change_percent(percent, 0 if percent >= 1000 else 1)} %"


def sign_of(delta: float | None, within_noise: bool | None, *, ascii_only: bool) -> tuple[str, str]:
    """The sign of a change, for which no colour is needed, and its kind: `slower` (more), `faster`
    (less) or nothing."""
    if not delta:
        return "", ""
    if within_noise:
        return ("~" if ascii_only else "≈"), ""
    if delta > 0:
        return ("^" if ascii_only else "▲"), "slower"
    return ("v" if ascii_only else "▼"), "faster"


def flame_sign(sign: int, *, ascii_only: bool) -> str:
    """What a frame's name begins with: more, less, or nothing that chance would not explain."""
    return {1: "^" if ascii_only else "▲", -1: "v" if ascii_only else "▼"}.get(sign, "")
