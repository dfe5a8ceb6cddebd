"""The tree turned over, against sums over reversed paths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctx.native import BottomUp, bottom_up

Path = tuple[int, ...]
NODES = st.lists(
    st.tuples(
        st.integers(0, 10**6),
        st.integers(0, 3),
        st.sampled_from([0, 0, 1, 2, 50]),
        st.sampled_from([0, 0, 0, 7]),
    ),
    max_size=25,
)


def columns_of(nodes: list[tuple[int, int, int, int]]) -> tuple[list[int], list[int]]:
    parent = [choice % (node + 1) - 1 for node, (choice, *_) in enumerate(nodes)]
    return parent, [frame for _, frame, *_ in nodes]


def reversed_path(parent: list[int], frame: list[int], node: int) -> Path:
    path: list[int] = []
    while node >= 0:
        path.append(frame[node])
        node = parent[node]
    return tuple(path)


def row_paths(result: BottomUp) -> list[Path]:
    parents: list[int] = result.parent.tolist()
    frames: list[int] = result.frame.tolist()
    paths: list[Path] = []
    for above, frame in zip(parents, frames, strict=True):
        paths.append((*paths[above], frame) if above >= 0 else (frame,))
    return paths


@given(NODES)
def test_values_are_sums_over_reversed_paths(nodes: list[tuple[int, int, int, int]]) -> None:
    parent, frame = columns_of(nodes)
    gpu = [value for _, _, value, _ in nodes]
    host = [value for *_, value in nodes]
    result = bottom_up(
        np.array(parent, np.int32),
        np.array(frame, np.int32),
        [np.array(gpu, np.int64), np.array(host, np.float64)],
    )
    sums: dict[Path, tuple[int, int]] = {}
    for node in range(len(nodes)):
        if gpu[node] or host[node]:
            path = reversed_path(parent, frame, node)
            for length in range(1, len(path) + 1):
                so_far = sums.get(path[:length], (0, 0))
                sums[path[:length]] = (so_far[0] + gpu[node], so_far[1] + host[node])
    paths = row_paths(result)
    assert len(set(paths)) == len(paths)
    values = zip(result.values[0].tolist(), result.values[1].tolist(), strict=True)
    assert dict(zip(paths, values, strict=True)) == sums
    assert not result.truncated
    assert [depth + 1 for depth in result.depth.tolist()] == [len(path) for path in paths]

    # Roots hold everything once; what callers hold never exceeds their callee.
    roots = result.parent == -1
    assert result.values[0][roots].sum() == sum(gpu)
    held = np.zeros(len(paths), np.int64)
    np.add.at(held, result.parent[~roots], result.values[0][~roots])
    assert (held <= result.values[0]).all()
    for row, path in enumerate(paths):
        assert frame[int(result.source[row])] == path[-1]


def test_source_is_the_heaviest_context() -> None:
    # main > a > k (1), main > b > k (9), main > b > m (5)
    parent = np.array([-1, 0, 1, 0, 3, 3], np.int32)
    frame = np.array([0, 1, 3, 2, 3, 4], np.int32)
    result = bottom_up(parent, frame, [np.array([0, 0, 1, 0, 9, 5], np.int64)])
    sources = dict(zip(row_paths(result), result.source.tolist(), strict=True))
    assert sources[(3,)] == 4
    assert sources[(3, 1)] == 1
    assert sources[(3, 2)] == 3
    assert sources[(4, 2, 0)] == 0


@given(NODES, st.integers(0, 30))
def test_a_cap_drops_whole_levels(nodes: list[tuple[int, int, int, int]], cap: int) -> None:
    parent, frame = columns_of(nodes)
    arguments = (
        np.array(parent, np.int32),
        np.array(frame, np.int32),
        [np.array([value for _, _, value, _ in nodes], np.int64)],
    )
    whole, capped = bottom_up(*arguments), bottom_up(*arguments, max_nodes=cap)
    kept = len(capped.parent)
    assert capped.parent.tolist() == whole.parent.tolist()[:kept]
    assert capped.truncated == (kept < len(whole.parent))
    depths = whole.depth.tolist()
    if capped.truncated:
        assert depths[kept] == depths[kept - 1] + 1
        assert depths.index(depths[kept]) == kept
        assert depths.count(depths[kept]) + kept > cap
    if kept and depths[kept - 1] > 0:
        assert kept <= cap


def test_bad_arguments() -> None:
    one = np.zeros(1, np.int32)
    with pytest.raises(ValueError, match="parent of node 0"):
        bottom_up(one, one, [])
    with pytest.raises(ValueError, match="exclusive"):
        bottom_up(np.array([-1], np.int32), one, [np.zeros(2, np.int64)])
    with pytest.raises(ValueError, match="max_nodes"):
        bottom_up(np.array([-1], np.int32), one, [], max_nodes=-1)
