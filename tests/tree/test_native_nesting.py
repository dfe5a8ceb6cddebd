"""Containment of events, against its definition applied to every pair of events."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dctx.native import Nesting, locate, nest, union_ns

LANES = (0, 1, 7)
Event = tuple[int, int, int, int]  # lane, start, length, rank
EVENTS = st.lists(
    st.tuples(st.sampled_from(LANES), st.integers(0, 25), st.integers(0, 20), st.integers(0, 2)),
    max_size=25,
)


class Naive:
    def __init__(self, events: list[Event], tolerance: int) -> None:
        self.events = events
        self.order = sorted(
            range(len(events)),
            key=lambda i: (events[i][0], events[i][1], -events[i][2], events[i][3], i),
        )
        self.parent = [-1] * len(events)
        self.partial_overlaps = 0
        for place, row in enumerate(self.order):
            self.parent[row] = self._parent(self.order[:place], row, tolerance)

    def end(self, row: int) -> int:
        return self.events[row][1] + self.events[row][2]

    def open_at(self, rows: list[int], lane: int, time: int) -> list[int]:
        """Latest start last."""
        return [
            i for i in rows if self.events[i][0] == lane and self.events[i][1] <= time < self.end(i)
        ]

    def _parent(self, before: list[int], row: int, tolerance: int) -> int:
        lane, start, length, _ = self.events[row]
        is_open = self.open_at(before, lane, start)
        if not is_open:
            return -1
        overhang = self.end(row) - self.end(is_open[-1])
        if overhang <= 0 or (overhang <= tolerance and 2 * (length - overhang) >= length):
            return is_open[-1]
        self.partial_overlaps += 1
        return next((i for i in reversed(is_open) if self.end(i) >= self.end(row)), -1)

    def innermost(self, lane: int, time: int) -> int:
        return next(reversed(self.open_at(self.order, lane, time)), -1)

    def self_times(self) -> list[int]:
        spent = [0] * len(self.events)
        for lane in LANES:
            for time in range(50):
                row = self.innermost(lane, time)
                if row >= 0:
                    spent[row] += 1
        return spent


def run(events: list[Event], tolerance: int = 0) -> tuple[Nesting, np.ndarray]:
    columns = np.array(events, np.int64).reshape(-1, 4).T
    lane, start, end = columns[0].astype(np.int32), columns[1], columns[1] + columns[2]
    nesting = nest(lane, start, end, columns[3].astype(np.uint8), tolerance_ns=tolerance)
    return nesting, union_ns(lane, start, end, max(LANES) + 1)


@given(EVENTS, st.sampled_from([0, 0, 1, 5]))
def test_parents_and_self_times(events: list[Event], tolerance: int) -> None:
    naive = Naive(events, tolerance)
    nesting, unions = run(events, tolerance)
    assert nesting.order.tolist() == naive.order
    assert nesting.parent.tolist() == naive.parent
    assert nesting.partial_overlaps == naive.partial_overlaps
    assert nesting.self_ns.tolist() == naive.self_times()
    depth = [0] * len(events)
    for row in naive.order:
        if naive.parent[row] >= 0:
            depth[row] = depth[naive.parent[row]] + 1
    assert nesting.depth.tolist() == depth
    for lane in LANES:
        own = [
            t for t, event in zip(nesting.self_ns.tolist(), events, strict=True) if event[0] == lane
        ]
        assert sum(own) == unions[lane]


@given(EVENTS, st.lists(st.tuples(st.integers(0, 8), st.integers(-2, 48)), max_size=40))
def test_locate_finds_the_innermost_open_event(
    events: list[Event], points: list[tuple[int, int]]
) -> None:
    columns = np.array(events, np.int64).reshape(-1, 4).T
    lane, start, end = columns[0].astype(np.int32), columns[1], columns[1] + columns[2]
    nesting = nest(lane, start, end, columns[3].astype(np.uint8))
    at = np.array(points, np.int64).reshape(-1, 2).T
    found = locate(nesting, lane, start, end, at[0].astype(np.int32), at[1])
    naive = Naive(events, 0)
    assert found.tolist() == [naive.innermost(lane, time) for lane, time in points]


def test_arrays_outlive_their_nesting() -> None:
    nesting, _ = run([(0, 0, 10, 0), (0, 2, 3, 0)])
    parent = nesting.parent
    del nesting
    assert parent.tolist() == [-1, 0]
    assert not parent.flags.writeable
