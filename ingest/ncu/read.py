"""Reading what `ncu --csv` writes: the details page (a row for each metric), the raw page (a row
for each kernel, a column for each metric, units in the first row) and the source page (a row for
each instruction or line, a table for each kernel). Binary reports are passed on."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Final

from ..errors import DamagedTraceError, NotATraceError
from .kernel import NcuKernel, NcuRule, Triple
from .number import number
from .report import read_report
from .source_page import SourcePage, is_header

_FILE: Final = frozenset({"File Name", "File Path"})
"""Before the lines of a source file."""
_EXPORT: Final = "Export it: ncu --import REPORT.ncu-rep --page raw --csv > kernels.csv"


def read_ncu(path: Path) -> list[NcuKernel]:
    """The kernels of a report or an export, in its order. TraceError naming file, place and
    remedy."""
    try:
        with path.open("rb") as file:
            head = file.read(4)
        if head == b"NVR\x00" or path.suffix == ".ncu-rep":
            return read_report(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            found = _tables(path, file.read().splitlines(keepends=True))
    except OSError as error:
        raise NotATraceError(path, f"it cannot be read: {error.strerror}.", "") from error
    except UnicodeDecodeError as error:
        raise NotATraceError(path, "this is no text file.", _EXPORT) from error
    if not found:
        raise NotATraceError(path, "no table of Nsight Compute's CSV export is in it.", _EXPORT)
    return found


def _tables(path: Path, lines: list[str]) -> list[NcuKernel]:
    found: list[NcuKernel] = []
    by_id: dict[str, NcuKernel] = {}
    header: list[str] = []
    page: SourcePage | None = None
    file_name: str | None = None
    reader = csv.reader(("\n" if line.startswith("==") else line for line in lines), strict=True)
    try:
        for row in reader:
            if len(row) == 2 and row[0] == "Kernel Name":
                found.append(NcuKernel(row[1]))
                header, page, file_name = [], None, None
            elif len(row) == 2 and row[0] in _FILE:
                file_name = row[1]
                if page is not None:
                    page.file = file_name
            elif "Kernel Name" in row and "ID" in row:
                header, page = row, None
            elif is_header(row):
                header = row
                if not found:
                    found.append(NcuKernel(""))
                seen = set[str]() if page is None else page.seen
                page = SourcePage(header, found[-1], file_name, seen)
            elif header and _least(header) <= len(row) <= len(header):
                if page is not None:
                    page.add(row)
                    continue
                cells = dict(zip(header, row, strict=False))
                if not cells["ID"]:
                    by_id[""] = NcuKernel("", units=cells)  # the row of units
                else:
                    _kernel_row(found, by_id, cells)
            elif header and row:
                raise DamagedTraceError(
                    path,
                    f"{len(row)} cells where the table has {len(header)} columns.",
                    "Export it again.",
                    f"line {reader.line_num}",
                )
    except csv.Error as error:
        where = f"line {reader.line_num}"
        raise DamagedTraceError(path, f"{error}.", "Export it again.", where) from error
    return found


def _least(header: list[str]) -> int:
    """Cells that a whole row has: the details page leaves out the columns of rules at the end."""
    return header.index("Metric Value") + 1 if "Metric Value" in header else len(header)


def _kernel_row(found: list[NcuKernel], by_id: dict[str, NcuKernel], cells: dict[str, str]) -> None:
    kernel = by_id.get(cells["ID"])
    if kernel is None:
        kernel = by_id[cells["ID"]] = NcuKernel(
            cells["Kernel Name"],
            _triple(cells.get("Grid Size", "")),
            _triple(cells.get("Block Size", "")),
        )
        found.append(kernel)
    if "Metric Name" not in cells:
        units = by_id[""].units if "" in by_id else {}
        for name, text in cells.items():
            value = number(text)
            if value is not None and "__" in name:
                kernel.metrics[name] = value
                kernel.units[name] = units.get(name, "")
        return
    value = number(cells["Metric Value"])
    if cells["Metric Name"] and value is not None:
        section = cells.get("Section Name", "")
        name = cells["Metric Name"]
        key = name if "__" in name or not section else f"{section}: {name}"
        kernel.metrics[key] = value
        kernel.units[key] = cells.get("Metric Unit", "")
    if cells.get("Rule Name"):
        speedup = number(cells.get("Estimated Speedup", ""))
        kernel.rules.append(NcuRule(cells["Rule Name"], cells.get("Rule Description", ""), speedup))


def _triple(text: str) -> Triple | None:
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None
