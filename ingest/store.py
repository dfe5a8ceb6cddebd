"""The store: one DuckDB database per trace, written once, then only read."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import duckdb

from ..native import ColumnStream
from .cache import discard
from .errors import TraceError
from .model import GpuClass, GpuKind, HostKind, LaneKind, Layer, Severity

STORE_VERSION = 1
"""Raised whenever the schema or the meaning of a column changes: old stores are built anew."""

_READ_MEMORY = "150MB"
_WRITE_MEMORY = "300MB"
"""Below this DuckDB inserts on one thread only; what it takes stays far below it."""
_MAGIC = b"DUCK"
_MAGIC_AT = 8

_CODES = {
    "host_kind_name": HostKind,
    "gpu_kind_name": GpuKind,
    "layer_name": Layer,
    "lane_kind_name": LaneKind,
    "gpu_class_name": GpuClass,
    "severity_name": Severity,
}


_NO_ROOM = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.FatalException,
    duckdb.TransactionException,  # what could not be written at a commit
    OSError,
)


class StoreWriteError(Exception):
    """The database could not take the data (disk full, quota, memory). Says why."""


def is_store(head: bytes) -> bool:
    """True for the first bytes of a store (a DuckDB file)."""
    return head[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] == _MAGIC


def _connect(path: Path | None, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """A connection that reads no other file, loads no extension and leaves no spill files."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": os.cpu_count() or 1,
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if path is not None:
        config["memory_limit"] = _READ_MEMORY if read_only else _WRITE_MEMORY
        config["checkpoint_threshold"] = "1TB"  # once, at the end
    connection = duckdb.connect(str(path or ":memory:"), read_only=read_only, config=config)
    locked = connection.execute("SELECT current_setting('lock_configuration')").fetchone()
    if locked != (True,):  # else this process has the same store open already
        connection.execute("SET enable_external_access = false")
        if read_only:
            connection.execute("SET lock_configuration = true")
    return connection


class Store:
    """A trace's tables. `path` is None when they are only in memory."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, source: Path, path: Path | None
    ) -> None:
        self.source = source
        self.path = path
        self.events_ready = False
        self._connection: duckdb.DuckDBPyConnection | None = connection
        self._users = 0
        self._changed = threading.Condition()

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor of its own, for any thread. Keep it no longer than one question takes."""
        with self._changed:
            if self._connection is None:
                raise RuntimeError("the store is closed")
            cursor = self._connection.cursor()
            self._users += 1
        try:
            yield cursor
        finally:
            cursor.close()
            with self._changed:
                self._users -= 1
                self._changed.notify_all()

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


class StoreWriter:
    """Fills a new store. Readers see the summary tables from `summary_ready` on, all at once."""

    def __init__(self, source: Path, path: Path | None) -> None:
        """`path` None: in memory. Raises StoreWriteError when it cannot be created."""
        self.source = source
        self.path = path
        self._inherited: Store | None = None
        self._on_summary: Callable[[Store], None] | None = None
        with _writing():
            self._connection = _connect(path, read_only=False)
            schema = (files(__package__) / "schema.sql").read_text(encoding="utf-8")
            self._connection.execute(schema)
            self._connection.execute("BEGIN")
        for table, codes in _CODES.items():
            self.insert_lists(
                table, {"code": [c.value for c in codes], "name": [c.name.lower() for c in codes]}
            )
        self.store = Store(self._connection.cursor(), source, path)

    def insert(self, table: str, stream: ColumnStream) -> None:
        """Append the rows of `stream`; its columns are matched by name."""
        with _writing():
            self._connection.register("incoming", stream)
            try:
                self._connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
            finally:
                self._connection.unregister("incoming")

    def insert_lists(self, table: str, columns: Mapping[str, Sequence[object]]) -> None:
        """Append a few rows given as columns of Python values."""
        names = ", ".join(columns)
        values = ", ".join(f"unnest(${number + 1})" for number in range(len(columns)))
        if not any(len(column) for column in columns.values()):
            return
        with _writing():
            self._connection.execute(
                f"INSERT INTO {table} ({names}) SELECT {values}",
                [list(column) for column in columns.values()],
            )

    def facts(self, facts: Mapping[str, object]) -> None:
        """Add facts about the capture; a fact that is None is left out, not guessed."""
        known = {key: str(value) for key, value in facts.items() if value is not None}
        self.insert_lists("trace", {"key": list(known), "value": list(known.values())})

    def notes(self, notes: Sequence[tuple[Severity, str, str]]) -> None:
        """Add (severity, source, text) notes."""
        self.insert_lists(
            "note",
            {
                "severity": [severity.value for severity, _, _ in notes],
                "source": [source for _, source, _ in notes],
                "text": [text for _, _, text in notes],
            },
        )

    def note_memory_only(self, reason: str) -> None:
        """Tell the user why this trace will be read again next time."""
        text = f"The store is kept in memory only and built again next time ({reason})."
        self.notes([(Severity.WARNING, "cache", text)])

    def on_summary(self, call: Callable[[Store], None]) -> None:
        """Have `call` run with the store when the summary tables are complete."""
        self._on_summary = call

    def continue_in(self, store: Store) -> None:
        """Go on in a store that readers hold already: it changes over at the summary."""
        self._inherited = store

    def summary_ready(self) -> None:
        """Every table but those of single events is complete: let readers see them."""
        with _writing():
            # From here each insert stands for itself: a transaction would keep every column that
            # was handed over until its end.
            self._connection.execute("COMMIT")
        if self._inherited is not None:
            fresh = self._connection.cursor()
            self._inherited.move(self.path, lambda: fresh)
            self.store.close()
            self.store = self._inherited
        if self._on_summary is not None:
            self._on_summary(self.store)

    def finish(self) -> None:
        """Everything is in: make it durable. Only a store that got here is ever used."""
        self.facts({"complete": 1})
        with _writing():
            if self.path is not None:
                self._connection.execute("CHECKPOINT")

    def publish(self, target: Path) -> Store:
        """Give the finished file its name and serve it read-only."""
        built = self.path
        if built is None:
            raise ValueError("a store in memory has no file")

        def reopen() -> duckdb.DuckDBPyConnection:
            self._connection.close()
            built.replace(target)
            return _connect(target, read_only=True)

        with _writing():
            self.store.move(target, reopen)
        self.store.events_ready = True
        return self.store

    def serve(self) -> Store:
        """Serve a finished store from memory."""
        self.store.events_ready = True
        return self.store

    def abandon(self) -> None:
        """Leave nothing behind."""
        self.store.close()
        self._connection.close()
        if self.path is not None:
            discard(self.path)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except _NO_ROOM as error:
        raise StoreWriteError(str(error).partition("\n")[0]) from error


def open_store(path: Path, source: Path | None = None) -> Store:
    """Open a finished store read-only. TraceError when it is none, or not of this version."""
    remedy = "Import the trace again with `dctx import`."
    try:
        connection = _connect(path, read_only=True)
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise TraceError(path, f"the store cannot be opened ({reason}).", remedy) from error
    try:
        facts = dict(connection.execute("SELECT key, value FROM trace").fetchall())
    except duckdb.Error as error:
        connection.close()
        raise TraceError(path, "this DuckDB file is not a store of dctx.", remedy) from error
    if facts.get("store_version") != str(STORE_VERSION) or "complete" not in facts:
        connection.close()
        what = (
            f"the store has version {facts.get('store_version', 'unknown')}, "
            f"this dctx reads version {STORE_VERSION}."
        )
        raise TraceError(path, what, remedy)
    store = Store(connection, source or Path(facts.get("source_path", str(path))), path)
    store.events_ready = True
    return store
