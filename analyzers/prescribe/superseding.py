"""Which findings say what others say better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

SUPERSEDED: Final[Mapping[str, frozenset[str]]] = {
    "sync": frozenset({"sync-in-step"}),
    "launch-bound": frozenset({"graphs-off"}),
    "warm-up": frozenset({"module-loading", "jit-in-window"}),
    "rank-imbalance": frozenset({"device-imbalance"}),
}
"""Findings of the verdict that say less about the same cause."""


def superseded(found: Sequence[str]) -> frozenset[str]:
    """Ids of findings that need not be shown beside these."""
    return frozenset[str]().union(*(SUPERSEDED.get(one, frozenset()) for one in found))
