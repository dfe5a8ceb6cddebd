"""Checks of what the chunks of a recording hold."""

from __future__ import annotations

import numpy as np

from ..arrays import I64
from .chunks import Chunk, FormatError
from .table import Table


def grown(values: I64 | None, size: int) -> I64:
    """Values by node, 0 for nodes that are new."""
    if values is not None and len(values) == size:
        return values
    out = np.zeros(size, np.int64)
    if values is not None:
        out[: len(values)] = values
    return out


def damaged(chunk: Chunk, what: str) -> FormatError:
    """What to raise about a chunk."""
    name = chunk.type.decode("ascii", "replace").strip()
    return FormatError(f"the {name} chunk at byte {chunk.offset} {what}.")


def check(chunk: Chunk, good: bool) -> None:
    """FormatError unless it is good."""
    if not good:
        raise damaged(chunk, "holds values that cannot be")


def within(chunk: Chunk, ids: I64, size: int) -> None:
    """FormatError unless all ids are below the size."""
    check(chunk, not ids.size or (int(ids.min()) >= 0 and int(ids.max()) < size))


def follows(chunk: Chunk, table: Table, known: int) -> None:
    """FormatError unless the rows go on where the known ones end."""
    if table.first != known:
        raise damaged(chunk, f"begins at row {table.first} where row {known} is due")
