"""What compared traces are called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def labels(paths: Sequence[Path]) -> tuple[str, ...]:
    """File names, with their folders where names are the same."""
    names = [path.name for path in paths]
    return tuple(path.name if names.count(path.name) == 1 else str(path) for path in paths)
