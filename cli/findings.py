"""`dctx report --findings`: what is wrong, where, and what a change may gain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..reports.failures import UserError
from ..reports.stdio import output
from .host import host_config, requests, text_width

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from ..reports.own_files import OwnFiles
    from .sheet_output import Files

F = TypeVar("F", bound=Callable[..., Any])


def findings_options(function: F) -> F:
    """`--findings` and what only it takes."""
    options = (
        click.option(
            "--findings",
            is_flag=True,
            help="Instead of tables: what is wrong, where, what to try, and what it may gain.",
        ),
        click.option(
            "--analyzer",
            "analyzer_files",
            multiple=True,
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Run this Python file: analyzers of your own for --findings. Repeatable.",
        ),
        click.option(
            "--ncu",
            "ncu_files",
            multiple=True,
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            metavar="FILE",
            help="What Nsight Compute measured of kernels, for --findings. Repeatable.",
        ),
        click.option(
            "--config",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            metavar="FILE",
            help="Conditions of findings (TOML).",
        ),
        click.option(
            "--threshold",
            "thresholds",
            multiple=True,
            metavar="NAME=VALUE",
            help="Change one condition of findings, as in findings.sync.share=0.05.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def refuse_without_findings(
    findings: bool,
    analyzers: tuple[Path, ...],
    config: Path | None,
    thresholds: tuple[str, ...],
    ncu_files: tuple[Path, ...] = (),
) -> None:
    """UsageError for options that only findings have."""
    if not findings and (analyzers or config is not None or thresholds or ncu_files):
        raise click.UsageError("--analyzer, --ncu, --config and --threshold need --findings.")


def write_findings(
    trace: Trace,
    paths: tuple[Path, ...],
    own: OwnFiles,
    config: Path | None,
    thresholds: tuple[str, ...],
    files: Files,
    ncu_files: tuple[Path, ...] = (),
) -> None:
    """Print the findings, or write them as JSON. UserError, UsageError."""
    from ..analyzers.judging import judge_trace
    from ..analyzers.prescribe.facts import Facts
    from ..analyzers.prescribe.table import one_list, prescriptions
    from ..ingest.ncu import read_ncu
    from ..reports.finding_list import (
        FindingList,
        findings_list_json,
        findings_list_markdown,
        findings_list_text,
    )

    others = (files.csv_folder, files.xlsx_file, files.html_file, files.parquet_folder)
    if files.duckdb_file is not None or any(other is not None for other in others):
        raise click.UsageError("--findings writes text, --json or --md.")
    settings = host_config(config, thresholds, None, None)
    measured = [kernel for file in ncu_files for kernel in read_ncu(file)]
    facts = Facts(trace, rules=own.rules, architecture=own.architecture, measured=measured)
    with requests():
        judged = judge_trace(trace, settings)
    found = one_list(judged.findings, prescriptions(facts, settings.findings, own.all_analyzers()))
    told = FindingList(tuple(map(str, paths)), found, facts.full, judged.result)
    if files.json_file is None:
        with output() as out:
            text = findings_list_markdown(told) if files.markdown else ""
            out.write(text or findings_list_text(told, width=text_width()))
    elif str(files.json_file) == "-":
        with output() as out:
            out.write(findings_list_json(told))
    else:
        from ..reports.format import clean
        from ..reports.written import replacing

        try:
            with replacing(files.json_file) as place:
                place.write_text(findings_list_json(told), encoding="utf-8")
        except OSError as error:
            name = clean(str(files.json_file))
            raise UserError(f"{name} cannot be written: {error.strerror}.") from error
