"""Visible rows of a tree, against a model that walks the whole tree each time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctx.native import TreeModel

NODES = st.lists(st.integers(0, 10**6), min_size=1, max_size=25)
OPERATION = st.tuples(
    st.sampled_from(
        ["expand", "collapse", "expand_subtree", "reveal"] * 3
        + ["expand_all", "collapse_all", "order", "float_order", "filter", "no_filter"]
    ),
    st.integers(0, 10**6),
)


class Naive:
    def __init__(self, parent: list[int]) -> None:
        self.parent = parent
        self.below: dict[int, list[int]] = {node: [] for node in range(-1, len(parent))}
        for node, above in enumerate(parent):
            self.below[above].append(node)
        self.expanded: set[int] = set()
        self.unfiltered: set[int] | None = None
        self.shown = set(range(len(parent)))

    def ancestors(self, node: int) -> list[int]:
        found: list[int] = []
        while (node := self.parent[node]) >= 0:
            found.append(node)
        return found

    def subtree(self, node: int) -> list[int]:
        return [node, *(deep for child in self.below[node] for deep in self.subtree(child))]

    def branches(self, nodes: list[int]) -> set[int]:
        return {node for node in nodes if self.below[node]}

    def filter(self, match: list[int]) -> None:
        before = self.expanded if self.unfiltered is None else self.unfiltered
        self.unfiltered = set(before)
        matches = [node for node, hit in enumerate(match) if hit]
        above = {node for hit in matches for node in self.ancestors(hit)}
        self.expanded = before | above
        self.shown = above | {node for hit in matches for node in self.subtree(hit)}

    def remove_filter(self) -> None:
        self.shown = set(range(len(self.parent)))
        if self.unfiltered is not None:
            self.expanded, self.unfiltered = self.unfiltered, None

    def order(self, key: list[float], descending: bool) -> None:
        for children in self.below.values():
            children.sort(key=lambda node: (-key[node] if descending else key[node], node))

    def children(self, node: int) -> list[int]:
        return [child for child in self.below[node] if child in self.shown]

    def rows(self, node: int = -1) -> list[int]:
        found: list[int] = []
        for child in self.children(node):
            found.append(child)
            if child in self.expanded:
                found += self.rows(child)
        return found


def apply(model: TreeModel, naive: Naive, operation: str, choice: int) -> None:
    size = len(naive.parent)
    node = choice % size
    rng = np.random.default_rng(choice)
    match operation:
        case "expand":
            model.expand(node)
            naive.expanded |= naive.branches([node])
        case "collapse":
            model.collapse(node)
            naive.expanded.discard(node)
        case "expand_subtree":
            model.expand_subtree(node)
            naive.expanded |= naive.branches(naive.subtree(node))
        case "reveal":
            model.reveal(node)
            naive.expanded |= set(naive.ancestors(node))
        case "expand_all":
            model.expand_all()
            naive.expanded = naive.branches(list(range(size)))
        case "collapse_all":
            model.collapse_all()
            naive.expanded = set()
        case "order" | "float_order":
            key = rng.integers(-3, 4, size)
            descending = bool(rng.integers(0, 2))
            model.set_order(key / 2 if operation == "float_order" else key, descending)
            naive.order([float(value) for value in key], descending)
        case "filter":
            match_column = (rng.random(size) < 0.2).astype(np.uint8)
            model.set_filter(match_column)
            naive.filter(match_column.tolist())
        case _:
            model.set_filter(None)
            naive.remove_filter()


@given(NODES, st.lists(OPERATION, max_size=30))
def test_random_operations(choices: list[int], operations: list[tuple[str, int]]) -> None:
    parent = [choice % (node + 1) - 1 for node, choice in enumerate(choices)]
    model, naive = TreeModel(np.array(parent, np.int32)), Naive(parent)
    for operation, choice in operations:
        apply(model, naive, operation, choice)
        rows = naive.rows()
        assert model.row_count() == len(rows)
        assert model.rows(0, len(rows)).tolist() == rows
        middle = len(rows) // 2
        assert model.rows(middle, 3).tolist() == rows[middle : middle + 3]
        for node in range(len(parent)):
            assert model.row_of(node) == (rows.index(node) if node in rows else -1)
            assert model.is_expanded(node) == (node in naive.expanded)
            assert model.children(node).tolist() == naive.children(node)
            assert model.has_children(node) == bool(naive.children(node))


@given(NODES, st.data(), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_hot_path_follows_the_heaviest_child(
    choices: list[int], data: st.DataObject, share: float
) -> None:
    parent = [choice % (node + 1) - 1 for node, choice in enumerate(choices)]
    size = len(parent)
    key = data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    naive = Naive(parent)
    expected = [data.draw(st.integers(0, size - 1))]
    while positive := [child for child in naive.below[expected[-1]] if key[child] > 0]:
        heaviest = max(positive, key=lambda child: (key[child], -child))
        if key[heaviest] < share * key[expected[-1]]:
            break
        expected.append(heaviest)
    model = TreeModel(np.array(parent, np.int32))
    for column in (np.array(key, np.int64), np.array(key, np.float64)):
        assert model.hot_path(expected[0], column, share).tolist() == expected


def test_nan_comes_last_and_ties_keep_the_order_of_ids() -> None:
    model = TreeModel(np.full(5, -1, np.int32))
    key = np.array([np.nan, 1.0, np.inf, -0.0, 0.0])
    model.set_order(key)
    assert model.rows(0, 5).tolist() == [2, 1, 3, 4, 0]
    model.set_order(key, descending=False)
    assert model.rows(0, 5).tolist() == [3, 4, 1, 2, 0]


def test_a_tree_of_a_hundred_thousand_levels() -> None:
    size = 100_000
    model = TreeModel(np.arange(-1, size - 1, dtype=np.int32))
    model.expand_all()
    assert model.row_of(size - 1) == size - 1
    model.collapse(10)
    assert model.row_count() == 11
    model.reveal(size - 1)
    assert model.rows(size - 2, 10).tolist() == [size - 2, size - 1]


def test_unknown_nodes_are_refused() -> None:
    model = TreeModel(np.array([-1, 0], np.int32))
    for node in (-1, 2):
        with pytest.raises(ValueError, match="no such node"):
            model.expand(node)
        with pytest.raises(ValueError, match="no such node"):
            model.children(node)
