"""What contexts were called with, where calls were summed up as they ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnStream, intern_rows, sort_order
from .arrays import I32, I64
from .writer import StoreWriter


@dataclass(slots=True)
class CalledWith:
    """Calls, a row a context and set of arguments; rows of the same context and set add up. Texts
    are ids of the pool."""

    node: I32
    set: I32
    """A row of `shapes` and `types`; -1: further ones, not told apart."""
    calls: I64
    dur_ns: I64
    """Of the calls, from begin to end."""
    shapes: I32
    """By set: JSON lists, one entry an argument."""
    types: I32
    """-1: not known."""


def write_called_with(writer: StoreWriter, found: CalledWith, nodes: I32) -> None:
    """Fill `op_args` and `path_args`; nodes: the store's node of each value of `found.node`."""
    index, first = intern_rows([found.shapes, found.types])
    sets: dict[str, NDArray[Any] | range] = {
        "id": range(len(first)),
        "shapes": found.shapes[first],
        "types": found.types[first],
    }
    writer.insert("op_args", ColumnStream(sets, nulls={"types": -1}))
    keys = [nodes[found.node], np.append(index, np.int32(-1))[found.set].astype(np.int32)]
    row, first = intern_rows(keys)
    sums = np.zeros((2, len(first)), np.int64)
    np.add.at(sums[0], row, found.calls)
    np.add.at(sums[1], row, found.dur_ns)
    node, args = (key[first] for key in keys)
    writer.insert(
        "path_args",
        ColumnStream(
            {"node": node, "args": args, "calls": sums[0], "host_dur_sum_ns": sums[1]},
            order=sort_order([node, args]),
            nulls={"args": -1},
        ),
    )
