"""The GPU work of a recording: sums by the context that launched it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final

import numpy as np

from ..arrays import I64, Mask
from .chunks import Chunk, FormatError
from .table import Table


class WorkKind(IntEnum):
    """What a device did; the numbers of the file."""

    KERNEL = 0
    COPY = 1
    SET = 2
    GRAPH = 3


COLUMNS: Final = (
    "row", "thread", "node", "kind", "name", "device", "alternate_thread", "alternate_node",
    "graph", "count", "sum_ns", "min_ns", "max_ns", "", "bytes", "grid_x", "grid_y", "grid_z",
    "block_x", "block_y", "block_z", "registers", "shared_bytes",
)  # fmt: skip
"""Columns of GMET; column 13 holds floating-point numbers. `thread` is -1 where the launch was not
seen, `graph` is not 0 in a graph whose making was not seen."""
_SQUARES: Final = COLUMNS.index("")
_NEWEST_KIND: Final = max(WorkKind)
_MOST_ROWS: Final = 2**24


class WorkTable:
    """Rows by number, each as it was told last."""

    def __init__(self) -> None:
        self._told: Mask = np.zeros(0, np.bool_)
        self.columns: dict[str, I64] = {name: np.zeros(0, np.int64) for name in COLUMNS if name}
        self.sum_sq: Any = np.zeros(0)

    def __len__(self) -> int:
        return len(self.sum_sq)

    @property
    def kernels(self) -> int:
        """Kernels that ran."""
        return int(self.columns["count"][self.columns["kind"] == WorkKind.KERNEL].sum())

    @property
    def in_graph(self) -> Mask:
        """Rows of work in graphs that stand where these were captured."""
        mask: Mask = self.columns["alternate_thread"] >= 0
        return mask

    @property
    def in_unknown_graph(self) -> Mask:
        """Rows of work in graphs whose capture was not recorded: below their launch."""
        mask: Mask = (self.columns["graph"] != 0) & (self.columns["kind"] != WorkKind.GRAPH)
        return mask

    def take(self, chunk: Chunk) -> None:
        """Rows that are new or have changed."""
        table = Table(chunk)
        row = table.integers(0)
        if not table.rows:
            return
        if int(row.min()) < 0 or int(row.max()) >= min(len(self) + table.rows, _MOST_ROWS):
            raise FormatError(f"the GMET chunk at byte {chunk.offset} holds values that cannot be.")
        more = int(row.max()) + 1 - len(self)
        if more > 0:
            self._told = np.concatenate([self._told, np.zeros(more, np.bool_)])
            self.sum_sq = np.concatenate([self.sum_sq, np.zeros(more)])
            for name, values in self.columns.items():
                self.columns[name] = np.concatenate([values, np.zeros(more, np.int64)])
        for number, name in enumerate(COLUMNS):
            if name:
                self.columns[name][row] = table.integers(number)
        self.sum_sq[row] = table.numbers(_SQUARES)
        self._told[row] = True

    def check(self, nodes: Mapping[int, int], strings: int, commit: Mapping[str, int]) -> None:
        """FormatError unless every row is there and refers to what is: a node of a thread
        (`nodes`: how many each thread has) and a string, and all are as many as was told."""
        rows, records = len(self), int(self.columns["count"].sum())
        if rows != commit["work_rows"] or records != commit["work_records"]:
            raise FormatError(
                f"it holds {rows} rows of GPU work with {records} pieces where its last snapshot "
                f"tells {commit['work_rows']} and {commit['work_records']}."
            )
        good = bool(self._told.all()) and _within(self.columns["name"], strings)
        for thread, node in (("thread", "node"), ("alternate_thread", "alternate_node")):
            for index in np.unique(self.columns[thread]).tolist():
                here = self.columns[node][self.columns[thread] == index]
                good = good and (index == -1 or _within(here, nodes.get(index, 0)))
        if not good or not _within(self.columns["device"], 2**15):
            raise FormatError("its table of GPU work refers to what it does not hold.")
        kind = self.columns["kind"]
        self.columns["kind"] = np.where((kind < 0) | (kind > _NEWEST_KIND), WorkKind.KERNEL, kind)


def _within(ids: I64, size: int) -> bool:
    return not ids.size or (int(ids.min()) >= 0 and int(ids.max()) < size)
