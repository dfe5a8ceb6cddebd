"""The user's own SQL: what is allowed, what is said otherwise."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from dctx.queries.adhoc import CANCELLED, Interrupt, SqlError, run_sql
from dctx.queries.trace import Trace

ENDLESS = "SELECT sum(a.range * b.range % 7) FROM range(10_000_000) a, range(1_000_000) b"


def test_rows_are_streamed_with_their_names(small: Trace) -> None:
    with run_sql(small, "SELECT id, dur_ns FROM kernels ORDER BY id") as result:
        assert result.columns == ("id", "dur_ns")
        assert next(result.rows) == (0, 100)
        assert list(result.rows) == [(1, 200), (2, 100), (3, 400), (4, 150)]


@pytest.mark.parametrize(
    "query",
    [
        "FROM device",
        "SHOW TABLES",
        "DESCRIBE kernels",
        "EXPLAIN SELECT 1",
        "VALUES (1)",
        "SELECT 1;",
    ],
)
def test_reading_is_allowed(small: Trace, query: str) -> None:
    with run_sql(small, query) as result:
        assert list(result.rows)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("", "Give one statement: there are 0"),
        ("SELECT 1; SELECT 2", "Give one statement: there are 2"),
        ("SELECT * FROM nothing_like_it", "nothing_like_it"),
        ("INSERT INTO device SELECT * FROM device", "INSERT is not allowed"),
        ("CREATE TEMP TABLE t AS SELECT 1", "CREATE is not allowed"),
        ("ATTACH '/tmp/other.db'", "ATTACH is not allowed"),
        ("SET threads = 1", "SET is not allowed"),
        ("COMMIT", "TRANSACTION is not allowed"),
        ("PIVOT gpu_op ON kind USING count(*)", "Name the values of PIVOT"),
        ("SELECT '\ud800'", "Character 9 is no text"),
        ("EXPLAIN ANALYZE DELETE FROM gpu_op", "read-only"),
        ("SELECT error('on the way') FROM kernels", "on the way"),
    ],
)
def test_anything_else_is_refused(small: Trace, query: str, text: str) -> None:
    with pytest.raises(SqlError, match=text), run_sql(small, query) as result:
        list(result.rows)
    assert len(small.rows("capture.devices")) == 2
    with run_sql(small, "SELECT count(*) FROM gpu_op") as result:
        assert list(result.rows) == [(7,)]


def test_an_interrupt_before_the_statement_is_waited_for(
    small: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl+C while the other thread is only being started: it ends as well."""

    class Interrupted(ThreadPoolExecutor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            super().submit(fn, *args, **kwargs)
            raise KeyboardInterrupt

    monkeypatch.setattr("dctx.queries.adhoc.ThreadPoolExecutor", Interrupted)
    with pytest.raises(KeyboardInterrupt), run_sql(small, ENDLESS):
        pass


def test_an_interrupt_that_the_database_forgets_is_repeated(small: Trace) -> None:
    """Asked for after the last look, before the statement runs: the database did not hear of it."""

    class Unheard(Interrupt):
        def check(self) -> None:
            super().check()
            self.asked = True

    with pytest.raises(SqlError, match=CANCELLED), run_sql(small, ENDLESS, Unheard()):
        pass
