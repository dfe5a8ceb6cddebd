"""Options for the files of sheets, and writing them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from ..reports.stdio import output

if TYPE_CHECKING:
    from ..reports.failures import UserError
    from ..reports.sheets import Sheet

F = TypeVar("F", bound=Callable[..., Any])

_NARROWEST: Final = 40


@dataclass(frozen=True, slots=True)
class Files:
    """Where sheets are to be written."""

    csv_folder: Path | None
    json_file: Path | None
    xlsx_file: Path | None
    html_file: Path | None
    parquet_folder: Path | None
    duckdb_file: Path | None
    markdown: bool
    limit: int
    wide: bool
    """Print all columns, however long the lines."""

    @property
    def any(self) -> bool:
        """Something is to be written to a file."""
        return any(
            getattr(self, field.name) is not None
            for field in fields(self)
            if field.name not in ("markdown", "limit", "wide")
        )


def _file(name: str, variable: str, what: str, *, dash: bool = False) -> Callable[[F], F]:
    kind = click.Path(path_type=Path, dir_okay=False, allow_dash=dash)
    return click.option(name, variable, type=kind, metavar="FILE", help=what)


def _folder(name: str, variable: str, what: str) -> Callable[[F], F]:
    kind = click.Path(path_type=Path, file_okay=False)
    return click.option(name, variable, type=kind, metavar="DIR", help=what)


_OPTIONS = (
    _file("--xlsx", "xlsx_file", "Write a workbook with one worksheet a sheet."),
    _file("--html", "html_file", "Write a page with charts and tables that needs no network."),
    _folder("--csv", "csv_folder", "Write one CSV file a sheet into this folder."),
    _folder("--parquet", "parquet_folder", "Write one Parquet file a sheet into this folder."),
    _file("--duckdb", "duckdb_file", "Write a DuckDB file with one table a sheet."),
    _file("--json", "json_file", "Write all sheets as JSON; - is the standard output.", dash=True),
    click.option("--md", "markdown", is_flag=True, help="Print Markdown."),
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        help="Print at most this many rows of a sheet; files hold all.",
    ),
    click.option(
        "--wide",
        is_flag=True,
        help="Print all columns, in lines of any length. [default: those that fit the terminal, "
        "or 80 characters]",
    ),
)


def file_options(function: F) -> F:
    """Options of which the command gets one argument, `files`."""

    @functools.wraps(function)
    def with_files(*args: Any, **values: Any) -> Any:
        files = Files(**{field.name: values.pop(field.name) for field in fields(Files)})
        return function(*args, files=files, **values)

    wrapped: Any = with_files
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return cast("F", wrapped)


def spare_inputs(files: Files, traces: Sequence[Path]) -> None:
    """UserError when a file to be written is one of those that were named to be read."""
    targets = [files.json_file, files.xlsx_file, files.html_file, files.duckdb_file]
    spare([path for path in targets if path is not None], traces)


def spare_folders(files: Files, reports: Sequence[Path]) -> None:
    """UserError when sheets would be written over those of a report that is read."""
    for folder in (files.csv_folder, files.parquet_folder):
        if folder is None or not folder.is_dir():
            continue
        if any(one.is_dir() and folder.samefile(one) for one in reports):
            raise _read_here(folder)


def spare(written: Sequence[Path], traces: Sequence[Path]) -> None:
    """UserError when one of the files to be written is read, as a trace or a part of one."""
    for path in written:
        if not path.is_file():
            continue
        # What is no trace by its name may stand in the folder of the traces, and be written again.
        others = path.suffix in (".xlsx", ".html", ".duckdb")
        named = [one for one in traces if one.is_file()]
        read = named if others else [*named, *(f for one in traces for f in _files_of(one))]
        if any(one.is_file() and path.samefile(one) for one in read):
            raise _read_here(path)


def _read_here(path: Path) -> UserError:
    from ..reports.failures import UserError
    from ..reports.format import clean

    return UserError(f"{clean(str(path))} is read here: it is never written. Name another.")


def _files_of(path: Path) -> tuple[Path, ...]:
    """The files of a trace; none where it is a folder of sheets."""
    from ..ingest.errors import TraceError
    from ..ingest.selection import select

    try:
        return select(path).files
    except TraceError:
        return ()


def write_report(
    title: str,
    subtitle: str,
    sheets: Sequence[Sheet],
    missing: dict[str, str],
    files: Files,
) -> None:
    """Write the sheets where they are wanted, else print their first rows. UserError when a file
    cannot be written."""
    from ..reports.failures import UserError
    from ..reports.format import clean
    from ..reports.sheet_files import write_json_sheets, write_markdown, write_text

    to_stdout = files.json_file is not None and str(files.json_file) == "-"
    try:
        _write_files(title, subtitle, sheets, missing, files)
    except OSError as error:
        name = clean(str(error.filename))
        raise UserError(f"{name} cannot be written: {error.strerror}.") from error
    with output() as out:
        if to_stdout:
            write_json_sheets(sheets, missing, out)
        elif files.markdown:
            write_markdown(_figures_first(sheets), files.limit, out)
        elif not files.any:
            # COLUMNS goes first, then the terminal.
            width = None if files.wide else max(_NARROWEST, get_terminal_size((80, 24)).columns)
            write_text(_figures_first(sheets), files.limit, out, width)
    for reason in dict.fromkeys(missing.values()):
        lacking = ", ".join(name for name, why in missing.items() if why == reason)
        sys.stderr.write(f"dctx: not made: {lacking}: {reason}\n")


def _figures_first(sheets: Sequence[Sheet]) -> list[Sheet]:
    """In files a reader turns to what he wants; on a screen figures come before remarks."""
    about = ("report_info", "data_quality")
    return sorted(sheets, key=lambda sheet: sheet.name in about)


def _write_files(
    title: str, subtitle: str, sheets: Sequence[Sheet], missing: dict[str, str], files: Files
) -> None:
    from ..reports.sheet_files import write_csv_folder, write_json_sheets
    from ..reports.written import replacing

    if files.csv_folder is not None:
        write_csv_folder(sheets, files.csv_folder)
    if files.parquet_folder is not None:
        from ..reports.table_files import write_parquet_folder

        write_parquet_folder(sheets, files.parquet_folder)
    if files.duckdb_file is not None:
        from ..reports.table_files import write_database

        write_database(sheets, files.duckdb_file)
    if files.xlsx_file is not None:
        from ..reports.workbook import workbook_sheets, write_workbook

        write_workbook(workbook_sheets(sheets), files.xlsx_file)
    if files.html_file is not None:
        from ..reports.html import write_html
        from ..reports.report_page import report_page

        with replacing(files.html_file) as place, place.open("w", encoding="utf-8") as file:
            write_html(report_page(title, subtitle, sheets, missing), file)
    if files.json_file is not None and str(files.json_file) != "-":
        with replacing(files.json_file) as place, place.open("w", encoding="utf-8") as file:
            write_json_sheets(sheets, missing, file)
