"""What contexts were called with, where calls were summed up as they ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
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
    other: I32
    """By set: JSON of what has no column, -1: none."""


def joined(parts: Sequence[CalledWith]) -> CalledWith | None:
    """One of several; None without any row."""
    if not any(len(part.node) for part in parts):
        return None
    first: list[int] = np.cumsum([0, *(len(part.shapes) for part in parts)]).tolist()
    columns = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(CalledWith)
    }
    columns["set"] = np.concatenate(
        [
            np.where(part.set >= 0, part.set + at, -1).astype(np.int32)
            for part, at in zip(parts, first, strict=False)
        ]
    )
    return CalledWith(**columns)


def write_called_with(writer: StoreWriter, found: CalledWith, nodes: I32) -> None:
    """Fill `op_args` and `path_args`; nodes: the store's node of each value of `found.node`."""
    index, first = intern_rows([found.shapes, found.types, found.other])
    sets: dict[str, NDArray[Any] | range] = {
        "id": range(len(first)),
        "shapes": found.shapes[first],
        "types": found.types[first],
        "other": found.other[first],
    }
    writer.insert("op_args", ColumnStream(sets, nulls={"shapes": -1, "types": -1, "other": -1}))
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
