"""Sets of intervals against a brute-force oracle that looks at every instant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctx.native import IntervalSets

GROUPS = 3
TIME = 24
Intervals = list[tuple[int, int, int]]

intervals = st.lists(
    st.tuples(st.integers(-1, GROUPS - 1), st.integers(0, TIME), st.integers(0, 6)), max_size=12
)
windows = st.tuples(st.integers(0, TIME), st.integers(0, TIME)).map(sorted)


def sets_of(rows: Intervals) -> IntervalSets:
    group = np.array([g for g, _, _ in rows], np.int32)
    start = np.array([s for _, s, _ in rows], np.int64)
    return IntervalSets(group, start, start + np.array([d for *_, d in rows], np.int64), GROUPS)


def instants(sets: IntervalSets) -> list[set[int]]:
    """The instants of each group; intervals must be disjoint, ascending and not touching."""
    found: list[set[int]] = [set() for _ in range(len(sets))]
    last: dict[int, int] = {}
    rows = zip(sets.group.tolist(), sets.start.tolist(), sets.end.tolist(), strict=True)
    for group, start, end in rows:
        assert start < end
        assert start > last.get(group, -1)
        last[group] = end
        found[group] |= set(range(start, end))
    assert sets.group.tolist() == sorted(sets.group.tolist())
    assert sets.lengths().tolist() == [len(group) for group in found]
    assert sets.count == len(sets.start)
    return found


def expected(rows: Intervals) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(GROUPS)]
    for group, start, length in rows:
        if group >= 0:
            found[group] |= set(range(start, start + length))
    return found


@given(intervals)
def test_union(rows: Intervals) -> None:
    assert instants(sets_of(rows)) == expected(rows)


@given(intervals, intervals)
def test_set_operations(left: Intervals, right: Intervals) -> None:
    a, b = sets_of(left), sets_of(right)
    pairs = list(zip(expected(left), expected(right), strict=True))
    assert instants(a & b) == [x & y for x, y in pairs]
    assert instants(a | b) == [x | y for x, y in pairs]
    assert instants(a - b) == [x - y for x, y in pairs]
    assert a.overlap(b).tolist() == [len(x & y) for x, y in pairs]


@given(intervals, windows)
def test_clip_and_gaps(rows: Intervals, window: list[int]) -> None:
    inside = set(range(*window))
    sets = sets_of(rows)
    assert instants(sets.clip(*window)) == [group & inside for group in expected(rows)]
    assert instants(sets.gaps(*window)) == [inside - group for group in expected(rows)]


@given(
    intervals, st.lists(st.tuples(st.integers(-1, GROUPS - 1), st.integers(0, TIME)), max_size=9)
)
def test_points(rows: Intervals, points: list[tuple[int, int]]) -> None:
    group = np.array([g for g, _ in points], np.int32)
    at = np.array([t for _, t in points], np.int64)
    covered = expected(rows)
    assert sets_of(rows).count_inside(group, at).tolist() == [
        sum(g == index and t in covered[index] for g, t in points) for index in range(GROUPS)
    ]


@given(intervals, st.lists(st.integers(0, GROUPS - 1), max_size=5))
def test_taking_groups(rows: Intervals, groups: list[int]) -> None:
    covered = expected(rows)
    taken = sets_of(rows).take(np.array(groups, np.int32))
    assert instants(taken) == [covered[group] for group in groups]


def test_wrong_input_is_refused() -> None:
    sets = sets_of([(0, 1, 2)])
    one = np.array([0], np.int32)
    times = np.array([5], np.int64)
    with pytest.raises(ValueError, match="groups"):
        _ = sets & IntervalSets(one, times, times + 1, 1)
    with pytest.raises(ValueError, match="out of range"):
        sets.take(np.array([GROUPS], np.int32))
    with pytest.raises(ValueError, match="out of range"):
        sets.count_inside(np.array([GROUPS], np.int32), times)
    with pytest.raises(ValueError, match="out of range"):
        IntervalSets(one + 1, times, times + 1, 1)
    with pytest.raises(ValueError, match="ends before"):
        IntervalSets(one, times, times - 1, 1)
    with pytest.raises(ValueError, match="rows"):
        IntervalSets(one, times, times[:0], 1)
    with pytest.raises(ValueError, match="ends before"):
        sets.clip(5, 4)
    with pytest.raises(ValueError, match="negative"):
        IntervalSets(one, times, times, -1)


def test_arrays_outlive_the_sets() -> None:
    start = sets_of([(0, 1, 2), (2, 7, 1)]).start
    assert start.tolist() == [1, 7]
    with pytest.raises(ValueError, match="read-only"):
        start[0] = 3
