"""`dctx compare-reports`: the sheets of several traces or reports, row against row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..reports.command import Command
from .opening import opened
from .options import opening_options
from .sheet_output import Files, file_options, spare_folders, spare_inputs, write_report

if TYPE_CHECKING:
    from ..reports.sheets import Sheet


@click.command("compare-reports", cls=Command)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("others", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--names", metavar="A,B,…", help="What to call them, BASE first. [default: their file names]"
)
@click.option("--ignore-strides", is_flag=True, help="Rows that differ in strides only are one.")
@click.option("--ignore-concrete", is_flag=True, help="The same for concrete inputs.")
@click.option("--per-step", is_flag=True, help="Divide sums and counts by the number of steps.")
@click.option(
    "--min-us",
    type=click.FloatRange(min=0),
    default=0,
    metavar="T",
    help="Leave out rows with less than T µs in every report.",
)
@file_options
@opening_options
def compare_reports_command(
    base: Path,
    others: tuple[Path, ...],
    names: str | None,
    ignore_strides: bool,
    ignore_concrete: bool,
    per_step: bool,
    min_us: float,
    files: Files,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Compare the sheets of OTHERS with those of BASE: differences, rows in both, in one only.

    Each is a trace, or a report that dctx wrote: a folder of CSV or Parquet files, a workbook, JSON
    or DuckDB.
    Rows with equal keys are added up first, so that sums are those of the reports. For changes per
    step that are told from noise, and for call paths, see dctx compare.
    """
    from ..reports.diff_sheets import diff_info, diff_sheets

    paths = (base, *others)
    tags = _tags(paths, names)
    spare_inputs(files, paths)
    spare_folders(files, paths)
    reports: list[dict[str, Sheet]] = []
    steps: list[float] = []
    for path in paths:
        sheets, number = _sheets(path, per_step, no_cache=no_cache, salvage=salvage)
        reports.append(sheets)
        steps.append(number)
    without = [
        column
        for column, ignored in (
            ("Input Strides", ignore_strides),
            ("Concrete Inputs", ignore_concrete),
        )
        if ignored
    ]
    made, missing = diff_sheets(
        tags, reports, without=without, least_us=min_us, per=steps if per_step else ()
    )
    made.insert(0, diff_info(tags, list(map(str, paths)), reports, steps if per_step else ()))
    title = f"{', '.join(tags[1:])} against {tags[0]}"
    write_report(title, " ".join(map(str, paths)), made, missing, files)


def _tags(paths: tuple[Path, ...], names: str | None) -> list[str]:
    if names is not None:
        tags = [name.strip() for name in names.split(",")]
        if len(tags) != len(paths) or not all(tags):
            raise click.UsageError(f"--names needs {len(paths)} names, separated by commas.")
    else:
        tags = [path.name.split(".")[0] or str(path) for path in paths]
        if len(set(tags)) < len(tags):
            tags = [f"{chr(ord('a') + i)}" if i < 26 else f"r{i}" for i in range(len(paths))]
    if len(set(tags)) < len(tags):
        raise click.UsageError("--names must differ.")
    return tags


def _sheets(
    path: Path, per_step: bool, *, no_cache: bool, salvage: bool
) -> tuple[dict[str, Sheet], float]:
    """The sheets of one side by name, and its number of steps."""
    from ..reports.failures import UserError
    from ..reports.format import clean
    from ..reports.read_sheets import is_report, read_sheets

    name = clean(str(path))
    if is_report(path):
        if per_step:
            what = f"{name} is a report: it does not tell the number of steps."
            raise UserError(f"{what} Name the trace, or leave --per-step out.")
        return read_sheets(path), 1.0
    with opened(path, no_cache=no_cache, salvage=salvage) as trace:
        from ..analyzers.report_rules import DCTX
        from ..analyzers.steps import find_steps
        from ..reports.report_sheets import report_sheets
        from ..reports.sheet_context import SheetOptions

        made, _ = report_sheets(trace, SheetOptions(DCTX))
        number = 1.0
        if per_step:
            steps = find_steps(trace)
            number = len(steps.start_ns) / max(len(steps.ranks), 1)
            if not number:
                raise UserError(
                    f"{name} has no steps ({clean(steps.reason)}): leave --per-step out."
                )
        return {sheet.name: sheet for sheet in made}, number
