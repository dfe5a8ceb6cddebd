"""Sheets as an Excel workbook."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, Final

from .sheets import Column, Sheet, cell_text, is_numeric, titles
from .written import replacing

MOST_TEXT: Final = 32_767
MOST_ROWS: Final = 1_048_575
MOST_INSTANCES: Final = 100_000
_LONGEST_NAME: Final = 31
_FORBIDDEN: Final = re.compile(r"[\[\]:*?/\\]")
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_EXACT: Final = 2**53
"""A workbook keeps numbers as doubles: larger whole numbers would change."""
_FORMATS: Final = {"ms": "0.000000", "µs": "0.000", "%": "0.00", "MB": "0.000"}
_MEASURED_ROWS: Final = 200
_WIDEST: Final = 60
_NARROWEST: Final = 6


@dataclass(frozen=True, slots=True)
class Cut:
    """What a workbook cannot hold."""

    sheet: str
    what: str


def workbook_sheets(sheets: Sequence[Sheet]) -> list[Sheet]:
    """Those that belong into a workbook: single operators only if they are not too many, or were
    asked for alone."""
    few = [s for s in sheets if s.name != "ops" or len(s) <= MOST_INSTANCES]
    return few or list(sheets)


def workbook_cuts(sheets: Sequence[Sheet]) -> list[Cut]:
    """What a workbook of these sheets lacks, or has under another name."""
    cuts: list[Cut] = []
    written = workbook_sheets(sheets)
    for sheet in sheets:
        if all(sheet is not other for other in written):
            what = f"left out: {len(sheet)} rows; --sheet {sheet.name} writes them"
            cuts.append(Cut(sheet.name, what))
    for sheet, name in zip(written, _names(written), strict=True):
        if name != sheet.name:
            cuts.append(Cut(sheet.name, f"called {name} in the workbook"))
        rows = len(sheet) - MOST_ROWS
        if rows > 0:
            cuts.append(Cut(sheet.name, f"{rows} rows left out: a sheet holds {MOST_ROWS}"))
        for column in sheet.columns:
            long = sum(isinstance(v, str) and len(v) > MOST_TEXT for v in column.values)
            if long:
                what = f"{column.name}: {long} texts cut at {MOST_TEXT} characters"
                cuts.append(Cut(sheet.name, what))
    return cuts


def write_workbook(sheets: Sequence[Sheet], path: Path) -> None:
    """One worksheet a sheet, row by row: memory does not grow with them. Cells are plain numbers
    and texts; a text that looks like a formula or a link stays a text. OSError as it comes."""
    writer: Any = import_module("xlsxwriter")  # it has no types
    with replacing(path) as place:
        out = _Output(place, "w")
        try:
            _write_book(sheets, writer.Workbook(out, {"constant_memory": True}))
        except writer.exceptions.FileCreateError as error:
            [cause] = error.args
            raise cause from error
        finally:
            out.close()


class _Output(io.FileIO):
    """A file that fails once: the archive that a workbook is would write its end to it again when
    it is thrown away, and complain on standard error that it cannot. After a failure and when
    closed it only counts."""

    _failed = False
    _place = 0

    def write(self, data: Any) -> int:
        if self._failed:
            self._place += len(data)
            return len(data)
        rest = memoryview(data)
        try:
            while rest:  # a disk that is nearly full takes a part
                rest = rest[super().write(rest) :]
        except OSError:
            self._place, self._failed = super().tell(), True
            raise
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        if self._failed:
            self._place = offset
            return offset
        return super().seek(offset, whence)

    def tell(self) -> int:
        return self._place if self._failed else super().tell()

    def flush(self) -> None:
        if not self.closed:
            super().flush()

    def close(self) -> None:
        self._failed = True
        super().close()


def _write_book(sheets: Sequence[Sheet], book: Any) -> None:
    head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
    formats: dict[str, Any] = {
        unit: book.add_format({"num_format": text}) for unit, text in _FORMATS.items()
    }
    for sheet, name in zip(sheets, _names(sheets), strict=True):
        _write_sheet(sheet, book.add_worksheet(name), head, formats)
    book.close()


def _names(sheets: Sequence[Sheet]) -> list[str]:
    """Names that Excel takes: short, and different whatever the case."""
    used: set[str] = set()
    names: list[str] = []
    for sheet in sheets:
        plain = _FORBIDDEN.sub("_", sheet.name).strip("'") or "sheet"
        name, number = plain[:_LONGEST_NAME], 1
        while name.lower() in used:
            number += 1
            end = f"~{number}"
            name = plain[: _LONGEST_NAME - len(end)] + end
        used.add(name.lower())
        names.append(name)
    return names


def _write_sheet(sheet: Sheet, page: Any, head: Any, formats: dict[str, Any]) -> None:
    page.freeze_panes(1, 0)
    for at, (column, title) in enumerate(zip(sheet.columns, titles(sheet), strict=True)):
        page.set_column(at, at, _width(column, title))
        page.write_string(0, at, _plain(column.name), head)
    rows = min(len(sheet), MOST_ROWS)
    if sheet.columns and rows:
        page.autofilter(0, 0, rows, len(sheet.columns) - 1)
    of_column = [formats.get(column.unit) for column in sheet.columns]
    for number, row in enumerate(islice(sheet.rows(), rows), start=1):
        for at, value in enumerate(row):
            _write_cell(page, number, at, value, of_column[at])


def _write_cell(page: Any, row: int, at: int, value: Any, of_column: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        page.write_string(row, at, str(value))
    elif isinstance(value, int | float) and abs(value) < _EXACT:
        page.write_number(row, at, value, of_column)
    elif isinstance(value, int) or not isinstance(value, float) or isfinite(value):
        page.write_string(row, at, _plain(str(value)))


def _plain(text: str) -> str:
    """As much of a text as a cell takes, without what its file cannot hold."""
    return _NOT_IN_XML.sub("?", text[:MOST_TEXT])


def _width(column: Column, title: str) -> float:
    """In characters, from the first rows."""
    longest = max(
        (len(cell_text(v, column)) for v in islice(column.values, _MEASURED_ROWS)), default=0
    )
    wide = len(title) if is_numeric(column) else min(len(title), 24)
    return max(_NARROWEST, min(_WIDEST, max(longest, wide) + 2))
