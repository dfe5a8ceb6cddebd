"""Rows as a table, JSON and CSV."""

import io
import json
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from dctx.reports.tabular import write_csv, write_json, write_table

COLUMNS = ("name", "ns")


def _rows() -> Iterator[tuple[Any, ...]]:
    yield ("gemm", 1_234)
    yield ("copy", None)


def test_table_aligns_numbers_to_the_right() -> None:
    out = io.StringIO()
    write_table(COLUMNS, _rows(), out)
    assert out.getvalue() == "name    ns\n────  ────\ngemm  1234\ncopy\n"


def test_table_without_rows_is_its_heading() -> None:
    out = io.StringIO()
    write_table(COLUMNS, iter(()), out)
    assert out.getvalue() == "name  ns\n────  ──\n"


def test_control_characters_never_reach_the_terminal() -> None:
    out = io.StringIO()
    write_table(("name",), iter([("a\x1b[31m\nb",)]), out)
    assert out.getvalue().splitlines()[2] == "a?[31m b"


def test_rows_beyond_the_measured_ones_are_written() -> None:
    out = io.StringIO()
    write_table(("n",), ((n,) for n in range(2_500)), out)
    assert len(out.getvalue().splitlines()) == 2_502


def test_csv() -> None:
    out = io.StringIO()
    write_csv(COLUMNS, _rows(), out)
    assert out.getvalue() == "name,ns\ngemm,1234\ncopy,\n"


def test_json_is_an_array_of_objects() -> None:
    out = io.StringIO()
    write_json(COLUMNS, _rows(), out)
    assert json.loads(out.getvalue()) == [
        {"name": "gemm", "ns": 1234},
        {"name": "copy", "ns": None},
    ]
    empty = io.StringIO()
    write_json(COLUMNS, iter(()), empty)
    assert json.loads(empty.getvalue()) == []


def test_json_keeps_whole_numbers_exact() -> None:
    out = io.StringIO()
    values = (2**62 + 1, Decimal(2**70), Decimal("1.5"), float("nan"), datetime(2025, 1, 2))
    write_json("abcde", iter([values]), out)
    assert json.loads(out.getvalue()) == [
        {"a": 2**62 + 1, "b": 2**70, "c": 1.5, "d": None, "e": "2025-01-02 00:00:00"}
    ]
    nested = io.StringIO()
    write_json(("x",), iter([({"k": [1, (2, None)]},)]), nested)
    assert json.loads(nested.getvalue()) == [{"x": {"k": [1, [2, None]]}}]
