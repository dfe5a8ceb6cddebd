"""Keys of rows, orders and sums by group, against plain Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dctx.native import (
    group_stats,
    inclusive,
    intern_rows,
    is_sorted,
    join_first,
    sort_order,
    subtree_squares,
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


def test_squares_of_subtrees_step_by_step() -> None:
    # Two steps of rank 0, one of rank 1; node 1 is below node 0.
    squares = subtree_squares(
        np.array([-1, 0], np.int32),
        np.array([2, 0, 0, 1], np.int64),
        np.array([1, 0, 1, 1], np.int64),
        np.array([5, 1, 2, 4], np.int64),
        np.array([0, 0, 1], np.int64),
        2,
    )
    # Rank 0: node 0 had 1 + 2 and 4, node 1 had 2 and 4. Rank 1: both had 5.
    assert squares.tolist() == [[9 + 16, 4 + 16], [25, 25]]


@pytest.mark.parametrize(("step", "node", "rank"), [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0)])
def test_squares_of_what_is_not_there(step: int, node: int, rank: int) -> None:
    def one(value: int) -> Column:
        return np.array([value], np.int64)

    with pytest.raises(ValueError, match="no such"):
        subtree_squares(np.array([-1], np.int32), one(step), one(node), one(7), one(rank), 1)


@pytest.mark.parametrize("first", [0, 10**6, 2**40])
def test_groups_that_lie_close_together_wherever_they_begin(first: int) -> None:
    group = np.array([5, -1, 3, 5], np.int64)
    group[group >= 0] += first
    stats = group_stats(group, np.array([1, 2, 4, 8], np.int64))
    assert stats.group.tolist() == [first + 3, first + 5]
    assert (stats.sum.tolist(), stats.count.tolist()) == ([4, 9], [1, 2])
