"""The SQL view: answers, refusals, what can be stopped and taken along."""

import csv
import json
from pathlib import Path

import duckdb
import pytest

from dctx.ingest.registry import open_trace
from dctx.queries.adhoc import Interrupt, SqlError, run_sql, write_parquet
from dctx.queries.trace import Trace
from dctx.tui.demo import demo_trace
from dctx.tui.screens.sql import SqlScreen
from dctx.tui.screens.sql_rows import Statement, cell_text, query_rows, quoted
from dctx.tui.sql_files import history, own_queries, remember
from dctx.tui.widgets.big_table import BigTable
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.statement_input import StatementInput
from dctx.tui.widgets.status_line import StatusLine
from tests.tui.app_support import app_of, opened, press, settle, until

ENDLESS = "SELECT count(*) FROM range(1000000000000) a, range(1000000) b"


def test_values_and_names_are_told_literally() -> None:
    assert [cell_text(value) for value in (None, 0.1 + 0.2, "a\x1bb", 7, True)] == [
        *("NULL", "0.3", "a?b", "7", "True")
    ]
    assert quoted('a"b') == '"a""b"'


def test_own_statements_that_cannot_be_used_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCTX_CONFIG_DIR", str(tmp_path))
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / "a.sql").write_text("-- What it tells\nSELECT 1\n")
    (folder / "b.sql").write_bytes(b"\xff\xfe")
    (folder / "c.sql").write_text("-- nothing yet")
    (folder / "d.sql").mkdir()
    rows = query_rows(own_queries(), [])
    assert [(row.label, row.target) for row in rows] == [
        ("a", Statement("SELECT 1")),
        ("b cannot be read: it is not UTF-8", None),
        ("c has no statement", None),
        ("d cannot be read: Is a directory", None),
    ]


def test_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "state"))
    known = remember("SELECT 2", remember("SELECT 1", []))
    assert known == history() == ["SELECT 1", "SELECT 2"]
    assert remember("SELECT 1", known) == history() == ["SELECT 2", "SELECT 1"]
    (tmp_path / "state" / "sql-history.json").write_text("{")
    assert history() == []
    # Where nothing can be written it lives as long as the application.
    (tmp_path / "file").touch()
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "file"))
    known = remember("SELECT 2", remember("SELECT 1", []))
    assert (known, history()) == (["SELECT 1", "SELECT 2"], [])
    assert remember("x" * 30_000, known) == known


async def test_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "state"))
    async with opened() as pilot:
        await press(pilot, "9")
        screen = app_of(pilot).screen
        assert isinstance(screen, SqlScreen)
        rows = screen.query_one("#sql-rows", BigTable)
        side = screen.query_one("#sql-side", RowList)
        statement = screen.query_one(StatementInput)
        line = screen.query_one("#sql-status", StatusLine)
        assert side.has_focus

        async def run(text: str) -> None:
            statement.text = text
            statement.focus()
            await press(pilot, "f5")

        # A table unfolds and shows rows; a column shows its values.
        await press(pilot, "down", "enter")
        assert line.right.startswith("1,000 rows")
        assert "dur_ns bigint" in [row.label for row in side.rows]
        at = [row.label for row in side.rows].index("dur_ns bigint")
        await press(pilot, *["down"] * (at - side.cursor), "enter")
        assert [column.header for column in rows.columns] == ["dur_ns", "rows"]

        # Pages of a long answer come as they are looked at.
        await run("SELECT i, i * 2 AS twice FROM range(150000) t(i)")
        assert "the first 100,000 rows" in line.left
        await press(pilot, "G")
        assert rows.cursor_row is not None
        assert list(rows.cursor_row.cells) == ["99999", "199998"]

        # What may not be, and what is wrong, in a sentence.
        for text, said in (
            ("DROP TABLE gpu_op", "DROP is not allowed: a trace can only be read"),
            ("SELECT nothing", 'Referenced column "nothing" was not found'),
            ("FROM read_csv('/etc/passwd')", "disabled"),
        ):
            await run(text)
            assert said in rows.empty_text
            assert "\n" not in rows.empty_text
            assert line.left == "not run"

        # One that takes for ever is stopped by escape.
        statement.text = ENDLESS
        statement.focus()
        await pilot.press("f5")
        await until(pilot, lambda: line.left.startswith("running"))
        await pilot.press("escape")
        await settle(pilot)
        assert line.left == "stopped"

        # So is the export of rows without end; nothing is left of it.
        await run("FROM range(1000000000000)")
        assert "e writes all" in line.left
        for ending in ("csv", "parquet"):
            await press(pilot, "e")
            await pilot.press(*["backspace"] * 3, *ending, "enter")
            assert line.left.startswith("writing ")
            assert line.left.endswith("esc stops it")
            await pilot.press("escape")
            await settle(pilot)
            assert "e writes all" in line.left
        assert [path.name for path in tmp_path.iterdir()] == ["state"]

        # Typed keys are text; the export has all rows in each format.
        await press(pilot, "i")
        statement.text = ""
        await pilot.press(*"SELECT", "space", *"9", "space", "A", "S", "space", "q")
        assert statement.text == "SELECT 9 AS q"
        await run("SELECT name, dur_ns FROM kernels ORDER BY id LIMIT 3")
        for ending in ("csv", "json", "parquet"):
            await press(pilot, "e")
            await pilot.press(*["backspace"] * 3, *ending, "enter")
            await settle(pilot)
        [found] = tmp_path.glob("*-sql.csv")
        records = list(csv.DictReader(found.read_text(encoding="utf-8").splitlines()))
        [found] = tmp_path.glob("*-sql.json")
        as_json = json.loads(found.read_text(encoding="utf-8"))
        [found] = tmp_path.glob("*-sql.parquet")
        with duckdb.connect() as connection:
            columns = connection.execute("FROM read_parquet(?)", [str(found)]).fetchall()
        assert columns == [(one["name"], one["dur_ns"]) for one in as_json]
        assert [(one["name"], int(one["dur_ns"])) for one in records] == [
            (one["name"], one["dur_ns"]) for one in as_json
        ]
        assert len(records) == 3
        kept = json.loads((tmp_path / "state" / "sql-history.json").read_text(encoding="utf-8"))
        assert kept[-1] == "SELECT name, dur_ns FROM kernels ORDER BY id LIMIT 3"
        # Nobody waits for a statement when the application ends.
        statement.text = ENDLESS
        statement.focus()
        await pilot.press("f5")
        running = screen.running
        assert running is not None
        assert not running.asked
    assert running.asked


def test_what_is_stopped_before_it_begins_or_after_it_ended(tmp_path: Path) -> None:
    store = open_trace(demo_trace())
    trace = Trace(store)
    early, late = Interrupt(), Interrupt()
    early()
    with pytest.raises(SqlError, match="Cancelled"), run_sql(trace, "SELECT 1", early):
        pass
    with pytest.raises(SqlError, match="Cancelled"):
        write_parquet(trace, "SELECT 1", tmp_path / "x.parquet", early)
    with run_sql(trace, "SELECT 1", late) as result:
        assert list(result.rows) == [(1,)]
    late()
    store.close()
