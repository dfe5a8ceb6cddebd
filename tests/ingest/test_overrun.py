"""Operations that run over the next ones of their stream."""

import numpy as np

from dctx.ingest.arrays import NULL64
from dctx.ingest.overrun import LONGEST_NS, cut_overruns


def test_three_later_starts_are_an_overrun_two_are_an_overlap() -> None:
    start = np.array([0, 10, 20, 30, 40], np.int64)
    lane = np.zeros(5, np.int32)
    fine = cut_overruns(lane, start, np.array([25, 15, 5, 5, 5], np.int64))
    assert fine.recorded is None
    assert fine.note() is None
    cut = cut_overruns(lane, start, np.array([31, 5, 5, 5, 900], np.int64))
    assert cut.dur.tolist() == [10, 5, 5, 5, 900]
    assert cut.recorded is not None
    assert cut.recorded.tolist() == [31, NULL64, NULL64, NULL64, NULL64]
    assert (cut.overrun, cut.cut_ns) == (1, 21)
    note = cut.note()
    assert note is not None
    assert "1 GPU operations" in note[2]


def test_lanes_are_apart_and_order_does_not_matter() -> None:
    start = np.array([30, 0, 10, 20, 0], np.int64)
    lane = np.array([1, 1, 1, 1, 2], np.int32)
    cut = cut_overruns(lane, start, np.array([1, 100, 1, 1, 100], np.int64))
    assert cut.dur.tolist() == [1, 10, 1, 1, 100]


def test_kernels_of_one_graph_launch_may_overlap() -> None:
    start = np.arange(0, 50, 10, dtype=np.int64)
    lane = np.zeros(5, np.int32)
    dur = np.array([45, 1, 1, 1, 1], np.int64)
    assert cut_overruns(lane, start, dur, np.full(5, 7, np.int32)).recorded is None
    assert cut_overruns(lane, start, dur, np.full(5, -1, np.int32)).overrun == 1


def test_more_than_a_week_is_no_duration() -> None:
    one = np.zeros(1, np.int32)
    cut = cut_overruns(one, np.zeros(1, np.int64), np.array([LONGEST_NS + 1]))
    assert (cut.dur.tolist(), cut.absurd) == ([0], 1)
    assert cut_overruns(one, np.zeros(1, np.int64), np.array([LONGEST_NS])).recorded is None
    assert cut_overruns(one[:0], np.zeros(0, np.int64), np.zeros(0, np.int64)).recorded is None
