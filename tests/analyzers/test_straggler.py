"""Who comes last to the collectives."""

import numpy as np
import pytest

from dctx.analyzers.straggler import Straggler, straggler


def found(*rows: tuple[int, int, int, int]) -> Straggler | None:
    """Rows of (device, iteration, kernel name, start)."""
    device, iteration, key, start = (
        np.ascontiguousarray(column) for column in np.array(rows, np.int64).reshape(-1, 4).T
    )
    return straggler(device, iteration, key, start, {d: f"GPU {d}" for d, *_ in rows})


def test_the_last_of_three_devices_is_found() -> None:
    rows: list[tuple[int, int, int, int]] = []
    for i in range(10):
        late = 50_000 if i < 9 else -50_000
        rows += [(0, i, 5, 1_000_000 * i), (1, i, 5, 1_000_000 * i + late)]
        rows += [(2, i, 5, 1_000_000 * i + 10_000)]
    result = found(*rows)
    # Device 1 starts 40 µs after device 2, nine times of ten.
    assert result == Straggler(
        device=1, label="GPU 1", last_share=0.9, late_ns=40_000, collectives=10
    )
    assert result is not None
    assert result.matters


def test_being_late_by_little_or_not_always_does_not_matter() -> None:
    little = [(d, i, 5, 1_000_000 * i + 13_000 * d) for i in range(10) for d in range(2)]
    result = found(*little)
    assert result is not None
    assert (result.last_share, result.late_ns, result.matters) == (1.0, 13_000, False)
    turns = [(d, i, 5, 1_000_000 * i + 50_000 * ((d + i) % 2)) for i in range(10) for d in range(2)]
    result = found(*turns)
    assert result is not None
    assert (result.last_share, result.matters) == (0.5, False)


def test_instances_are_matched_within_name_and_iteration() -> None:
    """Device 1 misses one kernel of iteration 0: that name is left out there, no more."""
    rows = [
        (0, 0, 5, 100), (0, 0, 5, 200), (1, 0, 5, 230),
        (0, 0, 6, 300), (1, 0, 6, 330),
        (0, 1, 5, 1_100), (0, 1, 5, 1_200), (1, 1, 5, 1_130), (1, 1, 5, 1_230),
    ]  # fmt: skip
    result = found(*rows[::-1])
    assert result == Straggler(device=1, label="GPU 1", last_share=1.0, late_ns=30, collectives=3)


@pytest.mark.parametrize("rows", [[], [(0, 0, 5, 1), (0, 1, 5, 2)], [(0, 0, 5, 1), (1, 0, 6, 2)]])
def test_nothing_to_match(rows: list[tuple[int, int, int, int]]) -> None:
    assert found(*rows) is None
