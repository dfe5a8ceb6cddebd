"""`pytest.approx` with a type that strict checkers accept."""

from typing import Any

import pytest


def near(value: Any, rel: float | None = None, abs: float | None = None) -> Any:  # noqa: A002
    """Equal to what differs by at most `rel` of it, or `abs`; also inside lists and mappings."""
    return pytest.approx(value, rel=rel, abs=abs)  # pyright: ignore[reportUnknownMemberType]
