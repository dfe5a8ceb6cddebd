"""`dctx compare`: what changed between traces, per step."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..ingest.raw_bytes import is_standard_input
from ..reports.command import Command
from ..reports.compare_labels import labels
from ..reports.failures import UserError
from ..reports.stdio import output
from .gates import Gates, gate_options, leave
from .host import host_config, host_options, requests, text_width, window_option
from .opening import opened
from .options import opening_options
from .sheet_output import spare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..analyzers.compare_parts import Part
    from ..analyzers.pairing import Compared
    from ..reports.host_json import HostReport


def _a_number(_context: click.Context, _option: click.Parameter, value: float) -> float:
    """nan compares with nothing: it would switch the gate off without a word."""
    if value != value:
        raise click.BadParameter("nan is no limit.")
    return value


@click.command("compare", cls=Command)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True,
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.option("--md", "as_markdown", is_flag=True, help="Write Markdown, for a pull request.")
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE",
    help="Also write a page that needs nothing but itself.",
)  # fmt: skip
@click.option("--paths", is_flag=True, help="Add the call paths, both traces merged in one tree.")
@click.option(
    "--kernels", is_flag=True,
    help="Add GPU work by name, paired up though renamed, and collectives.",
)  # fmt: skip
@click.option("--ops", is_flag=True, help="Add operators, ranges and API calls by name.")
@window_option
@host_options
@gate_options(rules=True)
@click.option(
    "--max-regression",
    type=click.FloatRange(min=0, max=1e6),
    callback=_a_number,
    default=5.0,
    show_default=True,
    metavar="PCT",
    help="How much slower, in % of wall time per step, `--fail-on regression` allows.",
)
@opening_options
def compare_command(
    base: Path,
    targets: tuple[Path, ...],
    as_json: bool,
    as_markdown: bool,
    html: Path | None,
    paths: bool,
    kernels: bool,
    ops: bool,
    window: str,
    config: Path | None,
    thresholds: tuple[str, ...],
    step_regex: str | None,
    prep_regex: str | None,
    fail_on: Gates,
    strict: bool,
    exit_detail: bool,
    max_regression: float,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Compare TARGET with BASE: time per step, host operations, CUDA calls, GPU work.

    Only steady steps with equal work are compared, and whole tables, not the longest rows. A
    change counts when it is beyond a floor and beyond the variation of the steps. Several targets
    are each compared with the base, in one table. BASE or TARGET can be @NAME, a baseline.
    """
    if as_json and as_markdown:
        raise click.UsageError("Choose one of --json and --md: there is one output.")
    if sum(is_standard_input(path) for path in (base, *targets)) > 1:
        raise click.UsageError("There is one standard input: only one trace can be -.")
    settings = host_config(config, thresholds, step_regex, prep_regex)
    if html is not None and not html.parent.is_dir():
        raise UserError(f"{html}: there is no directory {html.parent}. Make it first.")
    if html is not None:
        spare([html], (base, *targets))
    names = labels((base, *targets))
    reports: list[HostReport] = []
    with ExitStack() as stack:
        from ..analyzers.compare_pair import compare_pair
        from ..analyzers.compare_parts import ALL, KERNELS, OPERATIONS, PATHS, chosen
        from ..analyzers.gates import named_gates
        from ..reports.host_json import HostReport

        baseline = stack.enter_context(opened(base, no_cache=no_cache, salvage=salvage))
        asked = [*PATHS * paths, *KERNELS * kernels, *OPERATIONS * ops]
        for target, label in zip(targets, names[1:], strict=True):
            with opened(target, no_cache=no_cache, salvage=salvage) as changed, requests():
                found = compare_pair(
                    baseline, changed, settings, window=window, rules=fail_on.rules,
                    titles=ALL if html is not None else asked, with_figures=len(targets) > 1,
                )  # fmt: skip
            gates = named_gates(
                fail_on.names, found.judged.result, found.compared.comparison, max_regression,
                lacking=_lacking(found.compared),
            )  # fmt: skip
            report = HostReport(
                inputs=(str(base), str(target)),
                judged=found.judged,
                gates=gates,
                compared=found.compared,
                labels=(names[0], label),
                rules=found.rules,
                figures=found.figures,
                parts=found.parts,
            )
            reports.append(report)
    if html is not None:
        _write_page(html, reports)
        reports = [replace(report, parts=chosen(report.parts, asked)) for report in reports]
    with output() as out:
        out.write(_text(reports, as_json=as_json, as_markdown=as_markdown))
    leave(
        [gate for report in reports for gate in report.gates],
        next((why for report in reports if (why := _lacking(report.compared))), None),
        strict=strict,
        detail=exit_detail,
        rules=[rule for report in reports for rule in report.rules],
    )


def _text(reports: list[HostReport], *, as_json: bool, as_markdown: bool) -> str:
    if len(reports) > 1:
        from ..reports.several import several_document, several_markdown, several_text

        if as_json:
            return several_document(reports)
        return several_markdown(reports) if as_markdown else several_text(reports, text_width())
    [report] = reports
    if as_json:
        from ..reports.host_json import host_document

        return host_document(report)
    from ..reports.compare import compare_markdown, compare_text

    text = compare_markdown(report) if as_markdown else compare_text(report, width=text_width())
    return text + (_parts(report.parts, as_markdown=as_markdown) if report.parts else "")


def _parts(parts: Mapping[str, Part], *, as_markdown: bool) -> str:
    from ..reports.side_by_side import side_by_side_markdown, side_by_side_text

    return side_by_side_markdown(parts) if as_markdown else side_by_side_text(parts, text_width())


def _write_page(path: Path, reports: list[HostReport]) -> None:
    from ..reports.compare_html import compare_page
    from ..reports.html import write_html
    from ..reports.written import replacing

    try:
        with replacing(path) as place, place.open("w", encoding="utf-8") as out:
            write_html(compare_page(reports), out)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror or error}).") from error


def _lacking(result: Compared | None) -> str | None:
    """Why a change of the wall time could not be judged; None where it was."""
    if result is None:
        return None
    if result.comparison is None:
        return f"the traces are not comparable: {result.not_comparable}"
    if result.comparison.wall.noise is None:
        fewest = result.comparison.limits.steps
        return f"fewer than {fewest} steps on a side, too few to tell a change from chance"
    return None
