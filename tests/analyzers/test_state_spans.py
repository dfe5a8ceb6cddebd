"""States read ahead are those that overlap the span asked about, and each is read once."""

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dctx.analyzers.state_spans import chosen, read_ahead
from dctx.queries.timeline import HostSpans

TIMES = st.integers(0, 40)


@given(
    st.lists(st.tuples(TIMES, TIMES), max_size=30),
    st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=8),
    st.integers(1, 7),
)
def test_what_overlaps_is_found(
    states: list[tuple[int, int]], asked: list[tuple[int, int]], rows: int
) -> None:
    states.sort(key=lambda state: state[0])
    start = np.array([start for start, _ in states], np.int64)
    end = start + np.array([length for _, length in states], np.int64)
    label = np.arange(len(states), dtype=np.int32)
    every = HostSpans(np.zeros(len(states), np.int32), start, end, label)
    read: list[int] = []

    def pieces(first_ns: int) -> Iterator[HostSpans]:
        for begin in range(0, len(states), rows):
            read.append(begin)
            piece = chosen(every, slice(begin, begin + rows))
            yield chosen(piece, piece.end_ns > first_ns)

    source = read_ahead(len(states), pieces)
    first = last = 0
    for more, length in asked:
        first += more // 4
        last = max(last, first + length)
        found = source.between(first, last).label.tolist()
        assert found == np.flatnonzero((start < last) & (end > first)).tolist()
    assert read == sorted(set(read))
