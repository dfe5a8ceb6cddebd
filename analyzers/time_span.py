"""Spans of time as people name them."""

from __future__ import annotations


def parse_span(text: str) -> tuple[int, int] | None:
    """`a:b` in seconds, as ns: 0 <= a < b; None for anything else."""
    first, colon, last = text.partition(":")
    try:
        start, end = round(float(first) * 1e9), round(float(last) * 1e9)
    except (ValueError, OverflowError):
        return None
    return (start, end) if colon and 0 <= start < end < 1 << 62 else None
