"""`dctx report`: tables of GPU time by operators and kernels, for spreadsheets and scripts."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..reports.command import Command
from ..reports.failures import say
from ..reports.stdio import output
from .opening import opened
from .options import opening_options, traces_argument


@click.command("report", cls=Command)
@traces_argument()
@click.option(
    "--sheet", "names", multiple=True, metavar="NAME", help="Only this sheet. Repeatable."
)
@click.option(
    "--csv",
    "csv_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write one CSV file a sheet into this folder.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write all sheets as JSON; - is the standard output.",
)
@click.option("--md", "markdown", is_flag=True, help="Print Markdown.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Print at most this many rows of a sheet; files hold all.",
)
@click.option(
    "--compat",
    type=click.Choice(["tracelens"]),
    help="Count as TraceLens does, and write its columns only.",
)
@click.option("--linked-only", is_flag=True, help="Only GPU work whose launch is in the trace.")
@click.option(
    "--micro-idle-us",
    type=click.FloatRange(min=0),
    default=0,
    metavar="T",
    help="Tell pauses of the GPU shorter than T µs from longer ones.",
)
@click.option(
    "--short-us",
    type=click.FloatRange(min=0, min_open=True),
    default=10,
    show_default=True,
    metavar="T",
    help="Kernels shorter than T µs are short.",
)
@opening_options
def report_command(
    trace: tuple[Path, ...],
    names: tuple[str, ...],
    csv_folder: Path | None,
    json_file: Path | None,
    markdown: bool,
    limit: int,
    compat: str | None,
    linked_only: bool,
    micro_idle_us: float,
    short_us: float,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Tables of the GPU time of TRACE: timeline, operators, kernels.

    Without --csv, --json or --md the first rows of each sheet are printed. Sheets that the trace
    cannot tell are named, with the reason; one that was asked for by --sheet is an error then.
    """
    with opened(trace, no_cache=no_cache, salvage=salvage) as opened_trace:
        from dataclasses import replace

        from ..analyzers.op_report import op_report
        from ..analyzers.report_rules import DCTX, TRACELENS
        from ..reports.failures import UserError
        from ..reports.format import clean
        from ..reports.op_sheets import SHEET_NAMES, missing_sheets, sheet
        from ..reports.sheet_context import SheetOptions
        from ..reports.sheet_files import (
            write_csv_folder,
            write_json_sheets,
            write_markdown,
            write_text,
        )

        unknown = [name for name in names if name not in SHEET_NAMES]
        if unknown:
            raise click.UsageError(
                f"There is no sheet {clean(unknown[0])!r}. Sheets: {', '.join(SHEET_NAMES)}."
            )
        rules = replace(DCTX, linked_only=linked_only) if compat is None else TRACELENS
        options = SheetOptions(
            rules,
            tracelens=compat is not None,
            micro_idle_ns=round(micro_idle_us * 1000),
            short_ns=round(short_us * 1000),
        )
        report = op_report(opened_trace, rules, options.micro_idle_ns)
        missing = missing_sheets(report, names or SHEET_NAMES)
        if names and missing:
            name, reason = next(iter(missing.items()))
            raise UserError(f"{name} cannot be made: {reason}")
        sheets = [
            sheet(report, name, options) for name in names or SHEET_NAMES if name not in missing
        ]
        to_stdout = json_file is not None and str(json_file) == "-"
        try:
            if csv_folder is not None:
                write_csv_folder(sheets, csv_folder)
            if json_file is not None and not to_stdout:
                with json_file.open("w", encoding="utf-8") as file:
                    write_json_sheets(sheets, missing, file)
        except OSError as error:
            raise UserError(
                f"{clean(str(error.filename))} cannot be written: {error.strerror}."
            ) from error
        with output() as out:
            if to_stdout:
                write_json_sheets(sheets, missing, out)
            elif markdown:
                write_markdown(sheets, limit, out)
            elif csv_folder is None and json_file is None:
                write_text(sheets, limit, out)
        for reason in dict.fromkeys(missing.values()):
            lacking = ", ".join(name for name, why in missing.items() if why == reason)
            say(sys.stderr, f"dctx: not made: {lacking}: {reason}\n")
