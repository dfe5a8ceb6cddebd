"""Lines to draw intervals on."""

import numpy as np
import pytest

from dctx.native import stack_levels


def levels(*intervals: tuple[int, int]) -> list[int]:
    start, end = (np.array(side, np.int64) for side in zip(*intervals, strict=True))
    found: list[int] = stack_levels(start, end).tolist()
    return found


def test_the_lowest_free_line() -> None:
    assert levels((0, 9), (1, 3), (2, 4), (3, 5), (4, 6), (9, 9), (9, 12)) == [0, 1, 2, 1, 2, 0, 0]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="ascend"):
        levels((5, 6), (4, 6))
    with pytest.raises(ValueError, match="before it starts"):
        levels((5, 4))
    with pytest.raises(ValueError, match="has 1 rows"):
        stack_levels(np.zeros(2, np.int64), np.zeros(1, np.int64))
