"""Charts of a page, drawn as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from .format import shorten_middle

_LABEL: Final = 260
_PLOT: Final = 460
_VALUE: Final = 120
_ROW: Final = 22
_CHARACTERS: Final = 32
"""As many fit into the width of a label."""


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar for each value, from zero to the right; to the left for those below zero."""

    title: str
    labels: Sequence[str]
    values: Sequence[float | None]
    """None: not known, told so."""
    unit: str = ""
    signed: bool = False
    """Values are changes: write their signs."""


def bars_svg(bars: Bars, escaped: Callable[[str], str]) -> str:
    """The chart as a figure; `escaped` makes a text safe between tags and quotes."""
    known = [value for value in bars.values if value is not None]
    low, high = min([0.0, *known]), max([0.0, *known])
    scale = _PLOT / (high - low) if high > low else 0.0
    zero = _LABEL - low * scale
    height = _ROW * len(bars.labels)
    lines = [
        f"<figure><figcaption>{escaped(bars.title)}</figcaption>"
        f'<svg role="img" aria-label="{escaped(bars.title)}" '
        f'viewBox="0 0 {_LABEL + _PLOT + _VALUE} {height}" '
        f'width="{_LABEL + _PLOT + _VALUE}" height="{height}">'
    ]
    for number, (label, value) in enumerate(zip(bars.labels, bars.values, strict=True)):
        y = number * _ROW
        name = shorten_middle(label, _CHARACTERS)
        text = "n/a" if value is None else f"{value:{'+' if bars.signed else ''},.4g} {bars.unit}"
        length = abs(value or 0.0) * scale
        begin = zero - length if (value or 0.0) < 0 else zero
        sign = "less" if (value or 0.0) < 0 else "more"
        lines.append(
            f"<g><title>{escaped(label)}: {escaped(text)}</title>"
            f'<text x="{_LABEL - 8}" y="{y + 15}" text-anchor="end">{escaped(name)}</text>'
            f'<rect class="{sign}" x="{begin:.1f}" y="{y + 3}" width="{length:.1f}" '
            f'height="{_ROW - 6}"></rect>'
            f'<text x="{_LABEL + _PLOT + 8}" y="{y + 15}">{escaped(text)}</text></g>'
        )
    return "\n".join([*lines, "</svg></figure>", ""])
