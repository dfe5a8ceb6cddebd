"""`dctx collectives`: communication of all ranks, and who is late."""

from __future__ import annotations

from pathlib import Path

import click

from ..reports.command import Command
from ..reports.stdio import output
from .host import requests, text_width
from .opening import opened
from .options import compat_ids, opening_options, traces_argument
from .part import Part, part_options
from .preload import preload
from .sheet_output import Files, file_options, spare_inputs, write_report


@click.command("collectives", cls=Command)
@traces_argument()
@click.option(
    "--sheet", "names", multiple=True, metavar="NAME", help="Only this sheet. Repeatable."
)
@click.option(
    "--gpus-per-node",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ranks 0 to N-1 share a host, and so on.",
)
@click.option(
    "--align",
    type=click.Choice(["ends", "none"]),
    default="ends",
    show_default=True,
    help="Correct clocks of hosts by the ends of collectives, or take times as recorded.",
)
@click.option(
    "--compat",
    metavar="tracelens[,-Dn…]",
    callback=compat_ids,
    help="Count as TraceLens does, and write its columns only; -Dn: but for this difference "
    "(docs/report.md).",
)
@click.option(
    "--ext",
    "extension_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Run this Python file: names of your own communication kernels.",
)
@part_options
@file_options
@opening_options
def collectives_command(
    trace: tuple[Path, ...],
    names: tuple[str, ...],
    gpus_per_node: int | None,
    align: str,
    compat: frozenset[str] | None,
    extension_file: Path | None,
    part: Part,
    files: Files,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Collectives of all ranks of TRACE: a folder, a pattern or the files of the ranks.

    Latency, waits and skew of each collective, its bandwidth, and the rank that the others wait
    for. Ranks that are missing and sizes that differ are marked, not fatal.
    """
    spare_inputs(files, trace)
    preload("reports.collective_sheets", "reports.collective_text")
    with opened(trace, no_cache=no_cache, salvage=salvage) as opened_trace:
        from dataclasses import replace

        from ..analyzers.collective_report import collective_report
        from ..analyzers.collective_timing import Settings
        from ..analyzers.report_rules import DCTX
        from ..analyzers.report_rules import tracelens as of_tracelens
        from ..reports.collective_info import collective_info
        from ..reports.collective_sheets import (
            COLLECTIVE_SHEETS,
            collective_sheet,
            missing_collective_sheets,
        )
        from ..reports.collective_text import collective_text
        from ..reports.failures import UserError
        from ..reports.format import clean
        from ..reports.own_files import extension_of

        unknown = [name for name in names if name not in COLLECTIVE_SHEETS]
        if unknown:
            raise click.UsageError(
                f"There is no sheet {clean(unknown[0])!r}. Sheets: {', '.join(COLLECTIVE_SHEETS)}."
            )
        tracelens = compat is not None
        rules = DCTX if compat is None else of_tracelens(compat)
        rules = replace(rules, extension=extension_of(extension_file))
        aligned = align == "ends" and "D46" not in rules.compat
        settings = Settings(gpus_per_node, aligned, gib="D42" in rules.compat)
        with requests():
            scope = part.scope(opened_trace)
            report = collective_report(opened_trace, rules, settings, scope)
        every = missing_collective_sheets(report.timed)
        missing = {name: why for name, why in every.items() if not names or name in names}
        if names and missing:
            name, reason = next(iter(missing.items()))
            raise UserError(f"{name} cannot be made: {reason}")
        sheets = [
            collective_sheet(report, name, tracelens=tracelens)
            for name in names or COLLECTIVE_SHEETS
            if name not in missing
        ]
        if not (names or tracelens or files.any or files.markdown):
            with output() as out:
                out.write(collective_text(report, text_width()))
            return
        if not names and not tracelens:
            workbook = files.xlsx_file is not None
            info = collective_info(opened_trace, report, sheets, missing, workbook=workbook)
            sheets.insert(0, info)
        write_report("Collectives", " ".join(map(str, trace)), sheets, missing, files)
