"""Reads sheets that an earlier report wrote: a folder of CSV or Parquet files, a workbook, JSON or
DuckDB."""

from __future__ import annotations

import csv
import json
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from .failures import UserError
from .format import clean
from .sheets import Column, Sheet

_MOST_BYTES = 1 << 30


def is_report(path: Path) -> bool:
    """Told by the files of a folder, or the name and first bytes of a file."""
    if path.is_dir():
        return any(path.glob("gpu_timeline.*")) or any(path.glob("kernel_summary.*"))
    if path.suffix in (".duckdb", ".xlsx"):
        return True
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(11) == b'{"sheets": '


def read_sheets(path: Path) -> dict[str, Sheet]:
    """By name. UserError when the files are not sheets or cannot be read."""
    try:
        if path.is_dir():
            found = _folder(path)
        elif path.suffix == ".xlsx":
            found = _workbook(path)
        elif path.suffix == ".duckdb":
            found = _database(path)
        else:
            found = _document(path)
    except OSError as error:
        raise UserError(f"{clean(str(path))} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise UserError(
            f"{clean(str(path))} is no report that dctx wrote ({clean(str(error))[:200]}). Write "
            "it again with dctx report."
        ) from error
    if not found:
        raise UserError(f"{clean(str(path))} holds no sheets. Write it again with dctx report.")
    return found


def _folder(path: Path) -> dict[str, Sheet]:
    found: dict[str, Sheet] = {}
    for file in sorted(path.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as text:
            csv.field_size_limit(_MOST_BYTES)
            head, *rows = list(csv.reader(text)) or [[]]
        if any(len(row) != len(head) for row in rows):
            raise ValueError(f"{file.name}: rows of different lengths")
        columns = [Column(name, _typed([row[i] for row in rows])) for i, name in enumerate(head)]
        found[file.stem] = Sheet(file.stem, columns)
    parquet: Any = import_module("pyarrow.parquet")
    for file in sorted(path.glob("*.parquet")):
        table = parquet.read_table(file)
        columns = [Column(n, _truths(table.column(n).to_pylist())) for n in table.column_names]
        found[file.stem] = Sheet(file.stem, columns)
    return found


def _typed(texts: list[str]) -> list[Any]:
    """Numbers where all are, else texts; blank is None."""
    for kind in (int, float):
        try:
            return [None if text == "" else kind(text) for text in texts]
        except ValueError:
            continue
    return _truths([None if text == "" else text for text in texts])


def _truths(values: list[Any]) -> list[Any]:
    """Truth values where all are: such files hold them as texts."""
    words = {"True": True, "False": False, None: None}
    try:
        return [words[value] for value in values]
    except (KeyError, TypeError):
        return values


def _document(path: Path) -> dict[str, Sheet]:
    sheets: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["sheets"]
    found: dict[str, Sheet] = {}
    for name, sheet in sheets.items():
        rows: list[dict[str, Any]] = sheet["rows"]
        heads = dict.fromkeys(key for row in rows for key in row)
        found[name] = Sheet(name, [Column(h, [row.get(h) for row in rows]) for h in heads])
    return found


def _workbook(path: Path) -> dict[str, Sheet]:
    """Names of sheets are cut at 31 characters there: such a sheet is read under its short name."""
    try:
        openpyxl: Any = import_module("openpyxl")
    except ImportError as error:
        raise UserError(
            f"{clean(str(path))}: workbooks are read by openpyxl, which is not installed (pip "
            "install openpyxl). Or compare the CSV, Parquet, JSON or DuckDB form of the report."
        ) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except BadZipFile as error:
        raise ValueError("it is no workbook") from error
    found: dict[str, Sheet] = {}
    try:
        for page in book.worksheets:
            head, *rows = [list(row) for row in page.iter_rows(values_only=True)] or [[]]
            names = [str(name) for name in head if name is not None]
            columns = [
                Column(name, _truths([row[i] if i < len(row) else None for row in rows]))
                for i, name in enumerate(names)
            ]
            found[page.title] = Sheet(page.title, columns)
    finally:
        book.close()
    return found


def _database(path: Path) -> dict[str, Sheet]:
    if not path.exists():
        raise UserError(f"{clean(str(path))} does not exist.")
    duckdb: Any = import_module("duckdb")
    found: dict[str, Sheet] = {}
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            tables = connection.table_function("duckdb_tables").project("table_name")
            for name in sorted(row[0] for row in tables.fetchall()):
                table = connection.table(name)
                rows = table.fetchall()
                values = [[row[i] for row in rows] for i in range(len(table.columns))]
                columns = [
                    Column(*c) for c in zip(table.columns, map(_truths, values), strict=True)
                ]
                found[name] = Sheet(name, columns)
    except duckdb.Error as error:
        raise ValueError(str(error).split("\n")[0]) from error
    return found
