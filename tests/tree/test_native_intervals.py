"""Unions of intervals, against counting each unit of time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dctx.native import cover, union_ns

GROUPS = 3
RANKS = 3
Interval = tuple[int, int, int, int]  # group, rank, start, length
INTERVALS = st.lists(
    st.tuples(
        st.integers(-1, GROUPS - 1),
        st.integers(0, RANKS - 1),
        st.integers(-20, 20),
        st.integers(0, 15),
    ),
    max_size=30,
)


def open_ranks(intervals: list[Interval], group: int, time: int) -> list[int]:
    return [r for g, r, start, length in intervals if g == group and start <= time < start + length]


@given(INTERVALS)
def test_union_is_the_time_with_an_interval_open(intervals: list[Interval]) -> None:
    columns = np.array(intervals, np.int64).reshape(-1, 4).T
    group = columns[0].astype(np.int32)
    lengths = union_ns(group, columns[2], columns[2] + columns[3], GROUPS)
    assert lengths.tolist() == [
        sum(bool(open_ranks(intervals, g, time)) for time in range(-20, 40)) for g in range(GROUPS)
    ]


@given(INTERVALS, st.integers(-25, 25), st.integers(0, 30))
def test_cover_gives_each_instant_to_the_lowest_rank(
    intervals: list[Interval], first: int, length: int
) -> None:
    columns = np.array(intervals, np.int64).reshape(-1, 4).T
    table = cover(
        columns[0].astype(np.int32),
        columns[1].astype(np.uint8),
        columns[2],
        columns[2] + columns[3],
        GROUPS,
        RANKS,
        (first, first + length),
    )
    expected = np.zeros((GROUPS, RANKS + 1), np.int64)
    for group in range(GROUPS):
        for time in range(first, first + length):
            expected[group, min(open_ranks(intervals, group, time), default=RANKS)] += 1
    assert table.tolist() == expected.tolist()
    assert (table.sum(axis=1) == length).all()


def test_times_far_from_zero_stay_exact() -> None:
    base = 1_700_000_000_000_000_001  # a double would round it
    group = np.zeros(2, np.int32)
    start = np.array([base, base + 2], np.int64)
    end = np.array([base + 3, base + 5], np.int64)
    assert union_ns(group, start, end, 1).tolist() == [5]
    table = cover(group, np.array([1, 0], np.uint8), start, end, 1, 2, (base, base + 7))
    assert table.tolist() == [[3, 2, 2]]
