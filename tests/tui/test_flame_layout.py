"""Where frames of a flame graph stand, against trees worked out by hand and against brute force."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dctx.tui.widgets.flame_layout import FlameLayout, Frame


def layout(parents: list[int], sizes: list[float]) -> FlameLayout:
    return FlameLayout(np.array(parents, np.int32), np.array(sizes, np.float64))


def test_children_stand_inside_their_parent_the_widest_first() -> None:
    tree = layout([-1, 0, 0, 2], [100, 25, 50, 50])
    assert tree.levels(-1, 40, 9) == [
        [Frame(0, 0, 40)],
        [Frame(2, 0, 20), Frame(1, 20, 10)],
        [Frame(3, 0, 20)],
    ]
    assert tree.levels(2, 40, 9) == [[Frame(2, 0, 40)], [Frame(3, 0, 40)]]
    assert tree.levels(-1, 40, 2) == tree.levels(-1, 40, 9)[:2]
    assert tree.way(3) == [0, 2, 3]
    assert tree.widest_child(0) == 2
    assert tree.widest_child(3) == -1


def test_a_frame_that_rounds_to_nothing_is_left_out() -> None:
    tree = layout([-1, 0, 0], [100, 1, 99])
    assert tree.levels(-1, 10, 9) == [[Frame(0, 0, 10)], [Frame(2, 0, 10)]]


def test_several_roots_and_none() -> None:
    assert layout([-1, -1], [30, 10]).levels(-1, 8, 9) == [[Frame(0, 0, 6), Frame(1, 6, 2)]]
    assert layout([-1, 0], [0, 0]).levels(-1, 8, 9) == []
    assert layout([], []).levels(-1, 8, 9) == []


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[float]]:
    """Random trees in pre-order: a node's size is its own and that of its children."""
    count = draw(st.integers(1, 40))
    parents = [-1]
    way = [0]
    for node in range(1, count):
        del way[draw(st.integers(1, len(way))) :]
        parents.append(way[-1])
        way.append(node)
    sizes = [float(draw(st.integers(0, 50))) for _ in range(count)]
    for node in range(count - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    return parents, sizes


@settings(deadline=None)
@given(trees(), st.integers(1, 60))
def test_frames_never_overlap_and_stay_inside_their_parents(
    tree: tuple[list[int], list[float]], width: int
) -> None:
    parents, sizes = tree
    found = layout(parents, sizes).levels(-1, width, 99)
    spans: dict[int, tuple[int, int]] = {}
    for level in found:
        end = 0
        for frame in level:
            assert frame.width >= 1
            assert frame.x >= end
            end = frame.x + frame.width
            spans[frame.node] = (frame.x, end)
        assert end <= width
    for node, (start, end) in spans.items():
        # By brute force: what lies before it inside its parents, rounded once.
        before, at = 0.0, node
        while parents[at] >= 0:
            siblings = [k for k in range(len(parents)) if parents[k] == parents[at]]
            siblings.sort(key=lambda k: -sizes[k])  # stable: of equal ones the first first
            before += sum(sizes[k] for k in siblings[: siblings.index(at)])
            at = parents[at]
        scale = width / sizes[0]
        assert abs(start - before * scale) <= 0.5 + 1e-6
        assert abs(end - (before + sizes[node]) * scale) <= 0.5 + 1e-6
        if parents[node] >= 0:
            above = spans[parents[node]]
            assert above[0] <= start
            assert end <= above[1]
