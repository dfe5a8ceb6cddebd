"""The calling context tree, against dictionaries of paths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctx.native import PathTree, group_stats, inclusive, nest, pair_marks

FRAMES = 5
Path = tuple[int, ...]


def to_path(frames: list[int]) -> Path:
    return tuple(frames)


PATHS = st.lists(st.lists(st.integers(0, FRAMES - 1), max_size=5).map(to_path), max_size=25)


def tree_of_frames() -> PathTree:
    tree = PathTree()
    layer = np.zeros(FRAMES, np.uint8)
    assert tree.frames(layer, np.arange(FRAMES, dtype=np.int32)).tolist() == list(range(FRAMES))
    return tree


def chains_of(paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(path) for path in paths])]).astype(np.int64)
    return offsets, np.array([frame for path in paths for frame in path], np.int32)


def path_of(tree: PathTree, node: int) -> Path:
    columns = tree.columns()
    path: list[int] = []
    while node > 0:
        path.append(int(columns["frame"][node]))
        node = int(columns["parent"][node])
    return tuple(reversed(path))


def test_a_frame_is_layer_name_file_and_line() -> None:
    tree = PathTree()
    frames = [(0, 1, -1, -1), (1, 1, -1, -1), (0, 2, -1, -1), (0, 1, 3, -1), (0, 1, 3, 9)]
    assert [tree.frame(*frame) for frame in frames] == [0, 1, 2, 3, 4]
    columns = [np.array(column) for column in zip(*frames, strict=True)]
    again = tree.frames(
        columns[0].astype(np.uint8),
        columns[1].astype(np.int32),
        columns[2].astype(np.int32),
        columns[3].astype(np.int32),
    )
    assert again.tolist() == [0, 1, 2, 3, 4]
    assert tree.frame_count() == 5
    stored = tree.frame_columns()
    rows = zip(*(stored[name].tolist() for name in ("layer", "name", "file", "line")), strict=True)
    assert list(rows) == frames


@given(PATHS, st.data())
def test_a_tree_is_copied_without_some_of_its_rows(paths: list[Path], data: st.DataObject) -> None:
    """Against the paths themselves: a frame that is folded away is left out of every path."""
    whole = tree_of_frames()
    offsets, frames = chains_of(paths)
    whole.extend_chains(
        np.zeros(len(paths), np.int32), np.arange(len(paths), dtype=np.int32), offsets, frames
    )
    columns = whole.columns()
    size = len(whole)
    fate = np.array(
        [
            0,
            *data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=size - 1, max_size=size - 1)),
        ],
        np.int8,
    )
    tree = tree_of_frames()
    nodes = tree.extend_folded(columns["parent"], columns["frame"], fate).tolist()
    wanted: list[Path | None] = []
    for row in range(size):
        parent, frame = int(columns["parent"][row]), int(columns["frame"][row])
        above = to_path([]) if parent < 0 else wanted[parent]
        if above is None or fate[row] < 0:
            wanted.append(None)
        else:
            wanted.append((*above, frame) if fate[row] else above)
    assert [path_of(tree, node) if node >= 0 else None for node in nodes] == wanted
    assert len(tree) == len({path for path in wanted if path is not None})


def test_rows_before_their_parents_are_refused() -> None:
    tree = tree_of_frames()
    row, fate = np.array([1, -1], np.int32), np.ones(2, np.int8)
    with pytest.raises(ValueError, match="precede"):
        tree.extend_folded(row, np.zeros(2, np.int32), fate)
    with pytest.raises(ValueError, match="frame"):
        tree.extend_folded(np.array([-1], np.int32), np.array([9], np.int32), np.ones(1, np.int8))


@given(PATHS, st.data())
def test_paths_get_one_node_each_and_keep_it(paths: list[Path], data: st.DataObject) -> None:
    picks = data.draw(st.lists(st.integers(-1, len(paths) - 1), max_size=60))
    tree = tree_of_frames()
    offsets, frames = chains_of(paths)
    base = np.zeros(len(picks), np.int32)
    nodes = tree.extend_chains(base, np.array(picks, np.int32), offsets, frames)
    wanted: list[Path] = [paths[pick] if pick >= 0 else () for pick in picks]
    assert [path_of(tree, node) for node in nodes.tolist()] == wanted

    # Following the frames one at a time leads to the same nodes.
    size = len(tree)
    for node, path in zip(nodes.tolist(), wanted, strict=True):
        at = 0
        for frame in path:
            at = tree.child(at, frame)
        assert at == node
    assert len(tree) == size

    new_id = tree.renumber()
    assert sorted(new_id.tolist()) == list(range(size))
    assert [path_of(tree, int(new_id[node])) for node in nodes.tolist()] == wanted
    columns = tree.columns()
    last, depth = columns["last"].tolist(), columns["depth"].tolist()
    all_paths = [path_of(tree, node) for node in range(size)]
    for node, path in enumerate(all_paths):
        assert depth[node] == len(path)
        inside = [i for i, other in enumerate(all_paths) if other[: len(path)] == path]
        assert inside == list(range(node, last[node] + 1))


@given(PATHS, st.data())
def test_values_sum_over_paths(paths: list[Path], data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(0, 10**9), min_size=len(paths), max_size=len(paths)))
    tree = tree_of_frames()
    offsets, frames = chains_of(paths)
    rows = np.arange(len(paths), dtype=np.int32)
    nodes = tree.extend_chains(np.zeros(len(paths), np.int32), rows, offsets, frames)
    nodes = tree.renumber()[nodes]
    stats = group_stats(nodes, np.array(values, np.int64))
    own = np.zeros(len(tree), np.int64)
    own[stats.group] = stats.sum
    total = inclusive(tree.columns()["parent"], own)
    assert total[0] == sum(values)
    for node in range(len(tree)):
        path = path_of(tree, node)
        below = [v for v, p in zip(values, paths, strict=True) if p[: len(path)] == path]
        assert total[node] == sum(below)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.integers(0, 20),
            st.integers(0, 20),
            st.integers(0, FRAMES - 1),
            st.integers(-1, 2),
        ),
        max_size=20,
    ),
    st.lists(st.lists(st.integers(0, FRAMES - 1), max_size=3).map(to_path), min_size=3, max_size=3),
    st.booleans(),
)
def test_nested_events_hang_below_their_parents(
    events: list[tuple[int, int, int, int, int]], chains: list[Path], with_chains: bool
) -> None:
    columns = np.array(events, np.int64).reshape(-1, 5).T
    lane = columns[0].astype(np.int32)
    nesting = nest(lane, columns[1], columns[1] + columns[2], np.zeros(len(lane), np.uint8))
    tree = tree_of_frames()
    roots = np.array([tree.child(0, 3), tree.child(0, 4)], np.int32)
    frame, chain = columns[3].astype(np.int32), columns[4].astype(np.int32)
    offsets, frames = chains_of(chains)
    if with_chains:
        nodes = tree.extend_nested(
            nesting, frame, roots[lane], chain=chain, chain_offsets=offsets, chain_frames=frames
        )
    else:
        nodes = tree.extend_nested(nesting, frame, roots[lane])

    def expected(row: int) -> Path:
        parent = int(nesting.parent[row])
        path = list(expected(parent)) if parent >= 0 else [3 + int(lane[row])]
        if with_chains and chain[row] >= 0:
            path += chains[int(chain[row])]
        return (*path, int(frame[row]))

    assert [path_of(tree, node) for node in nodes.tolist()] == [
        expected(row) for row in range(len(events))
    ]


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, FRAMES - 1)), max_size=40))
def test_extend_equals_child(pairs: list[tuple[int, int]]) -> None:
    one_by_one, at_once = tree_of_frames(), tree_of_frames()
    known = 1
    for start in range(0, len(pairs), 7):
        part = [(parent % known, frame) for parent, frame in pairs[start : start + 7]]
        columns = np.array(part, np.int32).T
        nodes = at_once.extend(columns[0].copy(), columns[1].copy())
        assert nodes.tolist() == [one_by_one.child(parent, frame) for parent, frame in part]
        known = len(one_by_one)
    assert at_once.extend(np.array([-1], np.int32), np.array([0], np.int32)).tolist() == [-1]


def test_an_anchored_event_hangs_below_its_anchor_whatever_comes_first() -> None:
    tree = PathTree()
    names = [tree.frame(layer, 0) for layer in range(5)]
    root, backward, *own = names
    # Lane 0 holds the backward event (with one inside), lane 1 the forward one.
    lane = np.array([0, 0, 1], np.int32)
    start, end = np.array([50, 60, 0]), np.array([90, 70, 40])
    nesting = nest(lane, start, end, np.zeros(3, np.uint8))
    node = tree.extend_nested(
        nesting,
        np.array(own, np.int32),
        np.zeros(3, np.int32),
        anchor=np.array([2, -1, -1], np.int32),
        anchor_frame=backward,
    )
    columns = tree.columns()
    above = columns["parent"].tolist()
    frame = columns["frame"].tolist()
    marker = above[node[0]]
    assert above[node[1]] == node[0]
    assert frame[marker] == backward
    assert above[marker] == node[2]
    assert above[node[2]] == root


def test_anchors_in_a_circle_are_refused() -> None:
    tree = PathTree()
    frame = tree.frame(0, 0)
    nesting = nest(
        np.zeros(2, np.int32), np.array([0, 20]), np.array([10, 30]), np.zeros(2, np.uint8)
    )
    for anchor in ([1, 0], [0, -1]):
        with pytest.raises(ValueError, match="circle"):
            tree.extend_nested(
                nesting,
                np.full(2, frame, np.int32),
                np.zeros(2, np.int32),
                anchor=np.array(anchor, np.int32),
                anchor_frame=frame,
            )
    with pytest.raises(ValueError, match="anchor"):
        tree.extend_nested(
            nesting,
            np.full(2, frame, np.int32),
            np.zeros(2, np.int32),
            anchor=np.array([7, -1], np.int32),
            anchor_frame=frame,
        )


def parents(events: list[tuple[int, int]], preferred: list[int], tolerance_ns: int) -> list[int]:
    start, end = (np.array(column, np.int64) for column in zip(*events, strict=True))
    rows = len(events)
    nesting = nest(
        np.zeros(rows, np.int32),
        start,
        end,
        np.zeros(rows, np.uint8),
        tolerance_ns=tolerance_ns,
        preferred=np.array(preferred, np.int32),
    )
    found: list[int] = nesting.parent.tolist()
    return found


def test_a_preferred_parent_wins_only_where_containment_lands_above_it() -> None:
    outer, middle, late = (0, 100), (10, 50), (48, 51)
    # `late` overhangs `middle` by 1: more than half of it lies inside.
    assert parents([outer, middle, late], [-1, -1, -1], 0) == [-1, 0, 0]
    assert parents([outer, middle, late], [-1, -1, 1], 0) == [-1, 0, 0]  # not inside
    assert parents([outer, middle, (49, 51)], [-1, -1, 1], 1) == [-1, 0, 1]
    # What is found deeper is kept, and so is a parent that knows nothing of the lane.
    assert parents([outer, middle, (20, 30)], [-1, -1, 0], 0) == [-1, 0, 1]
    assert parents([outer, middle, (60, 70)], [-1, -1, 1], 0) == [-1, 0, 0]
    assert parents([outer, (5, 10), (10, 11)], [-1, -1, 1], 1) == [-1, 0, 1]


def pairs(text: str) -> list[int]:
    """Marks as letters: upper case begins, lower case ends; `.` ends whatever is open."""
    names = np.array([-1 if c == "." else ord(c.lower()) for c in text], np.int32)
    begins = np.array([c.isupper() for c in text], np.uint8)
    found: list[int] = pair_marks(np.zeros(len(text), np.int32), begins, names).tolist()
    return found


def test_ends_close_the_latest_begin_of_their_name() -> None:
    assert pairs("ABba") == [3, 2, 1, 0]
    assert pairs("ABab") == [2, 3, 0, 1]
    assert pairs("AAa") == [-1, 2, 1]
    assert pairs("aA") == [-1, -1]
    assert pairs("AB..") == [3, 2, 1, 0]
    assert pairs("ABa.") == [2, 3, 0, 1]
    assert pairs("AB.b") == [-1, 2, 1, -1]
    assert pairs(".") == [-1]


def test_marks_of_groups_never_meet() -> None:
    found = pair_marks(
        np.array([0, 1, 0], np.int32), np.array([1, 0, 0], np.uint8), np.zeros(3, np.int32)
    )
    assert found.tolist() == [2, -1, 0]
