"""Texts by id. Only texts that a loaded row refers to enter the store's pool: StringIds may hold
environment blocks and program output."""

from typing import Final

import numpy as np

from ...native import StringPool, TextColumn, intern_rows
from ..arrays import I32, I64, NULL32
from .reader import TableReader

_SPARSE: Final = 4
"""Ids above this many times the number of strings are looked up by hash, not by a vector."""
_NOT_SEEN: Final = -2


class Strings:
    """StringIds of an export, and the pool of the texts in use."""

    def __init__(self, reader: TableReader) -> None:
        self.pool = StringPool()
        self.lost: set[int] = set()
        """Ids that are referred to but not in the file."""
        self._ids: I64 = np.empty(0, np.int64)
        self._values: TextColumn | None = None
        self._used: set[int] = set()
        self._reader = reader
        self._table = reader.find("StringIds", ("id", "value"))
        if self._table is not None:
            rows = reader.read(self._table, {"id": "i64", "value": "text"})
            self._ids = rows.i64("id")
            self._values = rows.text("value")
        self._order = np.argsort(self._ids, kind="stable")
        self._sorted = self._ids[self._order]
        top = int(self._sorted[-1]) + 1 if len(self._sorted) else 0
        dense = 0 < top <= _SPARSE * max(len(self._sorted), 1024)
        self._seen = np.full(top if dense else 0, _NOT_SEEN, np.int32)
        """Pool id by string id, where ids are dense."""

    @property
    def recorded(self) -> bool:
        """False when the file has no strings at all."""
        return len(self._ids) > 0

    def resolve(self, ids: I32) -> I32:
        """Pool ids of string ids; -1 where NULL. An unknown id n becomes `<string n>`."""
        if len(ids) == 0:
            return np.empty(0, np.int32)
        outside = (ids < 0) | (ids >= len(self._seen))
        if outside.any():
            return self._by_hash(ids)
        pooled = self._seen[ids]
        new = pooled == _NOT_SEEN
        if new.any():
            found = np.unique(ids[new])
            self._seen[found] = self._pool_ids(found)
            pooled = self._seen[ids]
        return pooled

    def _by_hash(self, ids: I32) -> I32:
        dense, first = intern_rows([ids])
        return self._pool_ids(ids[first])[dense]

    def _pool_ids(self, ids: I32) -> I32:
        """For few, mostly distinct ids."""
        rows = np.full(len(ids), -1, np.int64)
        if len(self._ids):
            at = np.searchsorted(self._sorted, ids)
            at[at == len(self._sorted)] = 0
            hit = self._sorted[at] == ids
            rows[hit] = self._order[at[hit]]
            self._used.update(rows[hit].tolist())
        if self._values is not None:
            out = self.pool.intern_rows(self._values, rows)
        else:
            out = np.full(len(ids), -1, np.int32)
        lost = (out < 0) & (ids != NULL32)
        if lost.any():
            out = out.copy()
            for index in np.flatnonzero(lost).tolist():
                out[index] = self.pool.intern(f"<string {ids[index]}>")
                self.lost.add(int(ids[index]))
        return out

    def resolve_one(self, string_id: int | None) -> int:
        """Pool id of one string id, -1 for None."""
        if string_id is None:
            return -1
        return int(self.resolve(np.array([string_id], np.int32))[0])

    def text(self, string_id: int | None) -> str | None:
        """A text, not entered in the pool; None when it is not known."""
        if string_id is None or self._values is None or not len(self._sorted):
            return None
        at = int(np.searchsorted(self._sorted, string_id))
        if at == len(self._sorted) or self._sorted[at] != string_id:
            return None
        row = int(self._order[at])
        self._used.add(row)
        return self._values[row]

    def release(self) -> None:
        """Forget StringIds once every table is resolved, and account for what was not used."""
        if self._table is not None:
            unused = len(self._ids) - len(self._used)
            self._reader.account.leave_out(self._table, "not_referenced", unused)
        self._values = None
