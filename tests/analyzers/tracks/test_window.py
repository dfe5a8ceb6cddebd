"""Lines of events and windows of them, against counting every nanosecond."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dctx.analyzers.tracks import seek
from dctx.analyzers.tracks.line import STRIDE, Line, lines_of, union_line
from dctx.analyzers.tracks.window import LEAST_BOX, Window, line_columns

TIME = 60
Events = list[tuple[int, int]]
EVENTS = st.lists(
    st.tuples(st.integers(0, TIME), st.integers(0, 12)).map(lambda e: (e[0], e[0] + e[1])),
    max_size=25,
).map(sorted)
FAST = settings(max_examples=60, deadline=None)


def lines(events: Events, names: list[int] | None = None) -> list[Line]:
    start = np.array([start for start, _ in events], np.int64)
    end = np.array([end for _, end in events], np.int64)
    name = np.array(names or [0] * len(events), np.int32)
    return lines_of(start, end, name, 100)


def placed(found: list[Line]) -> dict[int, tuple[int, int]]:
    return {line.event(k): line.span(k) for line in found for k in range(len(line))}


def apart(events: Events) -> Events:
    """Some of them that do not overlap."""
    kept: Events = []
    for start, end in events:
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


@FAST
@given(EVENTS)
def test_every_event_is_on_one_line_and_hides_none(events: Events) -> None:
    found = lines(events)
    assert placed(found) == {100 + k: span for k, span in enumerate(events)}
    assert sum(len(line) for line in found) == len(events)
    for line in found:
        spans = [line.span(k) for k in range(len(line))]
        assert all(b[0] >= a[1] for a, b in pairwise(spans))
    deepest = max((sum(a <= t < b for a, b in events) for t in range(2 * TIME)), default=0)
    points = any(a == b for a, b in events)
    assert len(found) == deepest or (points and len(found) >= deepest)


def test_nested_events_hang_below_those_around_them() -> None:
    found = lines([(0, 10), (0, 100), (20, 40), (25, 30), (50, 60)])
    spans = [[line.span(k) for k in range(len(line))] for line in found]
    assert spans == [[(0, 100)], [(0, 10), (20, 40), (50, 60)], [(25, 30)]]
    assert [line.event(0) for line in found] == [101, 100, 103]


@FAST
@given(EVENTS, st.integers(0, TIME), st.integers(1, 40), st.integers(1, 12))
def test_columns_of_a_window(events: Events, start: int, width: int, columns: int) -> None:
    """In units that no edge of a column cuts."""
    scale = 1_000 * columns
    spans = [(a * scale, b * scale) for a, b in apart(events)]
    whole = Window.whole(0, 200 * scale)
    window = whole.at(start * scale, width * scale)
    assert (window.start_ns, window.width_ns) == (start * scale, width * scale)
    edges = window.edges(columns).tolist()
    for line in lines(spans):
        shown = line_columns(line, window, columns)
        expected = [
            sum(max(0, min(b, right) - max(a, left)) for a, b in spans)
            for left, right in pairwise(edges)
        ]
        assert shown.busy_ns.tolist() == expected
        union = union_line([line])
        inside = union.busy_until(np.array([window.start_ns, window.end_ns], np.int64))
        assert int(shown.busy_ns.sum()) == int(inside[1] - inside[0])
        begun = [sum(left <= a < right for a, _ in spans) for left, right in pairwise(edges)]
        assert shown.begun.tolist() == begun
        boxes: list[tuple[int, int, int]] = []
        for place, (a, b) in enumerate(spans):
            left, right = (
                int((min(max(t, window.start_ns), window.end_ns) - window.start_ns)
                    / window.width_ns * columns + 0.5)
                for t in (a, b)
            )  # fmt: skip
            if right - left >= LEAST_BOX:
                boxes.append((place, left, right))
        assert [(box.place, box.left, box.right) for box in shown.boxes] == boxes


@FAST
@given(st.integers(0, 5_000), st.integers(1_000, 9_000), st.integers(1, 70), st.integers(0, 14_000))
def test_an_instant_lies_in_its_column(start: int, width: int, columns: int, at: int) -> None:
    window = Window.whole(0, 20_000).at(start, width)
    edges = window.edges(columns).tolist()
    column = window.column(at, columns)
    if window.start_ns <= at < window.end_ns:
        assert edges[column] <= at < edges[column + 1]
        assert window.column(window.time(column, columns), columns) == column
    else:
        assert not 0 <= column < columns


@FAST
@given(EVENTS)
def test_the_union_is_when_any_is_busy(events: Events) -> None:
    union = union_line(lines(events))
    busy = [any(a <= t < b for a, b in events) for t in range(2 * TIME)]
    assert union.busy_ns == sum(busy)
    at = np.arange(2 * TIME, dtype=np.int64)
    assert union.busy_until(at).tolist() == [sum(busy[:t]) for t in range(2 * TIME)]


def test_a_window_stays_inside_the_whole() -> None:
    whole = Window.whole(1_000, 101_000)
    assert whole.is_whole
    near = whole.zoomed(1, 2, 26_000)
    assert (near.start_ns, near.end_ns) == (13_500, 63_500)
    assert near.column(26_000, 100) == whole.column(26_000, 100) == 25
    assert near.zoomed(2, 1, 26_000) == whole
    assert near.panned(-1_000_000).start_ns == 1_000
    assert near.panned(1_000_000).end_ns == 101_000
    assert whole.zoomed(1, 1_000_000, 50_000).width_ns == 1_000
    assert whole.around(40_000, 60_000) == whole.at(30_000, 40_000)
    assert near.showing(20_000) == near
    assert near.showing(90_000) == whole.at(51_000, 50_000)


@FAST
@given(EVENTS, st.integers(-2, 2 * TIME), st.integers(1, 6), st.data())
def test_seeking_against_looking_at_each(
    events: Events, at: int, least: int, data: st.DataObject
) -> None:
    spans = apart(events)
    if not spans:
        return
    names = data.draw(st.lists(st.integers(0, 2), min_size=len(spans), max_size=len(spans)))
    [line] = lines(spans, names)
    running = [k for k, (a, b) in enumerate(spans) if a <= at < b or a == b == at]
    found = seek.event_at(line, at)
    assert found == (running[-1] if running else None)
    after = [k for k, (a, _) in enumerate(spans) if a > at]
    before = [k for k, (a, _) in enumerate(spans) if a < at]
    assert seek.next_event(line, at, 1) == (after[0] if after else None)
    assert seek.next_event(line, at, -1) == (before[-1] if before else None)
    pauses = [(b, c) for (_, b), (c, _) in pairwise(spans) if c - b >= least]
    later = [pause for pause in pauses if pause[0] > at]
    earlier = [pause for pause in pauses if pause[0] < at]
    assert seek.next_pause([line], at, 1, least) == (later[0] if later else None)
    assert seek.next_pause([line], at, -1, least) == (earlier[-1] if earlier else None)
    for k, name in enumerate(names):
        same = [other for other, text in enumerate(names) if text == name]
        nth = same.index(k)
        assert seek.next_named(line, k, 1) == (same[nth + 1] if nth + 1 < len(same) else None)
        assert seek.next_named(line, k, -1) == (same[nth - 1] if nth else None)
        assert seek.place_of(line, line.event(k), spans[k][0]) == k
    assert seek.place_of(line, 99, spans[0][0]) is None


def test_far_ones_are_found_over_many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seek, "PIECE", 3)
    [line] = lines([(10 * k, 10 * k + 10) for k in range(20)], [7, *[0] * 18, 7])
    assert seek.next_named(line, 0, 1) == 19
    assert seek.next_named(line, 19, -1) == 0
    assert seek.next_pause([line], 0, 1, 1) is None


@FAST
@given(EVENTS, st.integers(-2, 2 * TIME), st.integers(1, 6), st.integers(1, 3))
def test_pauses_of_several_lines_are_those_of_their_union(
    events: Events, at: int, least: int, piece: int
) -> None:
    found = lines([(a, b) for a, b in events if a < b])  # others are no part of a union
    if not found:
        return
    union = union_line(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seek, "PIECE", piece)
        later, earlier = (seek.next_pause(found, at, way, least) for way in (1, -1))
    assert later == seek.next_pause([union], at, 1, least)
    assert earlier == seek.next_pause([union], at, -1, least)
    if all(seek.event_at(line, at) is None for line in found):
        assert seek.pause_at(found, at) == seek.pause_at([union], at)


def test_sums_of_many_events_and_long_ones() -> None:
    """Over several stretches of events whose durations are added up together."""
    count = 3 * STRIDE + 5
    long = 1 << 33  # more than fits into 32 bits
    for scale in (1, long):
        spans = [(4 * k * scale, (4 * k + 1 + k % 3) * scale) for k in range(count)]
        [line] = lines(spans, [70_000, *[-1] * (count - 1)])
        at = [t * scale for t in range(-1, 4 * count + 2)]
        expected = [sum(max(0, min(t, b) - a) for a, b in spans) for t in at]
        assert line.busy_until(np.array(at, np.int64)).tolist() == expected
        assert line.busy_ns == expected[-1]
        assert [line.span(k) for k in range(count)] == spans
        assert line.name.tolist() == [70_000, *[-1] * (count - 1)]
