"""Numbers as Nsight Compute writes them."""

from __future__ import annotations

from math import isfinite


def number(text: str | None) -> float | None:
    """`4,963,609,951.19`; None for what is no number, or none that is finite."""
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return value if isfinite(value) else None
