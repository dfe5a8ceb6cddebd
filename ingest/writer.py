"""Fills a store: tables from columns, facts and notes; then the file gets its name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ..native import trim_memory
from .cache import discard, log_of
from .model import FlowPhase, GpuClass, GpuKind, HostKind, LaneKind, Layer, Severity
from .store import STORE_VERSION, Store, connect

if TYPE_CHECKING:
    import duckdb

    from ..native import ColumnStream

_LARGE_ROWS = 100_000

_CODES = {
    "host_kind_name": HostKind,
    "gpu_kind_name": GpuKind,
    "layer_name": Layer,
    "lane_kind_name": LaneKind,
    "gpu_class_name": GpuClass,
    "flow_phase_name": FlowPhase,
    "severity_name": Severity,
}


class StoreWriteError(Exception):
    """The database could not take the data (disk full, quota, memory). Says why."""


class StoreWriter:
    """Fills a new store. Readers see the summary tables from `summary_ready` on, all at once.

    The database is opened on a thread of its own meanwhile the first tables of the trace are
    read. Every method raises StoreWriteError when the database cannot take the data."""

    def __init__(self, source: Path, path: Path | None, mode: int = 0o600) -> None:
        """`path` None: in memory. `mode`: who may read the file at most."""
        self.source = source
        self.path = path
        self._mode = mode
        self._facts: dict[str, str] = {}
        self._notes: list[tuple[Severity, str, str]] = []
        self._inherited: Store | None = None
        self._on_summary: Callable[[Store], None] | None = None
        self._before_summary: Callable[[], None] | None = None
        self._opened: tuple[duckdb.DuckDBPyConnection, Store] | None = None
        self._failure: BaseException | None = None
        self._opening = threading.Thread(target=self._open, name="dctx-store")
        self._opening.start()

    def _open(self) -> None:
        try:
            with _writing():
                connection = connect(self.path, read_only=False)
                schema = (files("dctx.ingest") / "schema.sql").read_text(encoding="utf-8")
                connection.execute(f"BEGIN; {schema}; COMMIT")  # else each table is synchronised
                self._restrict()
                connection.execute("BEGIN")
                for table, codes in _CODES.items():
                    rows = [[code.value for code in codes], [code.name.lower() for code in codes]]
                    connection.execute(f"INSERT INTO {table} SELECT unnest($1), unnest($2)", rows)
                store = Store(connection.cursor(), self.source, self.path)
                self._opened = (connection, store)
        except BaseException as error:
            self._failure = error

    def _restrict(self) -> None:
        """Before data comes in, let no one read the file and its log who may not."""
        if self.path is None:
            return
        for path in (self.path, log_of(self.path)):
            with suppress(FileNotFoundError):
                path.chmod(path.stat().st_mode & self._mode)

    def _ready(self) -> tuple[duckdb.DuckDBPyConnection, Store]:
        self._opening.join()
        if self._opened is None:
            raise self._failure or RuntimeError("the store was abandoned")
        return self._opened

    def insert(self, table: str, stream: ColumnStream) -> None:
        """Append the rows of `stream`; its columns are matched by name."""
        connection, _ = self._ready()
        if len(stream) > _LARGE_ROWS:
            trim_memory()  # the database takes what it needs from the system
        with _writing():
            connection.register("incoming", stream)
            try:
                connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
            finally:
                connection.unregister("incoming")

    def insert_lists(self, table: str, columns: Mapping[str, Sequence[object]]) -> None:
        """Append a few rows given as columns of Python values."""
        if not any(len(column) for column in columns.values()):
            return
        connection, _ = self._ready()
        names = ", ".join(columns)
        values = ", ".join(f"unnest(${number + 1})" for number in range(len(columns)))
        with _writing():
            connection.execute(
                f"INSERT INTO {table} ({names}) SELECT {values}",
                [list(column) for column in columns.values()],
            )

    def facts(self, facts: Mapping[str, object]) -> None:
        """Add facts about the capture; a fact that is None is left out, not guessed."""
        self._facts.update({key: str(value) for key, value in facts.items() if value is not None})

    def notes(self, notes: Sequence[tuple[Severity, str, str]]) -> None:
        """Add (severity, source, text) notes."""
        self._notes.extend(notes)

    def note_memory_only(self, reason: str) -> None:
        """Tell the user why this trace will be read again next time."""
        text = f"The store is kept in memory only and built again next time ({reason})."
        self.notes([(Severity.WARNING, "cache", text)])

    def _write_facts_and_notes(self) -> None:
        self.insert_lists("trace", {"key": list(self._facts), "value": list(self._facts.values())})
        self.insert_lists(
            "note",
            {
                "severity": [severity.value for severity, _, _ in self._notes],
                "source": [source for _, source, _ in self._notes],
                "text": [text for _, _, text in self._notes],
            },
        )
        self._facts.clear()
        self._notes.clear()

    def on_summary(self, call: Callable[[Store], None]) -> None:
        """Have `call` run with the store when the summary tables are complete."""
        self._on_summary = call

    def before_summary(self, call: Callable[[], None]) -> None:
        """Have `call` run when everything was read, before the summary tables are shown."""
        self._before_summary = call

    def continue_in(self, store: Store) -> None:
        """Go on in a store that readers hold already: it changes over at the summary."""
        self._inherited = store

    def summary_ready(self) -> None:
        """Every table but those of single events is complete: let readers see them."""
        import duckdb

        if self._before_summary is not None:
            self._before_summary()

        connection, store = self._ready()
        self.facts({"store_version": STORE_VERSION, "duckdb_version": duckdb.__version__})
        self._write_facts_and_notes()
        with _writing():
            # From here each insert stands for itself: a transaction would keep every column that
            # was handed over until its end.
            connection.execute("COMMIT")
        if self._inherited is not None:
            fresh = connection.cursor()
            self._inherited.move(self.path, lambda: fresh)
            store.close()
            store = self._inherited
            self._opened = (connection, store)
        if self._on_summary is not None:
            self._on_summary(store)

    def finish(self) -> None:
        """Everything is in: make it durable. Only a store that got here is ever used."""
        connection, _ = self._ready()
        self.facts({"complete": 1})
        self._write_facts_and_notes()
        with _writing():
            if self.path is not None:
                connection.execute("CHECKPOINT")

    def publish(self, target: Path) -> Store:
        """Give the finished file its name and serve it read-only."""
        connection, store = self._ready()
        built = self.path
        if built is None:
            raise ValueError("a store in memory has no file")

        def reopen() -> duckdb.DuckDBPyConnection:
            connection.close()
            built.replace(target)
            return connect(target, read_only=True)

        with _writing():
            store.move(target, reopen)
        store.events_ready = True
        return store

    def serve(self) -> Store:
        """Serve a finished store from memory."""
        connection, store = self._ready()
        connection.execute("SET lock_configuration = true")
        store.events_ready = True
        return store

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._opening.join()
        if self._opened is not None:
            connection, store = self._opened
            store.close()
            connection.close()
            self._opened = None
        if self.path is not None:
            discard(self.path)


@contextmanager
def _writing() -> Generator[None]:
    import duckdb

    no_room = (
        duckdb.IOException,
        duckdb.OutOfMemoryException,
        duckdb.FatalException,
        duckdb.TransactionException,  # what could not be written at a commit
        OSError,
        UnicodeEncodeError,  # a path that the database cannot name
    )
    try:
        yield
    except no_room as error:
        raise StoreWriteError(str(error).partition("\n")[0]) from error
