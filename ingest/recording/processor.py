"""What a recording tells of the processor: counters of scopes, samples of threads, and the names of
native functions (chunks USED, SAMP, SYMB)."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..arrays import I64, Mask
from .table import Table

SWITCHES: Final = "context switches"
_COUNTERS: Final = 4
_IN_NS: Final = "task-clock"
"""The one counter that counts time."""
USED, SAMPLES, SYMBOLS = KINDS = b"USED", b"SAMP", b"SYMB"
"""Kinds of chunks."""


@dataclass(slots=True)
class Processor:
    """Of one process. Nodes are those of the threads."""

    usage: dict[tuple[int, int], tuple[int, ...]] = field(
        default_factory=dict[tuple[int, int], tuple[int, ...]]
    )
    """By thread and scope's node: context switches, then the values of the counters."""
    samples: dict[int, I64] = field(default_factory=dict[int, I64])
    """By thread, rows of: node, module (-1: none), offset of the function, samples."""
    symbols: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    """Name of the function at a module and offset."""

    def take(self, kind: bytes, table: Table, nodes: int, modules: int) -> bool:
        """A chunk of a process with so many modules, and of a thread with so many nodes; False when
        a row refers to what is not there."""
        if kind == USED:
            return self._take_usage(table, nodes)
        if kind == SAMPLES:
            return self._take_samples(table, nodes, modules)
        return self._take_symbols(table, modules)

    def _take_usage(self, table: Table, nodes: int) -> bool:
        """In place of the values told before."""
        node = table.integers(0)
        values = np.stack([table.integers(1 + column) for column in range(1 + _COUNTERS)], axis=1)
        for at, row in zip(node.tolist(), values.tolist(), strict=True):
            self.usage[table.owner, at] = tuple(row)
        return _within(node, nodes)

    def _take_samples(self, table: Table, nodes: int, modules: int) -> bool:
        """All of the thread so far."""
        rows = np.stack([table.integers(column) for column in range(4)], axis=1)
        self.samples[table.owner] = rows
        return _within(rows[:, 0], nodes) and _within(rows[:, 1] + 1, modules + 1)

    def _take_symbols(self, table: Table, modules: int) -> bool:
        module = table.integers(0)
        places = zip(module.tolist(), table.integers(1).tolist(), strict=True)
        self.symbols.update(zip(places, table.texts(3), strict=True))
        return _within(module, modules)

    def values_of(self, thread: int, counters: Sequence[str]) -> list[tuple[str, I64, I64]]:
        """Name, nodes and values of what scopes of a thread used beside time; nothing where no
        value was above 0."""
        rows = [(node, values) for (owner, node), values in self.usage.items() if owner == thread]
        if not rows:
            return []
        node = np.array([node for node, _ in rows], np.int64)
        values = np.array([values for _, values in rows], np.int64)
        found: list[tuple[str, I64, I64]] = []
        for column, name in enumerate((SWITCHES, *counters[:_COUNTERS])):
            if bool(values[:, column].any()):
                unit = " ns" if name == _IN_NS else ""
                found.append((name + unit, node, values[:, column]))
        return found

    def name(self, module: int, offset: int, path: str) -> str:
        """What to call a place in a library: its function, else `lib+0xoffset`."""
        known = self.symbols.get((module, offset))
        return known or f"{posixpath.basename(path) or '?'}+0x{offset:x}"


def _within(values: I64, size: int) -> bool:
    inside: Mask = (values >= 0) & (values < size)
    return bool(inside.all())
