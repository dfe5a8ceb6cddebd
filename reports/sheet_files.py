"""Sheets as files and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from .format import clean
from .json_text import json_text
from .markdown import cell, table
from .sheets import Column, Sheet, cell_text, is_numeric, titles
from .tabular import write_csv, write_json, write_table
from .written import replacing


def write_csv_folder(sheets: Iterable[Sheet], folder: Path) -> list[Path]:
    """One `<sheet>.csv` a sheet; the folder is made. Returns the files. OSError as it comes."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for sheet in sheets:
        path = folder / f"{sheet.name}.csv"
        with replacing(path) as place, place.open("w", encoding="utf-8", newline="") as out:
            write_csv(sheet.headings, sheet.rows(), out)
        written.append(path)
    return written


def write_json_sheets(sheets: Iterable[Sheet], missing: dict[str, str], out: TextIO) -> None:
    """An object: `sheets` by name, each with its `units` by column and its `rows` as objects;
    `missing` tells by name why a sheet is not there."""
    out.write('{"sheets": {')
    separator = "\n"
    for sheet in sheets:
        units = {column.name: column.unit for column in sheet.columns if column.unit}
        out.write(f'{separator}{json_text(sheet.name)}: {{"units": {json_text(units)}, "rows": ')
        write_json(sheet.headings, sheet.rows(), out)
        out.write("}")
        separator = ",\n"
    out.write(f'}}, "missing": {json_text(missing)}}}\n')


def write_text(sheets: Iterable[Sheet], limit: int, out: TextIO, width: int | None) -> None:
    """Aligned tables of at most `limit` rows; each says how many more there are. Columns that
    `width` characters have no room for are named; None: all are shown."""
    from .fitted import fitted  # files need none of it

    for sheet in sheets:
        out.write(f"{sheet.name}\n\n")
        if width is None:
            write_table(titles(sheet), _shown(sheet, limit), out)
        else:
            rows = list(islice(sheet.rows(), limit))
            out.writelines(f"{line}\n" for line in fitted(sheet, rows, width))
        out.write(_rest(sheet, limit) + "\n")


def write_markdown(sheets: Iterable[Sheet], limit: int, out: TextIO) -> None:
    """The same for comments on pull requests."""
    for sheet in sheets:
        left = [i for i, column in enumerate(sheet.columns) if not is_numeric(column)]
        rows = [
            [cell(text) if i in left and text else text for i, text in enumerate(row)]
            for row in _shown(sheet, limit)
        ]
        out.write(f"## {sheet.name}\n\n")
        out.writelines(f"{line}\n" for line in table(titles(sheet), rows, left))
        out.write(_rest(sheet, limit) + "\n")


def _shown(sheet: Sheet, limit: int) -> Iterator[tuple[Any, ...]]:
    for row in islice(sheet.rows(), limit):
        yield tuple(_text(v, c) for v, c in zip(row, sheet.columns, strict=True))


_LONGEST = 60


def _text(value: Any, column: Column) -> str:
    text = clean(cell_text(value, column))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _rest(sheet: Sheet, limit: int) -> str:
    more = len(sheet) - limit
    return f"\n… {more} more rows\n" if more > 0 else ""
