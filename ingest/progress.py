"""How a long read tells where it is, and how it is stopped."""

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Stage name for people and the fraction done, 0 to 1 of the whole. May raise CancelledError."""


def silent(stage: str, fraction: float) -> None:
    """Progress for callers that show none."""
