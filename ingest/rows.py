"""Event tables are sorted, and their rows numbered in that order."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnStream, is_sorted, sort_order
from .arrays import I32, U32
from .writer import StoreWriter

Column = NDArray[Any] | tuple[NDArray[Any], I32] | range


def order_of(keys: list[NDArray[Any]]) -> U32 | None:
    """Order by the keys; None when they are in order already."""
    return None if is_sorted(keys) else sort_order(keys)


def positions(order: U32 | None, rows: int, first: int) -> I32:
    """Id of each row when rows are numbered from `first` in `order`."""
    ids = np.arange(first, first + rows, dtype=np.int32)
    if order is None:
        return ids
    out = np.empty(rows, np.int32)
    out[order] = ids
    return out


def insert(
    writer: StoreWriter,
    table: str,
    columns: Mapping[str, Column],
    order: U32 | None,
    nulls: Mapping[str, int],
) -> None:
    """Append rows in `order`. `nulls`: markers, also of columns that are not there."""
    known = {name: null for name, null in nulls.items() if name in columns}
    writer.insert(table, ColumnStream(columns, order=order, nulls=known))
