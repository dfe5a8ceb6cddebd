"""`dctx steps`: the iterations of a workload and what each of them costs."""

from __future__ import annotations

from pathlib import Path

import click

from ..reports.command import Command
from ..reports.stdio import output
from .host import host_config, host_options, requests, text_width
from .opening import opened
from .options import opening_options, trace_argument


@click.command("steps", cls=Command)
@trace_argument
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@host_options
@opening_options
def steps_command(
    trace: Path,
    as_json: bool,
    config: Path | None,
    thresholds: tuple[str, ...],
    step_regex: str | None,
    prep_regex: str | None,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Print the steps of TRACE: how long they take, and what takes the time in them.

    Host operations, CUDA calls and GPU work are shown per step of the steady state, as means over
    the steps and then over the ranks. Below, the pauses of the GPUs, what runs in CUDA graphs, and
    the kernels that repeat from layer to layer.
    """
    settings = host_config(config, thresholds, step_regex, prep_regex)
    with opened(trace, no_cache=no_cache, salvage=salvage) as opened_trace:
        from ..analyzers.step_view import view_steps
        from ..reports.step_json import steps_document
        from ..reports.steps import steps_text

        with requests():
            view = view_steps(opened_trace, settings)
        with output() as out:
            if as_json:
                out.write(steps_document(str(trace), view))
            else:
                out.write(steps_text(trace.name, view, width=text_width()))
