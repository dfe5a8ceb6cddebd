"""Joins in time: the latest row with the same keys that started before."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...native import sort_order
from ..arrays import I32, I64


def latest_before(
    left: Sequence[NDArray[Any]],
    left_time: I64,
    right: Sequence[NDArray[Any]],
    right_time: I64,
    *,
    same_time: bool,
) -> I32:
    """For each left row the right row with equal keys that starts latest before it, -1 without
    one. `same_time`: one that starts at the same instant counts too."""
    lefts, rights = len(left_time), len(right_time)
    keys = [np.concatenate([b, a]) for a, b in zip(left, right, strict=True)]
    time = np.concatenate([right_time, left_time])
    is_left = np.zeros(rights + lefts, np.uint8)
    is_left[rights:] = 1
    order = sort_order([*keys, time, is_left if same_time else 1 - is_left])
    candidate = np.where(is_left[order] == 0, np.arange(len(order)), -1)
    latest = np.maximum.accumulate(candidate) if len(order) else candidate
    changed = np.zeros(len(order), np.bool_)
    for key in keys:
        sorted_key = key[order]
        changed[1:] |= sorted_key[1:] != sorted_key[:-1]
    changed[:1] = True
    group_start = np.maximum.accumulate(np.where(changed, np.arange(len(order)), 0))
    found = np.where(latest >= group_start, latest, -1)
    out = np.full(lefts, -1, np.int32)
    rows = np.flatnonzero(is_left[order])
    hit = rows[found[rows] >= 0]
    out[order[hit].astype(np.int64) - rights] = order[found[hit]]
    return out
