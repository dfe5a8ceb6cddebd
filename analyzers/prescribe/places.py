"""Places in a tree of calling contexts. Parents precede children; the root's parent is -1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]


def nearest(parent: I32, marked: Mask) -> I32:
    """For each row itself or its nearest ancestor that is marked; -1 where there is none."""
    rows = np.arange(len(parent), dtype=np.int32)
    found = np.append(np.where(marked, rows, parent), np.int32(-1)).astype(np.int32)
    stopped = np.append(marked, True)
    while True:
        waiting = np.flatnonzero(~stopped[found])
        if not len(waiting):
            return found[:-1]
        found[waiting] = found[found[waiting]]


def common(parent: I32, depth: NDArray[np.int16], first: I32, second: I32) -> I32:
    """The innermost row that is, or is around, both of each pair."""
    a, b = first.copy(), second.copy()
    while True:
        apart = np.flatnonzero(a != b)
        if not len(apart):
            return a
        deeper = depth[a[apart]] >= depth[b[apart]]
        up_a, up_b = apart[deeper], apart[~deeper]
        a[up_a] = parent[a[up_a]]
        b[up_b] = parent[b[up_b]]


def innermost(parent: I32, hits: I32, value: I64, part: float = 0.5) -> list[int]:
    """Of nested hits one each: the innermost that holds at least `part` of what the hit around it
    has. `value` by row. The greatest first."""
    is_hit = np.zeros(len(parent), np.bool_)
    is_hit[hits] = True
    outer = nearest(parent, is_hit)
    kept: dict[int, list[int]] = {}
    top: list[int] = []
    for row in sorted(hits.tolist(), reverse=True):  # children before their parents
        below = kept.pop(row, [])
        inside = sum(int(value[r]) for r in below)
        mine = below if below and inside >= part * int(value[row]) else [row]
        around = int(outer[parent[row]]) if parent[row] >= 0 else -1
        if around >= 0:
            kept.setdefault(around, []).extend(mine)
        else:
            top += mine
    return sorted(top, key=lambda row: (-int(value[row]), row))
