"""Alignment of two trees: which nodes are partners, and where they stand in the merged tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dctx.native import MergedTree, TextColumn, align_trees

BASE_ONLY, TARGET_ONLY, SAME, NORMALISED, RENAMED, MOVED = range(6)


@dataclass
class Node:
    """`truth` names a node across edits; the name is what the aligner sees."""

    name: str
    truth: int
    below: list[Node] = field(default_factory=list["Node"])


class Tree:
    def __init__(self, roots: Sequence[Node]) -> None:
        self.parent: list[int] = []
        self.names: list[str] = []
        self.truth: list[int] = []
        pending = [(root, -1) for root in reversed(roots)]
        while pending:
            node, parent = pending.pop()
            row = len(self.parent)
            self.parent.append(parent)
            self.names.append(node.name)
            self.truth.append(node.truth)
            pending += [(child, row) for child in reversed(node.below)]


def tree(text: str) -> Tree:
    """One node a line, indented by one space a level."""
    roots: list[Node] = []
    path: list[Node] = []
    for number, line in enumerate(text.strip("\n").splitlines()):
        depth = len(line) - len(line.lstrip())
        node = Node(line.strip(), number)
        (path[depth - 1].below if depth else roots).append(node)
        path[depth:] = [node]
    return Tree(roots)


def aligned(base: Tree, target: Tree) -> MergedTree:
    keys = sorted({*base.names, *target.names})
    names = sorted({key.split("@")[0] for key in keys})

    def columns(side: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (
            np.array(side.parent, np.int32),
            np.array([keys.index(n) for n in side.names], np.int32),
            np.array([names.index(n.split("@")[0]) for n in side.names], np.int32),
        )

    kinds = np.zeros(len(names), np.uint8)  # names of a program
    texts = TextColumn.from_list(names)
    return align_trees(columns(base), columns(target), texts, kinds, kinds)


def rows(base: Tree, target: Tree) -> set[tuple[str, str, str, int]]:
    """(base name, target name, name of the row above, kind); a row's name is the target's."""
    merged = aligned(base, target)

    def name(row: int) -> str:
        b, t = int(merged.base[row]), int(merged.target[row])
        return target.names[t] if t >= 0 else base.names[b]

    found: set[tuple[str, str, str, int]] = set()
    for row in range(len(merged.base)):
        b, t = int(merged.base[row]), int(merged.target[row])
        above, kind = int(merged.parent[row]), int(merged.kind[row])
        assert above < row
        found.add(
            (
                base.names[b] if b >= 0 else "",
                target.names[t] if t >= 0 else "",
                name(above) if above >= 0 else "",
                kind,
            )
        )
    assert sorted(merged.base[merged.base >= 0].tolist()) == list(range(len(base.names)))
    assert sorted(merged.target[merged.target >= 0].tolist()) == list(range(len(target.names)))
    return found


BASE = """
main
 load
 step
  forward
   attention
    gemm
    softmax
   mlp
    linear
    gelu
  backward
   grad_gemm
"""


def test_equal_trees_are_the_same_throughout() -> None:
    merged = aligned(tree(BASE), tree(BASE))
    assert (merged.kind == SAME).all()
    assert (merged.base == merged.target).all()
    assert merged.parent.tolist() == tree(BASE).parent


def test_line_shift_is_the_same_name() -> None:
    found = rows(tree(BASE), tree(BASE.replace("gemm", "gemm@12", 1)))
    assert ("gemm", "gemm@12", "attention", NORMALISED) in found
    assert {kind for *_, kind in found} == {SAME, NORMALISED}


def test_rename() -> None:
    found = rows(tree(BASE), tree(BASE.replace("   mlp", "   gated_ffn")))
    assert ("mlp", "gated_ffn", "forward", RENAMED) in found
    assert ("gelu", "gelu", "gated_ffn", SAME) in found


def test_move_stands_below_the_common_caller() -> None:
    target = """
main
 load
 step
  forward
   attention
    gemm
    softmax
  backward
   grad_gemm
   mlp
    linear
    gelu
"""
    found = rows(tree(BASE), tree(target))
    assert ("mlp", "mlp", "step", MOVED) in found
    assert ("linear", "linear", "mlp", SAME) in found


def test_inserted_and_deleted_frames() -> None:
    wrapped = BASE.replace(
        "   mlp\n    linear\n    gelu", "   compiled\n    mlp\n     linear\n     gelu"
    )
    for base, target, wrapper in (
        (BASE, wrapped, ("", "compiled", "forward", TARGET_ONLY)),
        (wrapped, BASE, ("compiled", "", "forward", BASE_ONLY)),
    ):
        found = rows(tree(base), tree(target))
        assert wrapper in found
        assert ("mlp", "mlp", "forward", MOVED) in found
        assert ("gelu", "gelu", "mlp", SAME) in found


def test_split_function_keeps_its_parts() -> None:
    target = BASE.replace(
        "   mlp\n    linear\n    gelu",
        "   mlp_in\n    linear\n    gelu\n     erf\n   mlp_out\n    norm\n     rsqrt",
    )
    base = BASE.replace("    gelu", "    gelu\n     erf\n    norm\n     rsqrt")
    found = rows(tree(base), tree(target))
    assert ("mlp", "mlp_in", "forward", RENAMED) in found
    assert ("norm", "norm", "forward", MOVED) in found
    assert ("rsqrt", "rsqrt", "norm", SAME) in found


def test_fused_kernel_is_new_and_its_parts_are_gone() -> None:
    target = BASE.replace("    linear\n    gelu", "    triton_poi_fused_0")
    found = rows(tree(BASE), tree(target))
    assert ("", "triton_poi_fused_0", "mlp", TARGET_ONLY) in found
    assert ("linear", "", "mlp", BASE_ONLY) in found
    assert ("gelu", "", "mlp", BASE_ONLY) in found


def test_changed_order_changes_nothing() -> None:
    target = BASE.replace("    gemm\n    softmax", "    softmax\n    gemm")
    assert {kind for *_, kind in rows(tree(BASE), tree(target))} == {SAME}


def test_removed_and_new_subtrees_stay_whole() -> None:
    base = BASE.replace("  backward", "  old_sampler\n   launch\n    argmax\n  backward")
    target = BASE.replace("  backward", "  broadcast\n   launch\n    nccl\n  backward")
    found = rows(tree(base), tree(target))
    assert ("launch", "", "old_sampler", BASE_ONLY) in found
    assert ("", "launch", "broadcast", TARGET_ONLY) in found


def test_other_layers_never_pair() -> None:
    columns = (np.array([-1], np.int32), np.array([0], np.int32), np.array([0], np.int32))
    other = (np.array([-1], np.int32), np.array([1], np.int32), np.array([1], np.int32))
    names = TextColumn.from_list(["gemm_1", "gemm_2"])
    kinds = np.zeros(2, np.uint8)
    found = {
        layers: len(align_trees(columns, other, names, np.array(layers, np.uint8), kinds).base)
        for layers in ((0, 0), (0, 1))
    }
    assert found == {(0, 0): 1, (0, 1): 2}


def test_empty_trees_and_bad_input() -> None:
    nothing = tree("")
    assert len(aligned(nothing, nothing).base) == 0
    assert aligned(nothing, tree("a")).kind.tolist() == [TARGET_ONLY]
    one = np.zeros(1, np.int32)
    root = np.array([-1], np.int32)
    names = TextColumn.from_list(["a"])
    kind = np.zeros(1, np.uint8)
    with pytest.raises(ValueError, match="name: not a row"):
        align_trees((root, one, one + 1), (root, one, one), names, kind, kind)
    with pytest.raises(ValueError, match="parent"):
        align_trees((one, one, one), (root, one, one), names, kind, kind)
    with pytest.raises(ValueError, match="key: has 2 rows"):
        align_trees((root, np.zeros(2, np.int32), one), (root, one, one), names, kind, kind)
    with pytest.raises(ValueError, match="kind: not a kind"):
        align_trees((root, one, one), (root, one, one), names, kind, kind + 6)
    with pytest.raises(ValueError, match="kinds: has 2 rows"):
        align_trees((root, one, one), (root, one, one), names, kind, np.zeros(2, np.uint8))


def test_a_chain_too_deep_for_recursion() -> None:
    depth = 200_000
    parent = np.arange(-1, depth - 1, dtype=np.int32)
    zero = np.zeros(depth, np.int32)
    side = (parent, zero, zero)
    names, kind = TextColumn.from_list(["f"]), np.zeros(1, np.uint8)
    merged = align_trees(side, side, names, kind, kind)
    assert (merged.kind == SAME).all()
    shorter = (parent[:-7], zero[:-7], zero[:-7])
    merged = align_trees(side, shorter, names, kind, kind)
    assert (merged.kind == BASE_ONLY).sum() == 7


# ---------------------------------------------------------------- random edits --


def _grown(random: np.random.Generator, size: int) -> list[Node]:
    nodes: list[Node] = []
    for number in range(size):
        node = Node(f"{random.choice(_WORDS)}_{random.choice(_WORDS)}_{number % 61}", number)
        if nodes:
            parent = nodes[int(random.integers(max(0, number - 40), number))]
            parent.below.append(node)
        nodes.append(node)
    return nodes


_WORDS = ("attention", "norm", "gemm", "copy", "sample", "schedule", "prepare", "gather", "launch")


def _edited(nodes: list[Node], random: np.random.Generator, edits: int) -> set[int]:
    """Edits the tree in place; the truths of the nodes that an edit touched."""
    touched: set[int] = set()
    parents = {child.truth: node for node in nodes for child in node.below}
    for number in range(edits):
        node = nodes[int(random.integers(1, len(nodes)))]
        if node.truth in touched or parents[node.truth].truth in touched:
            continue
        above = parents[node.truth].below
        touched.add(node.truth)
        match int(random.integers(5)):
            case 0:
                node.name = f"renamed_{number}"
            case 1:  # a frame around it
                above[above.index(node)] = Node(f"wrapper_{number}", -1, [node])
            case 2:  # itself taken out
                at = above.index(node)
                above[at : at + 1] = node.below
                for child in node.below:
                    parents[child.truth] = parents[node.truth]
                node.below = []
            case 3:
                random.shuffle(node.below)
            case _:  # new work
                node.below.insert(0, Node(f"added_{number}", -1, [Node(f"new_{number}", -1)]))
    return touched


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(50, 400), share=st.floats(0, 0.1))
def test_unchanged_nodes_pair_up(seed: int, size: int, share: float) -> None:
    before = _grown(np.random.default_rng(seed), size)
    after = _grown(np.random.default_rng(seed), size)
    touched = _edited(after, np.random.default_rng(seed + 1), round(share * size))
    base, target = Tree(before[:1]), Tree(after[:1])
    merged = aligned(base, target)
    both = (merged.base >= 0) & (merged.target >= 0)
    left: list[int] = merged.base[both].tolist()
    partners: list[int] = merged.target[both].tolist()
    pairs = dict(zip(left, partners, strict=True))
    unchanged = [b for b, truth in enumerate(base.truth) if truth not in touched]
    right = sum(b in pairs and target.truth[pairs[b]] == base.truth[b] for b in unchanged)
    assert right >= 0.95 * len(unchanged)
    # The roles of the trees do not matter.
    turned = aligned(target, base)
    assert set(zip(turned.target.tolist(), turned.base.tolist(), strict=True)) == set(
        zip(merged.base.tolist(), merged.target.tolist(), strict=True)
    )
