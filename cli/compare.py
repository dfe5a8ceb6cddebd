"""`dctx compare`: what changed between two traces, per step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..ingest.raw_bytes import is_standard_input
from ..reports.command import Command
from ..reports.stdio import output
from .gates import gate_options, leave
from .host import host_config, host_options, requests, text_width, window_option
from .opening import opened
from .options import opening_options

if TYPE_CHECKING:
    from ..analyzers.compare_parts import Part
    from ..analyzers.pairing import Compared


def _a_number(_context: click.Context, _option: click.Parameter, value: float) -> float:
    """nan compares with nothing: it would switch the gate off without a word."""
    if value != value:
        raise click.BadParameter("nan is no limit.")
    return value


@click.command("compare", cls=Command)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.option("--md", "as_markdown", is_flag=True, help="Write Markdown, for a pull request.")
@click.option("--paths", is_flag=True, help="Add the call paths, both traces merged in one tree.")
@click.option("--kernels", is_flag=True, help="Add GPU work by name, paired up though renamed.")
@click.option("--ops", is_flag=True, help="Add operators, ranges and API calls by name.")
@window_option
@host_options
@gate_options
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
    target: Path,
    as_json: bool,
    as_markdown: bool,
    paths: bool,
    kernels: bool,
    ops: bool,
    window: str,
    config: Path | None,
    thresholds: tuple[str, ...],
    step_regex: str | None,
    prep_regex: str | None,
    fail_on: tuple[str, ...],
    strict: bool,
    exit_detail: bool,
    max_regression: float,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Compare TARGET with BASE: time per step, host operations, CUDA calls, GPU work.

    Only steady steps with equal work are compared, and whole tables, not the longest rows. A
    change counts when it is beyond a floor and beyond the variation of the steps.
    """
    if as_json and as_markdown:
        raise click.UsageError("Choose one of --json and --md: there is one output.")
    if is_standard_input(base) and is_standard_input(target):
        raise click.UsageError("There is one standard input: only one of BASE and TARGET can be -.")
    settings = host_config(config, thresholds, step_regex, prep_regex)
    with (
        opened(base, no_cache=no_cache, salvage=salvage) as baseline,
        opened(target, no_cache=no_cache, salvage=salvage) as changed,
    ):
        from ..analyzers.compare import compare_costs
        from ..analyzers.compare_parts import KERNELS, OPERATIONS, PATHS, chosen_parts
        from ..analyzers.gates import named_gates
        from ..analyzers.judging import judge_pair
        from ..reports.compare import compare_markdown, compare_text
        from ..reports.host_json import HostReport, host_document
        from ..reports.side_by_side import side_by_side_markdown, side_by_side_text

        with requests():
            result, judged = judge_pair(baseline, changed, settings, window=window)
        names = _labels(base, target)
        gates = named_gates(
            fail_on, judged.result, result.comparison, max_regression, lacking=_lacking(result)
        )
        titles = (*(PATHS if paths else ()), *(KERNELS if kernels else ()),
                  *(OPERATIONS if ops else ()))  # fmt: skip
        parts: dict[str, Part] = {}
        if titles:
            found = compare_costs(baseline, changed, result, settings.compare)
            parts = chosen_parts(baseline, changed, found, titles)
        report = HostReport((str(base), str(target)), judged, gates, result, names, parts)
        with output() as out:
            if as_json:
                out.write(host_document(report))
            elif as_markdown:
                out.write(compare_markdown(report))
                out.write(side_by_side_markdown(parts) if parts else "")
            else:
                out.write(compare_text(report, width=text_width()))
                out.write(side_by_side_text(parts, text_width()) if parts else "")
    leave(gates, _lacking(result), strict=strict, detail=exit_detail)


def _lacking(result: Compared) -> str | None:
    """Why a change of the wall time could not be judged; None where it was."""
    if result.comparison is None:
        return f"the traces are not comparable: {result.not_comparable}"
    if result.comparison.wall.noise is None:
        fewest = result.comparison.limits.steps
        return f"fewer than {fewest} steps on a side, too few to tell a change from chance"
    return None


def _labels(base: Path, target: Path) -> tuple[str, str]:
    """File names, with their folders where the names are the same."""
    if base.name != target.name:
        return base.name, target.name
    return str(base), str(target)
