"""Samples of instructions, as any reader finds them, and the two tables that they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnStream, intern_rows, sort_order
from .arrays import I16, I32, I64, NULL32, NULL64, Mask
from .writer import StoreWriter

_PLACE: Final = ("kernel", "module", "function", "offset", "text", "file", "line")
_TEXTS: Final = ("kernel", "module", "function", "text", "file")


@dataclass(slots=True)
class StallSamples:
    """Columns of one length; a row is an instruction, a context and a reason. Texts are ids of the
    pool. Rows of the same instruction, node, device, reason and `spread` add up."""

    kernel: I32
    module: I32
    """-1: not known, in this column and the other ones of texts."""
    function: I32
    offset: I64
    """Bytes from the function's start, or from the module's; NULL64: not known."""
    text: I32
    file: I32
    line: I32
    """NULL32: not known."""
    node: I32
    """Where the kernel ran, -1: not known."""
    device: I16
    """-1: not known."""
    reason: I32
    """A name as `stall_names.canonical` gives it; -1: recorded without reasons."""
    samples: I64
    not_issued: I64
    """NULL64: not known."""
    spread: Mask

    def __len__(self) -> int:
        return len(self.kernel)


def joined(parts: Sequence[StallSamples]) -> StallSamples | None:
    """One set of columns of several; None without any row."""
    if not any(map(len, parts)):
        return None
    return StallSamples(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(StallSamples)
        }
    )


def write_stalls(writer: StoreWriter, found: StallSamples, nodes: I32) -> None:
    """Fill `instruction` and `stall`; nodes: the store's node of each value of `found.node`."""
    where: list[NDArray[Any]] = [getattr(found, name) for name in _PLACE]
    place, first = intern_rows(where)
    # Numbered in their order, so that the instructions of one function lie together.
    order = sort_order([column[first] for column in where])
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    places: dict[str, NDArray[Any] | range] = {"id": range(len(order))}
    for name, column in zip(_PLACE, where, strict=True):
        places["offset_bytes" if name == "offset" else name] = column[first][order]
    nulls = {**dict.fromkeys(_TEXTS, -1), "offset_bytes": NULL64, "line": NULL32}
    writer.insert("instruction", ColumnStream(places, nulls=nulls))
    keys: list[NDArray[Any]] = [
        number[place],
        np.append(nodes, np.int32(-1))[found.node],
        found.device,
        found.reason,
        found.spread.astype(np.uint8),
    ]
    row, first = intern_rows(keys)
    columns: dict[str, NDArray[Any]] = {
        "instruction": keys[0][first],
        "node": keys[1][first],
        "device": found.device[first],
        "reason": found.reason[first],
        "samples": _added(row, len(first), found.samples),
        "not_issued": _added(row, len(first), found.not_issued),
        "spread": found.spread[first],
    }
    writer.insert(
        "stall",
        ColumnStream(
            columns,
            order=sort_order(
                [columns[name] for name in ("instruction", "node", "device", "reason")]
            ),
            nulls={"node": -1, "device": -1, "reason": -1, "not_issued": NULL64},
        ),
    )


def _added(row: I32, rows: int, values: I64) -> I64:
    """Sums of the rows that become one; NULL64 where one of them is not known."""
    sums = np.zeros(rows, np.int64)
    np.add.at(sums, row, np.where(values == NULL64, 0, values))
    unknown = np.bincount(row[values == NULL64], minlength=rows) > 0
    return np.where(unknown, NULL64, sums)
