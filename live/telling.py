"""Lines for the user from inside their own program."""

from __future__ import annotations

import sys
from contextlib import suppress


def tell(text: str) -> None:
    """A line on the standard error. The program may have closed it, or put anything in its place:
    what comes of that is no affair of the program's."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        return
    with suppress(Exception):
        print(f"dctx: {text}", file=sys.stderr, flush=True)
