"""The user's own SQL on a trace: read-only, no files, no other databases."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from .trace import Trace

_BATCH_ROWS = 4_096
T = TypeVar("T")


class SqlError(Exception):
    """The statement is wrong or not allowed. The text is for the user."""


@dataclass(frozen=True, slots=True)
class SqlResult:
    """Columns and, streamed once, the rows of a statement."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]
    """Iterating raises SqlError when the statement fails on the way."""


@contextmanager
def run_sql(trace: Trace, text: str) -> Generator[SqlResult]:
    """Run one SELECT (or what DuckDB counts as one: FROM, SHOW, DESCRIBE, …) or EXPLAIN.

    SqlError for anything else. Rows come in batches, so memory stays bounded; they must be read
    before the context ends.
    """
    import duckdb

    with trace.store.cursor() as cursor, ThreadPoolExecutor(1) as worker:

        def ask(question: Callable[[], T]) -> T:
            # The database looks for Ctrl+C too seldom: it works elsewhere, this thread listens.
            answer = worker.submit(question)
            try:
                return answer.result()
            except KeyboardInterrupt:
                cursor.interrupt()
                raise

        try:
            statements = duckdb.extract_statements(text)
            if len(statements) != 1:
                raise SqlError(f"Give one statement: there are {len(statements)}.")
            kind = statements[0].type
            if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
                name = str(kind).rpartition(".")[2]
                raise SqlError(
                    f"{name} is not allowed: a trace can only be read (SELECT, EXPLAIN)."
                )
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            ask(lambda: cursor.execute(text))
        except duckdb.Error as error:
            raise SqlError(str(error)) from error
        description = cursor.description or []
        columns = tuple(column[0] for column in description)
        yield SqlResult(columns, _rows(lambda: ask(lambda: cursor.fetchmany(_BATCH_ROWS))))


def _rows(next_batch: Callable[[], list[tuple[Any, ...]]]) -> Iterator[tuple[Any, ...]]:
    import duckdb

    while True:
        try:
            batch = next_batch()
        except duckdb.Error as error:
            raise SqlError(str(error)) from error
        if not batch:
            return
        yield from batch
