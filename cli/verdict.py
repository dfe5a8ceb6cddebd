"""`dctx verdict`: is the GPU waiting for the host?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..reports.command import Command
from ..reports.failures import UserError
from ..reports.stdio import output
from .gates import Gates, gate_options, leave, too_little
from .host import host_config, host_options, requests, text_width, window_option
from .opening import opened
from .options import opening_options, trace_argument

if TYPE_CHECKING:
    from ..analyzers.config import HostConfig
    from ..queries.trace import Trace


@click.command("verdict", cls=Command)
@trace_argument
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@window_option
@click.option(
    "--compat",
    type=click.Choice(["trtllm-scripts"]),
    help="Print the public scripts' own figures instead, by their own formulas.",
)
@host_options
@gate_options()
@opening_options
def verdict_command(
    trace: Path,
    as_json: bool,
    window: str,
    compat: str | None,
    config: Path | None,
    thresholds: tuple[str, ...],
    step_regex: str | None,
    prep_regex: str | None,
    fail_on: Gates,
    strict: bool,
    exit_detail: bool,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Tell whether the host keeps the GPU waiting in TRACE, in which phase, and why.

    The verdict is YES when at least two metrics cross their limits, in the whole window or in the
    steps of one phase. Every limit is printed; --threshold and --config change them.
    """
    settings = host_config(config, thresholds, step_regex, prep_regex)
    if "regression" in fail_on.names:
        raise click.UsageError("The gate `regression` needs two traces: dctx compare.")
    if compat is not None and (fail_on.names or strict):
        raise click.UsageError("--compat only prints: gates and --strict need dctx's own verdict.")
    with opened(trace, no_cache=no_cache, salvage=salvage) as opened_trace:
        if compat is not None:
            _print_compat(opened_trace, trace, settings, as_json=as_json)
            return
        from ..analyzers.gates import named_gates
        from ..analyzers.judging import judge_trace
        from ..reports.host_json import HostReport, host_document
        from ..reports.verdict import verdict_text

        with requests():
            judged = judge_trace(opened_trace, settings, window=window)
        gates = named_gates(fail_on.names, judged.result)
        report = HostReport((str(trace),), judged, gates)
        with output() as out:
            if as_json:
                out.write(host_document(report))
            else:
                out.write(verdict_text(report, width=text_width()))
    leave(gates, too_little(judged.result), strict=strict, detail=exit_detail)


def _print_compat(trace: Trace, path: Path, settings: HostConfig, *, as_json: bool) -> None:
    from ..analyzers.compat_trtllm import detect
    from ..reports.compat import compat_json, compat_text

    found = detect(trace, settings)
    if found is None:
        raise UserError(
            f"{path}: the public scripts stop at this trace (no kernel, or no range). Without "
            "--compat dctx tells what there is."
        )
    with output() as out:
        out.write(compat_json(found) if as_json else compat_text(found, width=text_width()))
