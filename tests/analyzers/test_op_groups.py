"""Statistics over groups of rows."""

import numpy as np

from dctx.analyzers.op_groups import group_rows, spread
from tests.near import near


def test_groups_stand_in_order_of_their_time_and_then_of_their_first_row() -> None:
    groups = group_rows([np.array([5, 6, 5, 7], np.int32)], np.array([1, 9, 2, 3], np.int64))
    assert groups.of_row.tolist() == [1, 0, 1, 2]
    assert groups.first.tolist() == [1, 0, 3]
    assert groups.count.tolist() == [1, 2, 1]
    assert groups.total.tolist() == [9, 3, 3]


def test_statistics_are_those_of_a_sample() -> None:
    value = np.array([4, 7, 2, 9, 5], np.int64)
    found = spread(group_rows([np.array([0, 1, 0, 0, 0], np.int32)], value), value)
    assert (found.total.tolist(), found.mean.tolist()) == ([20, 7], [5.0, 7.0])
    assert (found.low.tolist(), found.high.tolist()) == ([2, 7], [9, 7])
    assert found.median.tolist() == [4.5, 7.0]
    assert found.std[0] == near((26 / 3) ** 0.5)
    assert np.isnan(found.std[1])
