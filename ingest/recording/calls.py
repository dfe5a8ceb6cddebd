"""What operators were called with: the chunks ARGS and CALL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...native import StringPool
from ..arrays import I32, I64
from ..called_with import CalledWith
from .table import Table

_COUNTS: Final = 2


def _no_rows() -> I64:
    return np.zeros((0, _COUNTS), np.int64)


@dataclass(slots=True)
class ArgumentCalls:
    """Of one process. Row numbers of the file: strings, and nodes of a thread."""

    sets: I64 = field(default_factory=_no_rows)
    """By set: string of the shapes, string of the types (-1: not known)."""
    counts: dict[tuple[int, int, int], tuple[int, int]] = field(
        default_factory=dict[tuple[int, int, int], tuple[int, int]]
    )
    """By thread, node and set (-1: further ones): calls, ns."""

    def take_sets(self, table: Table, strings: int) -> bool:
        """The next sets; False when a row refers to a text that is not there."""
        rows = np.stack([table.integers(0), table.integers(1)], axis=1)
        self.sets = np.concatenate([self.sets, rows])
        return bool(((rows >= [0, -1]) & (rows < strings)).all())

    def take_counts(self, table: Table, nodes: int) -> bool:
        """Sums of a thread that has so many nodes, in place of what was told of the same rows;
        False when a row refers to what is not there."""
        node, sets, count, ns = (table.integers(column) for column in range(4))
        rows = zip(node.tolist(), sets.tolist(), count.tolist(), ns.tolist(), strict=True)
        self.counts.update({(table.owner, n, s): (c, t) for n, s, c, t in rows})
        return bool(((node >= 0) & (node < nodes) & (sets >= -1) & (sets < len(self.sets))).all())


class CallRows:
    """Collects the calls of all processes."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, int]] = []
        self._shapes: list[int] = []
        self._types: list[int] = []

    def enter(
        self, calls: ArgumentCalls, strings: list[str], nodes: dict[int, I32], pool: StringPool
    ) -> None:
        """Add a process; `nodes`: by thread the store's node of each of its nodes."""
        first = len(self._shapes)
        told: list[list[int]] = calls.sets.tolist()
        for shapes, types in told:
            self._shapes.append(pool.intern(strings[shapes]))
            self._types.append(pool.intern(strings[types]) if types >= 0 else -1)
        for (thread, node, number), (count, ns) in calls.counts.items():
            place = first + number if number >= 0 else -1
            self._rows.append((int(nodes[thread][node]), place, count, ns))

    def found(self) -> list[CalledWith]:
        """All of it; nothing when there is none."""
        if not self._rows:
            return []
        node, sets, calls, ns = np.array(self._rows, np.int64).T
        calls_of = CalledWith(
            node.astype(np.int32),
            sets.astype(np.int32),
            np.ascontiguousarray(calls),
            np.ascontiguousarray(ns),
            np.array(self._shapes, np.int32),
            np.array(self._types, np.int32),
            np.full(len(self._shapes), -1, np.int32),
        )
        return [calls_of]
