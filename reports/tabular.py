"""Rows of any query as a table for people, as JSON or as CSV. Everything streams."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice
from math import isfinite
from typing import Any, TextIO, cast

from .format import clean
from .json_text import json_text

_MEASURED_ROWS = 1_000
"""Column widths of a table come from this many first rows."""

Row = tuple[Any, ...]


def write_table(columns: Sequence[str], rows: Iterator[Row], out: TextIO) -> None:
    """Aligned columns: numbers to the right, NULL as an empty cell."""
    head = list(islice(rows, _MEASURED_ROWS))
    columns = [clean(name) for name in columns]
    widths = [len(name) for name in columns]
    right = [bool(head)] * len(columns)
    for row in head:
        for i, value in enumerate(row):
            widths[i] = max(widths[i], len(_cell(value)))
            right[i] = right[i] and (value is None or _is_number(value))

    def line(cells: Iterable[str]) -> str:
        places = zip(cells, widths, right, strict=True)
        padded = (cell.rjust(w) if is_right else cell.ljust(w) for cell, w, is_right in places)
        return "  ".join(padded).rstrip() + "\n"

    out.write(line(columns))
    out.write("  ".join("─" * width for width in widths) + "\n")
    out.writelines(line(map(_cell, row)) for row in chain(head, rows))


def write_csv(columns: Sequence[str], rows: Iterator[Row], out: TextIO) -> None:
    """CSV with a heading line; NULL is an empty field.

    The values as they are, for programs; on a terminal without control characters.
    """
    writer = csv.writer(out, lineterminator="\n")
    shown = chain([tuple(columns)], rows)
    writer.writerows((map(_cell, row) for row in shown) if out.isatty() else shown)


def write_json(columns: Sequence[str], rows: Iterator[Row], out: TextIO) -> None:
    """An array of one object a row; what JSON has no type for is written as text.

    A name that several columns have is numbered: `n`, `n_2`.
    """
    columns = _distinct(columns)
    out.write("[")
    separator = "\n"
    for row in rows:
        values = {name: _json(value) for name, value in zip(columns, row, strict=True)}
        out.write(separator + json_text(values))
        separator = ",\n"
    out.write("\n]\n")


def _distinct(columns: Sequence[str]) -> list[str]:
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names or (number > 1 and name in columns):
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _cell(value: object) -> str:
    return "" if value is None else clean(str(value))


def _json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, list | tuple):
        return [_json(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in cast("dict[object, Any]", value).items()}
    return str(value)
