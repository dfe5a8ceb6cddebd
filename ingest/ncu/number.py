"""Numbers as Nsight Compute writes them."""

from __future__ import annotations


def number(text: str | None) -> float | None:
    """`4,963,609,951.19`; None for what is no number."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None
