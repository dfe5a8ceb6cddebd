"""Columns that a stream derives while it is read: picked values and running numbers."""

from typing import Any

import duckdb
import numpy as np
import pytest

from dctx.native import ColumnStream


def rows(stream: ColumnStream) -> list[tuple[object, ...]]:
    """What DuckDB reads from a stream."""
    with duckdb.connect() as connection:
        connection.register("stream", stream)
        return connection.execute("FROM stream").fetchall()


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
def test_values_are_picked_by_place_and_minus_one_is_null(dtype: type[np.generic]) -> None:
    values = np.array([10, 20, 30], dtype)
    index = np.array([2, -1, 0, 2], np.int32)
    assert rows(ColumnStream({"v": (values, index)})) == [(30,), (None,), (10,), (30,)]


def test_picked_values_may_be_null_themselves() -> None:
    values, index = np.array([-1, 7], np.int32), np.array([0, 1, -1], np.int32)
    assert rows(ColumnStream({"v": (values, index)}, nulls={"v": -1})) == [(None,), (7,), (None,)]


def test_order_applies_to_the_places_and_not_to_the_count() -> None:
    stream = ColumnStream(
        {
            "id": range(100, 103),
            "v": (np.array([5, 6, 7], np.int16), np.array([0, 1, 2], np.int32)),
        },
        order=np.array([2, 0, 1], np.uint32),
    )
    assert rows(stream) == [(100, 7), (101, 5), (102, 6)]


def test_counts_go_on_from_batch_to_batch() -> None:
    size = 300_000
    index = np.zeros(size, np.int32)
    index[1::3], index[2::3] = 1, 2
    stream = ColumnStream({"id": range(7, 7 + size), "v": (np.array([1, 2, 3], np.int8), index)})
    with duckdb.connect() as connection:
        connection.register("stream", stream)
        found = connection.execute("SELECT count(*), min(id), max(id), sum(v) FROM stream")
        assert found.fetchall() == [(size, 7, 6 + size, 2 * size)]


def test_nothing_to_pick_from() -> None:
    nothing = np.empty(0, np.int32)
    assert rows(ColumnStream({"v": (nothing, np.array([-1, -1], np.int32))})) == [(None,), (None,)]
    assert rows(ColumnStream({"v": (nothing, nothing), "id": range(5, 5)})) == []


def test_places_outside_the_values_are_refused() -> None:
    values = np.array([1, 2], np.int32)
    for place in (2, -2):
        with pytest.raises(IndexError, match="place"):
            ColumnStream({"v": (values, np.array([place], np.int32))})


def test_what_cannot_be_picked_or_counted_is_refused() -> None:
    index = np.array([0], np.int32)
    wide: Any = np.array([0], np.int64)
    with pytest.raises(TypeError):
        ColumnStream({"v": (np.array([1.5]), index)})
    with pytest.raises(TypeError):
        ColumnStream({"v": (np.array([1], np.int32), wide)})
    with pytest.raises(ValueError, match="step"):
        ColumnStream({"id": range(0, 10, 2)})
    with pytest.raises(ValueError, match="int32"):
        ColumnStream({"id": range(2**31, 2**31 + 2)})
