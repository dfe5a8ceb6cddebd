"""What ran beside an operator's work."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dctx.analyzers.kernel_overlap import LEAST_NS, overlapping, row_overlap
from dctx.queries.report_events import Work
from tests.near import near

Span = tuple[int, int, int, int]
"""Stream, launcher, start in µs, length in µs."""
SPANS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-1, 2), st.integers(0, 30), st.integers(0, 9)),
    max_size=9,
)


def made(spans: list[Span]) -> tuple[Work, np.ndarray[tuple[int], np.dtype[np.int32]]]:
    spans.sort(key=lambda span: span[2])
    stream, launcher, start, length = (
        np.array([span[i] for span in spans], np.int64) for i in range(4)
    )
    none = np.full(len(spans), -1, np.int32)
    work = Work(
        id=np.arange(len(spans), dtype=np.int32),
        kind=np.zeros(len(spans), np.uint8),
        device=none,
        lane=stream.astype(np.int32),
        start_ns=1000 * start,
        end_ns=1000 * (start + length),
        name=np.arange(100, 100 + len(spans), dtype=np.int32),
        launch=none,
        op=none,
        flow=none >= 0,
    )
    return work, launcher.astype(np.int32)


@given(SPANS)
def test_pairs_are_those_that_a_comparison_of_all_finds(spans: list[Span]) -> None:
    work, launcher = made(spans)
    found = overlapping(work, launcher)
    expected = {
        (a, b)
        for a in range(len(spans))
        for b in range(len(spans))
        if work.lane[a] != work.lane[b]
        and (launcher[a] != launcher[b] or launcher[a] < 0)
        and min(work.end_ns[a], work.end_ns[b]) - max(work.start_ns[a], work.start_ns[b])
        >= LEAST_NS
    }
    assert set(zip(found.event.tolist(), found.other.tolist(), strict=True)) == expected
    assert len(found.event) == len(expected)


def test_the_share_counts_each_piece_by_itself() -> None:
    # Row 0 has 0-10 and 20-30; two others run from 5 to 8 and 6 to 9, one from 28 to 40.
    work, launcher = made(
        [(0, 1, 0, 10), (0, 1, 20, 10), (1, 2, 5, 3), (2, 3, 6, 3), (1, 2, 28, 12)]
    )
    rows = np.zeros(2, np.int32)
    pieces = np.flatnonzero(launcher == 1)
    found = row_overlap(work, overlapping(work, launcher), (rows, pieces), np.array([20_000]))
    assert found.percent[0] == near(100 * (4 + 2) / 20)
    names = found.name_sets[int(found.names[0])]
    assert names == tuple(int(i) for i in work.name[launcher != 1])


def test_nothing_beside_is_nothing() -> None:
    work, launcher = made([(0, 1, 0, 10), (0, 2, 10, 10)])
    below = (np.arange(2, dtype=np.int32), np.arange(2))
    found = row_overlap(work, overlapping(work, launcher), below, np.array([10_000, 0]))
    assert found.name_sets[int(found.names[0])] == ()
    assert found.percent[0] == 0
    assert np.isnan(found.percent[1])
