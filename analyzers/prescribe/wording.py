"""Findings with a gain, all made alike."""

from __future__ import annotations

from collections.abc import Iterable

from ..findings import Evidence, Finding, Gain, weight_of

COMPARE = "Record again and compare the two: dctx compare BASE TARGET"


def gained(
    key: str,
    sentence: str,
    remedy: str,
    verify: str,
    evidence: Iterable[Evidence],
    gain: Gain | None,
    no_gain: str = "",
) -> Finding:
    """A finding that weighs what it may gain."""
    return Finding(
        id=key,
        weight=weight_of(gain),
        sentence=sentence,
        remedy=remedy,
        evidence=tuple(evidence),
        gain=gain,
        no_gain=no_gain,
        verify=verify,
    )
