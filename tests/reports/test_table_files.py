"""Workbooks and files of columns, read back by other libraries."""

from pathlib import Path
from typing import Any

import duckdb
import openpyxl  # type: ignore[import-untyped]
import pytest

from dctx.reports import workbook
from dctx.reports.sheets import Column, Sheet
from dctx.reports.table_files import write_database, write_parquet_folder
from dctx.reports.workbook import (
    MOST_TEXT,
    workbook_cuts,
    workbook_sheets,
    write_workbook,
)
from tests.near import near

SHEET = Sheet(
    "ops",
    [
        Column("name", ["=1+1", "https://x.example", None, "a\x1bb\ud800", "{=A1}"]),
        Column("time", [1.25, None, float("inf"), 4.5, -0.0], "µs"),
        Column("count", [1, 2**60, None, 4, True]),
    ],
)


def read(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    book: Any = openpyxl.load_workbook(path)
    return {page.title: list(page.iter_rows(values_only=True)) for page in book.worksheets}


def test_cells_are_plain_numbers_and_texts(tmp_path: Path) -> None:
    write_workbook([SHEET], tmp_path / "w.xlsx")
    head, *rows = read(tmp_path / "w.xlsx")["ops"]
    assert head == ("name", "time", "count")
    assert rows == [
        ("=1+1", 1.25, 1),
        ("https://x.example", None, str(2**60)),
        (None, None, None),
        ("a?b?", 4.5, 4),
        ("{=A1}", 0, "True"),
    ]
    page: Any = openpyxl.load_workbook(tmp_path / "w.xlsx")["ops"]
    assert page["A2"].data_type == "s"  # no formula
    assert page["A3"].hyperlink is None
    assert page.freeze_panes == "A2"
    assert page["B2"].number_format == "0.000"
    assert page.column_dimensions["A"].width > 15


def test_names_of_worksheets_are_short_and_different(tmp_path: Path) -> None:
    long = "x" * 40
    sheets = [Sheet(name, SHEET.columns) for name in (long, long + "y", "X" * 31, "a/b[c]")]
    write_workbook(sheets, tmp_path / "w.xlsx")
    names = list(read(tmp_path / "w.xlsx"))
    assert names == ["x" * 31, "x" * 29 + "~2", "X" * 29 + "~3", "a_b_c_"]
    told = [cut for cut in workbook_cuts(sheets) if "called" in cut.what]
    assert [cut.sheet for cut in told] == [sheet.name for sheet in sheets]


def test_what_is_cut_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    sheet = Sheet("s", [Column("text", ["x" * (MOST_TEXT + 5), "b", "c", "d"])])
    write_workbook([sheet], tmp_path / "w.xlsx")
    rows = read(tmp_path / "w.xlsx")["s"]
    assert len(rows) == 4  # with the heading
    assert len(rows[1][0]) == MOST_TEXT
    assert [cut.what.split(":")[0] for cut in workbook_cuts([sheet])] == ["1 rows left out", "text"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write_workbook([SHEET], tmp_path / "no" / "w.xlsx")
    with pytest.raises(OSError, match=r".+"):
        write_database([SHEET], tmp_path / "no" / "w.duckdb")


def test_parquet_and_duckdb_keep_types(tmp_path: Path) -> None:
    sheet = Sheet(
        "ops",
        [
            Column("name", ["a", None]),
            Column("time", [1, 2.5], "µs"),
            Column("count", [1, None]),
            Column("nothing", [None, None]),
        ],
    )
    write_parquet_folder([sheet], tmp_path / "folder")
    write_database([sheet, Sheet("empty", [Column("n", [])])], tmp_path / "w.duckdb")
    expected = [("a", near(1.0), 1, None), (None, near(2.5), None, None)]
    found = duckdb.read_parquet(str(tmp_path / "folder" / "ops.parquet"))
    assert found.fetchall() == expected
    assert [str(kind) for kind in found.types[:3]] == ["VARCHAR", "DOUBLE", "BIGINT"]
    with duckdb.connect(str(tmp_path / "w.duckdb"), read_only=True) as connection:
        assert connection.table("ops").fetchall() == expected
        assert connection.table("empty").fetchall() == []
    write_database([sheet], tmp_path / "w.duckdb")  # again: what was there goes


def test_single_operators_are_left_out_where_they_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workbook, "MOST_INSTANCES", 2)
    other = Sheet("gpu_timeline", SHEET.columns)
    assert workbook_sheets([other, SHEET]) == [other]
    assert [cut.what for cut in workbook_cuts([other, SHEET])] == [
        "left out: 5 rows; --sheet ops writes them"
    ]
    assert workbook_sheets([SHEET]) == [SHEET]
