"""Blame for spans of time against an oracle that asks for every instant."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctx.native import blame

TIME = 24
State = tuple[int, int, int, int, int]  # lane, start, length, rank, label
Span = tuple[int, int, int, int]  # lane, group, start, end

states = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, TIME), st.integers(0, 8), st.integers(0, 2),
        st.integers(-1, 4),
    ),
    max_size=10,
)  # fmt: skip


@st.composite
def span_lists(draw: st.DrawFn) -> list[Span]:
    """Disjoint spans of each (lane, group)."""
    spans: list[Span] = []
    for lane in (-1, 0, 1):
        for group in (0, 1):
            edges = sorted(draw(st.lists(st.integers(0, TIME + 4), max_size=6)))
            spans += [(lane, group, a, b) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    return spans


def ask(rows: list[State], spans: list[Span], keys: list[int]) -> Counter[tuple[int, int]]:
    table = np.array(rows, np.int64).reshape(-1, 5)
    asked = np.array(spans, np.int64).reshape(-1, 4)
    found = blame(
        table[:, 0].astype(np.int32), table[:, 1].copy(), table[:, 1] + table[:, 2],
        table[:, 3].astype(np.uint8), table[:, 4].astype(np.int32),
        span_lane=asked[:, 0].astype(np.int32), span_group=asked[:, 1].astype(np.int32),
        span_key=np.array(keys, np.int32),
        span_start=asked[:, 2].copy(), span_end=asked[:, 3].copy(),
    )  # fmt: skip
    sums: Counter[tuple[int, int]] = Counter()
    for key, label, ns in zip(
        found.key.tolist(), found.label.tolist(), found.ns.tolist(), strict=True
    ):
        assert ns > 0
        sums[key, label] += ns
    return sums


def winner(rows: list[State], lane: int, time: int) -> int:
    """The open state of the lowest rank, of several the last to start; of those that start
    together the shortest, of equal ones the last row."""
    best: tuple[tuple[int, int, int, int], int] | None = None
    for number, (own, start, length, rank, label) in enumerate(rows):
        if own == lane and start <= time < start + length and label >= 0:
            order = (-rank, start, -length, number)
            if best is None or order > best[0]:
                best = order, label
    return -1 if best is None else best[1]


@given(states, span_lists())
def test_every_instant_goes_to_the_state_that_counts(rows: list[State], spans: list[Span]) -> None:
    keys = [index % 3 for index in range(len(spans))]
    expected: Counter[tuple[int, int]] = Counter()
    for key, (lane, _, start, end) in zip(keys, spans, strict=True):
        for time in range(start, end):
            expected[key, winner(rows, lane, time)] += 1
    assert ask(rows, spans, keys) == expected


@given(states, span_lists())
def test_the_rows_of_a_key_sum_to_its_spans(rows: list[State], spans: list[Span]) -> None:
    found = ask(rows, spans, list(range(len(spans))))
    sums: Counter[int] = Counter()
    for (key, _), ns in found.items():
        sums[key] += ns
    assert sums == Counter({i: end - start for i, (*_, start, end) in enumerate(spans)})


def test_overlapping_spans_of_a_group_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        ask([], [(0, 0, 1, 5), (0, 0, 4, 6)], [0, 1])


def test_no_spans_no_rows() -> None:
    assert ask([(0, 1, 2, 0, 3)], [], []) == Counter()
