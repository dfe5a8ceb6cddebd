"""`dctx info`: facts about a trace, or about this installation."""

from __future__ import annotations

from pathlib import Path

import click

from ..reports.command import Command
from ..reports.stdio import output
from .opening import opened
from .options import opening_options, traces_argument


@click.command("info", cls=Command)
@traces_argument(required=False)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@opening_options
def info_command(trace: tuple[Path, ...], as_json: bool, no_cache: bool, salvage: bool) -> None:
    """Print what is in TRACE, and what was read of it.

    Without TRACE: versions, directories and the terminal, for a problem report.
    """
    if not trace:
        from ..reports.installation import installation, installation_json, installation_text

        facts = installation()
        with output() as out:
            out.write(installation_json(facts) if as_json else installation_text(facts))
        return
    with opened(trace, no_cache=no_cache, salvage=salvage) as opened_trace:
        from ..reports.info import info_json, info_text, trace_info

        info = trace_info(opened_trace)
        with output() as out:
            out.write(info_json(info) if as_json else info_text(info))
