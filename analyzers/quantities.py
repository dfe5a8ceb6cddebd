"""Figures inside the sentences of findings, all written alike."""

from __future__ import annotations


def us(ns: float, *, sign: bool = False) -> str:
    """`1,234.5 µs`, with `sign` always with its sign."""
    return f"{ns / 1000:{'+' if sign else ''},.1f} µs"


def percent(value: float | None, *, sign: bool = True) -> str:
    """`+19.9 %` of a number of percent; `new` where there is nothing to compare with."""
    if value is None:
        return "new"
    rounded = change_percent(value)
    return f"{rounded:+.1f} %" if sign else f"{abs(rounded):.1f} %"


def change_percent(value: float, decimals: int = 1) -> float:
    """A change in percent, rounded: -100 only where all is gone."""
    rounded = round(value, decimals)
    return rounded if value <= -100 or rounded > -100 else -100 + 10.0**-decimals


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 step`, `1,200 steps`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def time(ns: float) -> str:
    """`12.3 µs`, `4.56 ms` or `7.89 s`."""
    if ns < 1e6:
        return us(ns)
    return f"{ns / 1e6:,.2f} ms" if ns < 1e10 else f"{ns / 1e9:,.2f} s"


def share(ratio: float | None) -> str:
    """`12.3 %` of a fraction."""
    return "n/a" if ratio is None else f"{100 * ratio:.1f} %"
