"""The user's own SQL on a trace: read-only, no files, no other databases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from .trace import Trace

_BATCH_ROWS = 4_096
_AGAIN_S = 0.05
CANCELLED = "Cancelled."
T = TypeVar("T")
Row = tuple[Any, ...]


class SqlError(Exception):
    """The statement is wrong or not allowed. The text is for the user."""


class Interrupt:
    """Stops a statement, from any thread and as often as one likes, also before it has begun and
    after it has ended."""

    def __init__(self) -> None:
        self.asked = False
        self._stop: Callable[[], None] | None = None
        self._changing = threading.Lock()

    def __call__(self) -> None:
        with self._changing:
            self.asked = True
            if self._stop is not None:
                self._stop()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Generator[None]:
        """How the statement that runs in this context is stopped."""
        with self._changing:
            self._stop = stop
            if self.asked:
                stop()
        try:
            yield
        finally:
            with self._changing:
                self._stop = None

    def check(self) -> None:
        """SqlError once it was asked for."""
        if self.asked:
            raise SqlError(CANCELLED)


@dataclass(frozen=True, slots=True)
class SqlResult:
    """Columns and, streamed once, the rows of a statement."""

    columns: tuple[str, ...]
    """As the statement names them: a name can come twice."""
    rows: Iterator[Row]
    """Iterating raises SqlError when the statement fails on the way."""


@contextmanager
def run_sql(trace: Trace, text: str, interrupt: Interrupt | None = None) -> Generator[SqlResult]:
    """Run one SELECT (or what DuckDB counts as one: FROM, SHOW, DESCRIBE, …) or EXPLAIN.

    SqlError for anything else, and when it was interrupted. The first rows are there when the
    context begins, so that most failures come before anything is written. Rows come in batches, so
    memory stays bounded; they must be read before the context ends.
    """
    import duckdb

    interrupt = interrupt or Interrupt()
    with (
        trace.store.cursor() as cursor,
        ThreadPoolExecutor(1) as worker,
        interrupt.stopping(cursor.interrupt),
    ):

        def ask(question: Callable[[], T]) -> T:
            # The database looks for Ctrl+C too seldom: it works elsewhere, this thread listens. It
            # also forgets what came before a statement had really begun: hence told again.
            begun, ended = threading.Event(), threading.Event()

            def work() -> T:
                begun.set()
                try:
                    interrupt.check()
                    return question()
                finally:
                    ended.set()

            try:
                answer = worker.submit(work)
                while not ended.wait(_AGAIN_S):
                    if interrupt.asked:
                        interrupt()
                return answer.result()
            except KeyboardInterrupt:
                interrupt()
                while begun.is_set() and not ended.wait(_AGAIN_S):
                    interrupt()
                raise

        try:
            _allow(text)
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            ask(lambda: cursor.execute(text))
            interrupt.check()
        except duckdb.Error as error:
            interrupt.check()
            raise SqlError(str(error)) from error
        description = cursor.description or []
        columns = tuple(column[0] for column in description)

        def next_batch() -> list[Row]:
            interrupt.check()
            try:
                return ask(lambda: cursor.fetchmany(_BATCH_ROWS))
            except duckdb.Error as error:
                interrupt.check()
                raise SqlError(str(error)) from error
            except (OverflowError, ValueError) as error:
                raise SqlError(
                    f"A value is out of range ({error}). Cast it to text: column::VARCHAR."
                ) from error

        yield SqlResult(columns, _rows(next_batch(), next_batch))


def write_parquet(trace: Trace, text: str, place: Path, interrupt: Interrupt | None = None) -> None:
    """All rows of a statement as a Parquet file, in the types that the database gives them. As
    `run_sql`; OSError as it comes."""
    import duckdb

    parquet: Any = import_module("pyarrow.parquet")
    interrupt = interrupt or Interrupt()
    with trace.store.cursor() as cursor, interrupt.stopping(cursor.interrupt):
        try:
            _allow(text)
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            reader: Any = cursor.sql(text).to_arrow_reader(_BATCH_ROWS)
            with parquet.ParquetWriter(place, reader.schema) as writer:
                for batch in reader:
                    interrupt.check()
                    writer.write_batch(batch)
        except duckdb.Error as error:
            interrupt.check()
            raise SqlError(str(error)) from error
        except import_module("pyarrow").ArrowException as error:
            interrupt.check()
            raise SqlError(f"This has no form in Parquet ({error}). Cast it to text.") from error


def _allow(text: str) -> None:
    """SqlError for what is not one statement that reads."""
    import duckdb

    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SqlError(f"Character {error.start + 1} is no text: type it again.") from error
    statements = duckdb.extract_statements(text)
    if len(statements) != 1:
        raise SqlError(f"Give one statement: there are {len(statements)}.")
    kind = statements[0].type
    if kind == duckdb.StatementType.MULTI:  # what the database makes of it begins with CREATE TYPE
        raise SqlError("Name the values of PIVOT: … ON column IN (value, …) USING …")
    if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        name = str(kind).rpartition(".")[2]
        raise SqlError(f"{name} is not allowed: a trace can only be read (SELECT, EXPLAIN).")


def _rows(batch: list[Row], next_batch: Callable[[], list[Row]]) -> Iterator[Row]:
    while batch:
        yield from batch
        batch = next_batch()
