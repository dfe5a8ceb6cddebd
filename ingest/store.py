"""The store: one DuckDB database per trace, written once, then only read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .cache import discard, spill_path
from .errors import DamagedTraceError, TraceError

if TYPE_CHECKING:
    import duckdb

STORE_VERSION = 17
"""Raised whenever the schema or the meaning of a column changes: old stores are built anew."""

_READ_MEMORY = "150MB"
_WRITE_MEMORY = "300MB"
"""Below this DuckDB inserts on one thread only; what it takes stays far below it."""
_MOST_THREADS = 8
"""More would not fit in that memory."""
_MAGIC = b"DUCK"
_MAGIC_AT = 8


_REMEDY = "Import the trace again with `dctx import`."
_DAMAGE = (
    "Corrupt database file",
    "Failed to deserialize",
    "Could not read enough bytes",
    "Could not read from file",
)


def is_store(head: bytes) -> bool:
    """True for the first bytes of a store (a DuckDB file)."""
    return head[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] == _MAGIC


def _spill() -> str:
    """Where to spill; empty when the name of the cache directory is not valid UTF-8."""
    try:
        return str(spill_path()).encode().decode()
    except UnicodeEncodeError:
        return ""


def connect(path: Path | None, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """A connection that reads no other file and loads no extension. What does not fit its memory
    spills into the cache directory, never beside a store. UnicodeEncodeError for a path that is
    not valid UTF-8: DuckDB cannot name it."""
    str(path).encode()
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": min(os.cpu_count() or 1, _MOST_THREADS),
        "temp_directory": _spill() if path is not None else "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if path is not None:
        config["memory_limit"] = _READ_MEMORY if read_only else _WRITE_MEMORY
        config["checkpoint_threshold"] = "1TB"  # once, at the end
    import duckdb  # slow to import: only when there is something to open

    connection = duckdb.connect(str(path or ":memory:"), read_only=read_only, config=config)
    locked = connection.execute("SELECT current_setting('lock_configuration')").fetchone()
    if locked != (True,):  # else this process has the same store open already
        connection.execute("SET enable_external_access = false")
        if read_only:
            connection.execute("SET lock_configuration = true")
    return connection


def is_damage(error: Exception) -> bool:
    """True for an error of DuckDB that tells of a damaged file, whatever was asked."""
    import duckdb

    return isinstance(error, duckdb.Error) and any(sign in str(error) for sign in _DAMAGE)


class Store:
    """A trace's tables. `path` is None when they are only in memory."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, source: Path, path: Path | None
    ) -> None:
        self.source = source
        self.path = path
        self.cached = False
        """True when the file can be made again from the trace."""
        self.events_ready = False
        self._connection: duckdb.DuckDBPyConnection | None = connection
        self._users = 0
        self._changed = threading.Condition()

    @contextmanager
    def cursor(self) -> Generator[duckdb.DuckDBPyConnection]:
        """A cursor of its own, for any thread. Keep it no longer than one question takes."""
        with self._changed:
            if self._connection is None:
                raise RuntimeError("the store is closed")
            cursor = self._connection.cursor()
            self._users += 1
        try:
            yield cursor
        except Exception as error:
            damage = self._damage(error)
            if damage is None:
                raise
            raise damage from error
        finally:
            cursor.close()
            with self._changed:
                self._users -= 1
                self._changed.notify_all()

    def _damage(self, error: Exception) -> DamagedTraceError | None:
        """What to tell when the file of the store turns out to be damaged."""
        if self.path is None or not is_damage(error):
            return None
        reason = str(error).partition("\n")[0].removesuffix(".")
        if not self.cached:
            return DamagedTraceError(self.path, f"the store is damaged ({reason}).", _REMEDY)
        discard(self.path)
        what = f"the copy of this trace in the cache was damaged and is removed ({reason})."
        return DamagedTraceError(self.source, what, "Open the trace again.")

    def move(self, path: Path | None, reopen: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        """Close the present connection once no cursor is open, and go on with another one."""
        with self._changed:
            self._changed.wait_for(lambda: self._users == 0)
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            self._connection = reopen()
            self.path = path

    def close(self) -> None:
        """Release the database. Questions that are being answered are waited for."""
        with self._changed:
            self._changed.wait_for(lambda: self._users == 0)
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def open_store(path: Path, source: Path | None = None) -> Store:
    """Open a finished store read-only. TraceError when it is none, or not of this version."""
    import duckdb

    try:
        connection = connect(path, read_only=True)
    except UnicodeEncodeError as error:
        what = "the name of the store is not valid UTF-8."
        raise TraceError(path, what, "Rename it.") from error
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        if is_damage(error):
            raise DamagedTraceError(path, f"the store is damaged ({reason}).", _REMEDY) from error
        raise TraceError(path, f"the store cannot be opened ({reason}).", _REMEDY) from error
    try:
        facts = dict(connection.execute("SELECT key, value FROM trace").fetchall())
    except duckdb.Error as error:
        connection.close()
        if is_damage(error):
            reason = str(error).partition("\n")[0].removesuffix(".")
            what = f"the store is damaged ({reason})."
            raise DamagedTraceError(path, what, _REMEDY) from error
        raise TraceError(path, "this DuckDB file is not a store of dctx.", _REMEDY) from error
    if facts.get("store_version") != str(STORE_VERSION) or "complete" not in facts:
        connection.close()
        what = (
            f"the store has version {facts.get('store_version', 'unknown')}, "
            f"this dctx reads version {STORE_VERSION}."
        )
        raise TraceError(path, what, _REMEDY)
    store = Store(connection, source or Path(facts.get("source_path", str(path))), path)
    store.cached = source is not None
    store.events_ready = True
    return store
