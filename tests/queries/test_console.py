"""What the SQL console offers, on the hand-made store."""

from pathlib import Path

import duckdb
import pytest

from dctx.queries.adhoc import CANCELLED, Interrupt, SqlError, run_sql, write_parquet
from dctx.queries.console import SavedQuery, saved_query, shipped_queries, store_tables
from dctx.queries.trace import Trace


@pytest.mark.parametrize("query", shipped_queries(), ids=lambda query: query.name)
def test_each_shipped_statement_answers(small: Trace, query: SavedQuery) -> None:
    assert query.about.endswith(".")
    with run_sql(small, query.text) as result:
        list(result.rows)


def test_kernels_by_time_against_the_rows_themselves(small: Trace) -> None:
    by_name: dict[str, list[int]] = {}
    with run_sql(small, "SELECT name, dur_ns FROM kernels") as result:
        for name, dur_ns in result.rows:
            by_name.setdefault(name, []).append(dur_ns)
    [query] = [one for one in shipped_queries() if one.name == "kernels by time"]
    with run_sql(small, query.text) as result:
        found = {name: (launches, total) for name, launches, total, *_ in result.rows}
    assert found == {name: (len(ns), sum(ns) / 1e6) for name, ns in by_name.items()}


def test_tables_tell_columns_and_exact_counts(small: Trace) -> None:
    tables = {table.name: table for table in store_tables(small)}
    assert next(iter(tables.values())).is_view
    assert tables["kernels"].rows is None
    assert ("dur_ns", "BIGINT") in tables["gpu_op"].columns
    for table in tables.values():
        if not table.is_view:
            with run_sql(small, f"SELECT count(*) FROM {table.name}") as result:
                assert list(result.rows) == [(table.rows,)]


def test_a_leading_comment_says_what_it_tells() -> None:
    found = saved_query("n", "-- One.\n-- Two.\nSELECT 1\n-- three\n")
    assert (found.about, found.text) == ("One. Two.", "SELECT 1\n-- three")


def test_parquet_is_read_back(small: Trace, tmp_path: Path) -> None:
    place = tmp_path / "k.parquet"
    write_parquet(small, "SELECT id, name, dur_ns FROM kernels ORDER BY id", place)
    with duckdb.connect() as connection:
        found = connection.execute("FROM read_parquet(?)", [str(place)])
        assert [column[0] for column in found.description or []] == ["id", "name", "dur_ns"]
        assert [row[2] for row in found.fetchall()] == [100, 200, 100, 400, 150]
    with pytest.raises(SqlError, match="DROP is not allowed"):
        write_parquet(small, "DROP TABLE gpu_op", place)


def test_an_interrupted_statement_says_so(small: Trace) -> None:
    interrupt = Interrupt()
    interrupt()
    with pytest.raises(SqlError, match=CANCELLED), run_sql(small, "SELECT 1", interrupt) as result:
        list(result.rows)
