"""Keys of rows, orders and sums by group, against plain Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dctx.native import (
    PlaceSums,
    group_stats,
    inclusive,
    intern_rows,
    is_sorted,
    join_first,
    sort_order,
    subtree_samples,
)

INTEGERS: list[type[np.integer[Any]]] = [
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
    np.uint64,
]
Column = NDArray[Any]


@st.composite
def column(draw: st.DrawFn, rows: int) -> Column:
    dtype = draw(st.sampled_from(INTEGERS))
    limits = np.iinfo(dtype)
    few = st.integers(max(int(limits.min), -2), 3)
    values = few | st.sampled_from([int(limits.min), int(limits.max)])
    return np.array(draw(st.lists(values, min_size=rows, max_size=rows)), dtype)


@st.composite
def table(draw: st.DrawFn, columns: int | None = None) -> list[Column]:
    rows = draw(st.integers(0, 40))
    count = columns or draw(st.integers(1, 4))
    return [draw(column(rows)) for _ in range(count)]


def tuples(columns: Sequence[Column]) -> list[tuple[int, ...]]:
    return [tuple(int(value) for value in row) for row in zip(*columns, strict=True)]


@given(table())
def test_sort_order_is_the_stable_order(columns: list[Column]) -> None:
    rows = tuples(columns)
    assert sort_order(columns).tolist() == sorted(range(len(rows)), key=rows.__getitem__)
    assert is_sorted(columns) == (rows == sorted(rows))


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=12),
    st.integers(1, 3),
    st.booleans(),
)
def test_sort_order_of_tables_in_time_order(lengths: list[int], lanes: int, mixed: bool) -> None:
    """Several tables one after the other, each in time order, lanes mixed or apart."""
    rng = np.random.default_rng(sum(lengths))
    time = np.concatenate([np.sort(rng.integers(0, 50, length)) for length in lengths])
    lane = rng.integers(0, lanes, len(time)).astype(np.int32)
    if not mixed:
        lane.sort()
    rows = tuples([lane, time])
    assert sort_order([lane, time]).tolist() == sorted(range(len(rows)), key=rows.__getitem__)


@given(table())
def test_intern_rows_gives_ids_by_first_use(columns: list[Column]) -> None:
    ids, first_rows = intern_rows(columns)
    known: dict[tuple[int, ...], int] = {}
    rows = tuples(columns)
    assert ids.tolist() == [known.setdefault(row, len(known)) for row in rows]
    assert first_rows.tolist() == [rows.index(row) for row in known]


@given(st.data(), st.integers(1, 3))
def test_join_first_finds_the_first_equal_row(data: st.DataObject, columns: int) -> None:
    left = data.draw(table(columns))
    right = data.draw(table(columns))
    first: dict[tuple[int, ...], int] = {}
    for row, key in enumerate(tuples(right)):
        first.setdefault(key, row)
    assert join_first(left, right).tolist() == [first.get(key, -1) for key in tuples(left)]


def test_joins_of_many_sparse_keys() -> None:
    rng = np.random.default_rng(3)
    process = rng.integers(0, 2, 50_000) << 60
    key = rng.integers(0, 1 << 40, 50_000)
    order = rng.permutation(50_000)
    ids, first_rows = intern_rows([process, key])
    expected = first_rows[ids]
    assert np.array_equal(join_first([process, key], [process, key]), expected)
    found = join_first([process[order], key[order]], [process, key])
    assert np.array_equal(found, expected[order])
    assert (join_first([process, key + (1 << 40)], [process, key]) == -1).all()


@given(
    st.sampled_from([np.int16, np.int64]),
    st.lists(
        st.tuples(
            st.integers(-2, 5) | st.sampled_from([30_000, 32_767]), st.integers(-(10**9), 10**9)
        )
    ),
    st.sampled_from([1, 10**14]),
)
def test_group_stats(
    dtype: type[np.signedinteger[Any]], rows: list[tuple[int, int]], far: int
) -> None:
    spread = far if dtype is np.int64 else 1
    group = np.array([group * spread for group, _ in rows], dtype)
    stats = group_stats(group, np.array([value for _, value in rows], np.int64))
    values: dict[int, list[int]] = {}
    for key, (_, value) in zip(group.tolist(), rows, strict=True):
        if key >= 0:
            values.setdefault(key, []).append(value)
    groups = sorted(values)
    assert stats.group.tolist() == groups
    assert stats.count.tolist() == [len(values[g]) for g in groups]
    assert stats.sum.tolist() == [sum(values[g]) for g in groups]
    assert stats.min.tolist() == [min(values[g]) for g in groups]
    assert stats.max.tolist() == [max(values[g]) for g in groups]
    squares = [float(sum(v * v for v in values[g])) for g in groups]
    assert np.allclose(stats.sum_squares, squares, rtol=1e-12)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(-(10**12), 10**12))))
def test_inclusive_sums_subtrees(nodes: list[tuple[int, int]]) -> None:
    parent = [choice % (row + 1) - 1 for row, (choice, _) in enumerate(nodes)]
    exclusive = [value for _, value in nodes]
    expected = list(exclusive)
    for row, value in enumerate(exclusive):
        above = parent[row]
        while above >= 0:
            expected[above] += value
            above = parent[above]
    parents = np.array(parent, np.int32)
    assert inclusive(parents, np.array(exclusive, np.int64)).tolist() == expected
    halves = inclusive(parents, np.array(exclusive, np.float64) / 2)
    assert halves.tolist() == [value / 2 for value in expected]


def test_samples_of_subtrees_step_by_step() -> None:
    # Two steps of rank 0, one of rank 1; row 1 is below row 0. Nodes 1 and 3 are in row 1, node 2
    # in none.
    step = np.array([2, 0, 0, 1, 1, 0], np.int32)
    node = np.array([1, 0, 3, 1, 3, 2], np.int32)
    value = np.array([5, 1, 2, 3, 1, 1000], np.int64)
    for order in (np.arange(6), np.argsort(step, kind="stable")):
        own, squares = subtree_samples(
            np.array([-1, 0], np.int32),
            step[order],
            node[order],
            np.array([0, 1, -1, 1], np.int64),
            value[order],
            np.array([0, 0, 1], np.int64),
            2,
        )
        # Rank 0: row 0 had 1 + 2 and 4, row 1 had 2 and 4. Rank 1: both had 5, row 1's own.
        assert own.tolist() == [[1, 2 + 4], [0, 5]]
        assert squares.tolist() == [[9 + 16, 4 + 16], [25, 25]]


@pytest.mark.parametrize(
    ("step", "node", "row", "rank"),
    [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (-1, 0, 0, 0), (0, 0, -2, 0)],
)
def test_samples_of_what_is_not_there(step: int, node: int, row: int, rank: int) -> None:
    def small(value: int) -> NDArray[np.int32]:
        return np.array([value], np.int32)

    def one(value: int) -> Column:
        return np.array([value], np.int64)

    with pytest.raises(ValueError, match="no such"):
        subtree_samples(small(-1), small(step), small(node), one(row), one(7), one(rank), 1)


@given(st.lists(st.lists(st.tuples(
    st.integers(-1, 6), st.integers(0, 4), st.integers(-(10**12), 10**12), st.integers(0, 9)
))))  # fmt: skip
def test_sums_by_place_and_group(pieces: list[list[tuple[int, int, int, int]]]) -> None:
    sums = PlaceSums(5, 2)
    expected: dict[int, dict[int, list[int]]] = {}
    for piece in pieces:
        place, group = (np.array([e[i] for e in piece], np.int32) for i in (0, 1))
        first, second = (np.array([e[i] for e in piece], np.int64) for i in (2, 3))
        sums.add(place, group, (first, second))
        for at, of, one, two in piece:
            if at >= 0:
                found = expected.setdefault(at, {}).setdefault(of, [0, 0, 0])
                for i, value in enumerate((1, one, two)):
                    found[i] += value
    place, group, count, (first, second) = sums.take()
    assert list(zip(*(c.tolist() for c in (place, group, count, first, second)), strict=True)) == [
        (at, of, *expected[at][of]) for at in sorted(expected) for of in expected[at]
    ]
    # Begun anew.
    sums.add(np.array([4], np.int32), np.array([2], np.int32), [np.array([n]) for n in (7, 8)])
    place, group, count, (first, second) = sums.take()
    columns = (place, group, count, first, second)
    assert [column.tolist() for column in columns] == [[4], [2], [1], [7], [8]]


def test_sums_of_places_that_take_turns() -> None:
    # More runs than are kept: they are merged in between.
    rows = 1 << 21
    place = (np.arange(rows) % 2).astype(np.int32)
    group = (np.arange(rows) % 3).astype(np.int32)
    sums = PlaceSums(3, 1)
    sums.add(place, group, (np.arange(rows),))
    at_place, of_group, count, (total,) = sums.take()
    pairs = zip(at_place.tolist(), of_group.tolist(), strict=True)
    found = dict(zip(pairs, zip(count.tolist(), total.tolist(), strict=True), strict=True))
    assert len(found) == len(count)
    assert found == {
        (at, of): (len(range(first, rows, 6)), sum(range(first, rows, 6)))
        for first in range(6)
        for at, of in [(first % 2, first % 3)]
    }


def test_sums_of_what_is_not_there() -> None:
    sums = PlaceSums(1, 1)
    none, one = np.zeros(1, np.int32), np.ones(1, np.int32)
    value = np.ones(1, np.int64)
    for group in (one, -one):
        with pytest.raises(ValueError, match="no group"):
            sums.add(none, group, (value,))
    with pytest.raises(ValueError, match="expected 1 columns"):
        sums.add(none, none, (value, value))
    with pytest.raises(ValueError, match="value"):
        sums.add(none, none, (np.ones(2, np.int64),))
    assert [len(column) for column in sums.take()[:3]] == [0, 0, 0]


@pytest.mark.parametrize("first", [0, 10**6, 2**40])
def test_groups_that_lie_close_together_wherever_they_begin(first: int) -> None:
    group = np.array([5, -1, 3, 5], np.int64)
    group[group >= 0] += first
    stats = group_stats(group, np.array([1, 2, 4, 8], np.int64))
    assert stats.group.tolist() == [first + 3, first + 5]
    assert (stats.sum.tolist(), stats.count.tolist()) == ([4, 9], [1, 2])
