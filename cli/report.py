"""`dctx report`: tables of GPU time by operators and kernels, for spreadsheets and scripts."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from ..reports.command import Command
from .findings import findings_options, refuse_without_findings, write_findings
from .opening import opened
from .options import compat_ids, opening_options, traces_argument
from .part import Part, part_options
from .preload import preload
from .sheet_output import Files, file_options, spare_inputs, write_report


@click.command("report", cls=Command)
@traces_argument()
@click.option(
    "--sheet", "names", multiple=True, metavar="NAME", help="Only this sheet. Repeatable."
)
@click.option(
    "--compat",
    metavar="tracelens[,-Dn…]",
    callback=compat_ids,
    help="Count as TraceLens does, and write its columns only; -Dn: but for this difference "
    "(docs/report.md).",
)
@click.option("--linked-only", is_flag=True, help="Only GPU work whose launch is in the trace.")
@part_options
@click.option(
    "--clip-overrun",
    is_flag=True,
    help="End work of doubtful length (sheet data_quality) where the next on its stream begins.",
)
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
@click.option(
    "--top-short",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the N rows of short kernels with the most time.",
)
@click.option(
    "--arch",
    metavar="NAME|FILE",
    help="Limits of the GPU for the roofline: an architecture by name, or a JSON or TOML file. "
    "[default: by the GPU's name in the trace]",
)
@click.option(
    "--ext",
    "extension_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Run this Python file: performance models and categories of your own.",
)
@click.option("--by-thread", is_flag=True, help="Operators on different threads: different rows.")
@click.option("--by-module", is_flag=True, help="The same for different modules.")
@click.option("--by-num-kernels", is_flag=True, help="The same for different numbers of kernels.")
@click.option(
    "--detect-recompute",
    is_flag=True,
    help="Tell the recomputation of checkpoints apart, in rows and in the timeline.",
)
@click.option(
    "--overlap-info",
    is_flag=True,
    help="Add sheets of operators by what ran beside them on other streams.",
)
@click.option("--call-stacks", is_flag=True, help="Add where operators were called from.")
@click.option(
    "--capture",
    type=click.Path(path_type=Path, exists=True),
    metavar="TRACE",
    help="Trace of the capture of the graphs: their kernels get its operators.",
)
@click.option("--legacy-categories", is_flag=True, help="Batch norms are BN_fwd and BN_bwd.")
@click.option("--graph-as-op", is_flag=True, help="One operator for each launch of a graph.")
@click.option(
    "--family-all-instances",
    is_flag=True,
    help="List operators within others in the sheets of families too.",
)
@click.option("--no-collectives", is_flag=True, help="Leave coll_analysis out.")
@click.option("--idle-gaps", is_flag=True, help="Add the list of all pauses of the GPU.")
@findings_options
@file_options
@opening_options
def report_command(
    trace: tuple[Path, ...],
    names: tuple[str, ...],
    compat: frozenset[str] | None,
    linked_only: bool,
    clip_overrun: bool,
    micro_idle_us: float,
    short_us: float,
    top_short: int | None,
    arch: str | None,
    extension_file: Path | None,
    by_thread: bool,
    by_module: bool,
    by_num_kernels: bool,
    detect_recompute: bool,
    overlap_info: bool,
    call_stacks: bool,
    capture: Path | None,
    legacy_categories: bool,
    graph_as_op: bool,
    family_all_instances: bool,
    no_collectives: bool,
    idle_gaps: bool,
    part: Part,
    findings: bool,
    analyzer_files: tuple[Path, ...],
    ncu_files: tuple[Path, ...],
    config: Path | None,
    thresholds: tuple[str, ...],
    files: Files,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Tables of the GPU time of TRACE: timeline, operators and their rooflines, kernels.

    Without a file or --md the first rows of each sheet are printed. Sheets that the trace
    cannot tell are named, with the reason; one that was asked for by --sheet is an error then.
    With --findings: what is slow and why, where, what to try, and what that may gain at most.
    """
    refuse_without_findings(findings, analyzer_files, config, thresholds, ncu_files)
    if findings and (names or part.given):
        raise click.UsageError(
            "--findings is about the whole trace and prints no sheets: leave out --sheet, --range, "
            "--step and --annotation."
        )
    spare_inputs(files, trace)
    preload("reports.report_sheets", "reports.sheet_files")
    with ExitStack() as stack:
        how = {"no_cache": no_cache, "salvage": salvage}
        opened_trace = stack.enter_context(opened(trace, **how))
        captured = None if capture is None else stack.enter_context(opened((capture,), **how))
        from dataclasses import replace

        from ..analyzers.report_rules import DCTX, tracelens
        from ..reports.format import clean
        from ..reports.own_files import own_files
        from ..reports.report_sheets import all_names, report_sheets
        from ..reports.sheet_context import SheetOptions

        unknown = [name for name in names if name not in all_names()]
        if unknown and extension_file is None:
            raise click.UsageError(
                f"There is no sheet {clean(unknown[0])!r}. Sheets: {', '.join(all_names())}."
            )
        files_of_user = own_files(arch, extension_file, analyzer_files)
        if findings:
            write_findings(opened_trace, trace, files_of_user, config, thresholds, files, ncu_files)
            return
        rules = replace(DCTX, linked_only=linked_only) if compat is None else tracelens(compat)
        rules = replace(
            rules,
            extension=files_of_user.extension,
            clip_overrun=clip_overrun,
            legacy_categories=legacy_categories,
            by_thread=rules.by_thread or by_thread,
            call_as_op=rules.call_as_op or graph_as_op,
            all_instances=rules.all_instances or family_all_instances,
        )
        options = SheetOptions(
            rules,
            tracelens=compat is not None,
            micro_idle_ns=round(micro_idle_us * 1000),
            short_ns=round(short_us * 1000),
            top_short=top_short,
            architecture=files_of_user.chosen,
            own_architectures=files_of_user.architectures,
            by_module=by_module,
            by_num_kernels=by_num_kernels,
            overlap=overlap_info,
            stacks=call_stacks,
            recompute=detect_recompute,
            scope=part.scope(opened_trace),
            capture=captured,
            workbook=files.xlsx_file is not None,
        )
        sheets, missing = report_sheets(
            opened_trace, options, names, gaps=idle_gaps, collectives=not no_collectives
        )
        write_report("GPU time", " ".join(map(str, trace)), sheets, missing, files)
