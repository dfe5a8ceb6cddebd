"""Which call launched which GPU work."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...native import intern_rows, join_first, sort_order
from ..account import count
from ..arrays import I32, I64, NULL64


class Lookup:
    """Finds rows by their id."""

    def __init__(self, ids: I64) -> None:
        self._ids = ids

    def rows(self, ids: I64) -> I32:
        """Row of each id, -1 where there is none."""
        return join_first([ids], [self._ids])


def pick(values: NDArray[Any], rows: I32, missing: int = NULL64) -> NDArray[Any]:
    """`values[rows]`, `missing` where the row is -1."""
    if not len(values):
        return np.full(len(rows), missing, values.dtype)
    return np.where(rows >= 0, values[rows], values.dtype.type(missing))


def launches(
    work: Sequence[NDArray[Any]], work_start: I64, calls: Sequence[NDArray[Any]], call_start: I64
) -> tuple[I32, int]:
    """Row of the call with the same keys (the last one is the id; NULL64 or 0: none), and for how
    many operations several calls have them: then it is the latest that began before."""
    first = join_first(work, calls).copy()
    none = (work[-1] == NULL64) | (work[-1] == 0)
    first[none] = -1
    dense, distinct = intern_rows(calls)
    if len(distinct) == len(call_start):
        return first, 0
    uses = np.bincount(dense, minlength=len(distinct))
    several = np.zeros(len(work_start), np.bool_)
    found = first >= 0
    several[found] = uses[dense[first[found]]] > 1
    rows = np.flatnonzero(several)
    if not len(rows):
        return first, 0
    first[rows] = _latest(dense[first[rows]], work_start[rows], dense, call_start, first[rows])
    return first, count(several)


def _latest(key: I32, time: I64, call_key: I32, call_time: I64, default: I32) -> I32:
    """Row of the call with the key that starts latest, at `time` at most; else the default."""
    keys = np.concatenate([call_key, key])
    times = np.concatenate([call_time, time])
    asks = np.zeros(len(keys), np.uint8)
    asks[len(call_key) :] = 1
    order = sort_order([keys, times, asks]).astype(np.int64)
    place = np.arange(len(order))
    latest = np.maximum.accumulate(np.where(asks[order] == 0, place, -1))
    row = np.where(latest >= 0, order[latest], -1)
    out = default.copy()
    at = np.flatnonzero(asks[order] == 1)
    hit = at[(row[at] >= 0) & (keys[row[at]] == keys[order[at]])]
    out[order[hit] - len(call_key)] = row[hit].astype(np.int32)
    return out
