"""Samples of instructions that a recording holds, and the code that they are of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ..arrays import I64, Mask
from .chunks import Chunk, FormatError
from .table import Table

COLUMNS: Final = (
    "row", "thread", "node", "kernel", "function", "crc", "offset", "reason", "device", "samples",
    "not_issued",
)  # fmt: skip
"""Columns of PCS. `thread` is -1 where the samples are of no single launch, `offset` where the
instruction is not known."""
_TEXTS: Final = ("kernel", "function", "reason")
_MOST_ROWS: Final = 2**22


class SampleTable:
    """Rows by number, each as it was told last; code by its check sum."""

    def __init__(self) -> None:
        self._told: Mask = np.zeros(0, np.bool_)
        self.columns: dict[str, I64] = {name: np.zeros(0, np.int64) for name in COLUMNS}
        self.code: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._told)

    def take(self, chunk: Chunk) -> None:
        """Rows that are new or have changed."""
        table = Table(chunk)
        if not table.rows:
            return
        row = table.integers(0)
        if int(row.min()) < 0 or int(row.max()) >= min(len(self) + table.rows, _MOST_ROWS):
            raise FormatError(f"the PCS chunk at byte {chunk.offset} holds values that cannot be.")
        more = int(row.max()) + 1 - len(self)
        if more > 0:
            self._told = np.concatenate([self._told, np.zeros(more, np.bool_)])
            for name, values in self.columns.items():
                self.columns[name] = np.concatenate([values, np.zeros(more, np.int64)])
        for number, name in enumerate(COLUMNS):
            self.columns[name][row] = table.integers(number)
        self._told[row] = True

    def take_code(self, chunk: Chunk) -> None:
        """Code of GPUs."""
        table = Table(chunk)
        for crc, code in zip(table.integers(0).tolist(), table.blobs(1), strict=True):
            self.code[crc] = code

    def check(self, nodes: Mapping[int, int], strings: int) -> None:
        """FormatError unless every row is there and refers to what is: a node of a thread
        (`nodes`: how many each thread has) and strings."""
        columns = self.columns
        good = bool(self._told.all())
        good = good and all(_within(columns[name], strings) for name in _TEXTS)
        for index in np.unique(columns["thread"]).tolist():
            here = columns["node"][columns["thread"] == index]
            good = good and (index == -1 or _within(here, nodes.get(index, 0)))
        good = good and _within(columns["device"], 2**15)
        good = good and _within(columns["samples"], 2**62)
        if not good or bool((columns["not_issued"] > columns["samples"]).any()):
            raise FormatError("its table of sampled instructions refers to what it does not hold.")


def _within(ids: I64, size: int) -> bool:
    return not ids.size or (int(ids.min()) >= 0 and int(ids.max()) < size)
