"""Arguments of the wrong type, length or range are refused; strided arrays are taken."""

from collections.abc import Callable

import numpy as np
import pytest

from dctx import native

I32 = np.zeros(2, np.int32)
I64 = np.zeros(2, np.int64)
U8 = np.zeros(2, np.uint8)
THREE = np.zeros(3, np.int64)
NESTING = native.nest(I32, I64, I64, U8)
COLUMN = native.TextColumn.from_list(["a"])


def tree_with_frames() -> native.PathTree:
    tree = native.PathTree()
    tree.frame(0, 0)
    return tree


BAD: dict[str, Callable[[], object]] = {
    "int64 for int32": lambda: native.nest(I64, I64, I64, U8),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    "float keys": lambda: native.sort_order([np.zeros(2)]),
    "no keys": lambda: native.intern_rows([]),
    "no join keys": lambda: native.join_first([], []),
    "two dimensions": lambda: native.sort_order([np.zeros((2, 2), np.int64)]),
    "key lengths": lambda: native.sort_order([I64, THREE]),
    "numbers of keys": lambda: native.join_first([I64, I64], [I64]),
    "lengths in nest": lambda: native.nest(I32, I64, THREE, U8),
    "rank length": lambda: native.nest(I32, I64, I64, np.zeros(1, np.uint8)),
    "ends before start": lambda: native.nest(I32, I64 + 1, I64, U8),
    "times too large": lambda: native.nest(I32, I64, I64 + 2**62, U8),
    "negative tolerance": lambda: native.nest(I32, I64, I64, U8, tolerance_ns=-1),
    "other events": lambda: native.locate(NESTING, np.zeros(3, np.int32), THREE, THREE, I32, I64),
    "point lengths": lambda: native.locate(NESTING, I32, I64, I64, I32, THREE),
    "stats lengths": lambda: native.group_stats(I32, THREE),
    "inclusive lengths": lambda: native.inclusive(I32 - 1, THREE),
    "inclusive type": lambda: native.inclusive(I32 - 1, I32),
    "own parent": lambda: native.inclusive(I32, I64),
    "parent below -1": lambda: native.inclusive(I32 - 2, I64),
    "group beyond": lambda: native.union_ns(I32 + 1, I64, I64, 1),
    "negative groups": lambda: native.union_ns(I32 - 1, I64, I64, -1),
    "rank beyond": lambda: native.cover(I32, U8 + 2, I64, I64, 1, 2, (0, 1)),
    "negative ranks": lambda: native.cover(I32, U8, I64, I64, 1, -1, (0, 1)),
    "window": lambda: native.cover(I32, U8, I64, I64, 1, 1, (1, 0)),
    "unknown parent": lambda: tree_with_frames().extend(I32 + 1, I32),
    "unknown frame": lambda: tree_with_frames().extend(I32, I32 + 1),
    "unknown child frame": lambda: tree_with_frames().child(0, -1),
    "nested lengths": lambda: tree_with_frames().extend_nested(NESTING, I32[:1], I32),
    "unknown lane root": lambda: tree_with_frames().extend_nested(NESTING, I32, I32 + 5),
    "chain alone": lambda: tree_with_frames().extend_nested(NESTING, I32, I32, chain=I32),
    "no offsets": lambda: tree_with_frames().extend_chains(I32, I32, I64[:0], I32),
    "offsets beyond": lambda: tree_with_frames().extend_chains(I32, I32, I64 + 3, I32),
    "unknown chain": lambda: tree_with_frames().extend_chains(I32, I32 + 1, I64, I32),
    "text row": lambda: native.StringPool().intern_rows(COLUMN, I64 + 1),
    "string id": lambda: native.StringPool().name_keys(I32),
    "model parents": lambda: native.TreeModel(I32),
    "order length": lambda: native.TreeModel(I32 - 1).set_order(THREE),
    "filter length": lambda: native.TreeModel(I32 - 1).set_filter(U8[:1]),
    "negative row": lambda: native.TreeModel(I32 - 1).rows(-1, 5),
    "hot path node": lambda: native.TreeModel(I32 - 1).hot_path(2, I64),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_value_errors(name: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        BAD[name]()


def test_renumbered_trees_no_longer_grow() -> None:
    tree = tree_with_frames()
    assert tree.renumber().tolist() == [0]
    with pytest.raises(RuntimeError, match="renumbered"):
        tree.extend(I32, I32)


def test_strided_and_unaligned_arrays_are_taken() -> None:
    wide = np.arange(20, dtype=np.int64)[::-2]
    assert native.sort_order([wide]).tolist() == list(range(9, -1, -1))
    packed = np.zeros(4, np.dtype([("flag", np.uint8), ("value", np.int64)]))
    packed["value"] = [3, 1, 2, 0]
    assert native.sort_order([packed["value"]]).tolist() == [3, 1, 2, 0]
    stats = native.group_stats(np.zeros(4, np.int8), packed["value"])
    assert stats.sum.tolist() == [6]


def test_results_are_read_only() -> None:
    for array in (native.sort_order([I64]), native.group_stats(I32, I64).sum):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
