"""Sheets as files of columns: Parquet and DuckDB."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from .sheets import Column, Sheet, is_numeric
from .written import replacing


def write_parquet_folder(sheets: Iterable[Sheet], folder: Path) -> None:
    """One `<sheet>.parquet` a sheet; the folder is made. OSError as it comes."""
    parquet: Any = import_module("pyarrow.parquet")
    folder.mkdir(parents=True, exist_ok=True)
    for sheet in sheets:
        with replacing(folder / f"{sheet.name}.parquet") as place:
            parquet.write_table(arrow_table(sheet), place)


def write_database(sheets: Iterable[Sheet], path: Path) -> None:
    """A DuckDB file with one table a sheet. What was there is replaced. OSError as it comes."""
    import duckdb

    with replacing(path) as place:
        place.unlink(missing_ok=True)  # DuckDB opens no empty file
        try:
            with duckdb.connect(str(place)) as connection:
                for sheet in sheets:
                    connection.from_arrow(arrow_table(sheet)).create(sheet.name)
        except (duckdb.IOException, duckdb.OperationalError) as error:
            raise OSError(0, _reason(error), str(path)) from error


def _reason(error: Exception) -> str:
    """What the system said, without the name of the file that stands in for a while."""
    return str(error).split("\n")[0].rpartition('": ')[2]


def arrow_table(sheet: Sheet) -> Any:
    """Whole numbers as int64, others as double, texts as string; blank is NULL. Units are in the
    metadata of the columns."""
    pa = _pyarrow()
    fields = [
        pa.field(c.name, _type(c), metadata={"unit": c.unit} if c.unit else None)
        for c in sheet.columns
    ]
    arrays = [
        pa.array([_value(v, field.type) for v in column.values], field.type)
        for column, field in zip(sheet.columns, fields, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _pyarrow() -> Any:
    """Arrow, which has no types."""
    return import_module("pyarrow")


def _type(column: Column) -> Any:
    pa = _pyarrow()
    if not is_numeric(column):
        return pa.string()
    whole = all(v is None or isinstance(v, int) for v in column.values)
    return pa.int64() if whole and not column.unit else pa.float64()


def _value(value: object, kind: Any) -> object:
    if value is None or kind != _pyarrow().string():
        return value
    return str(value).encode("utf-8", "replace").decode()
