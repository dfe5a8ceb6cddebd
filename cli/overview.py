"""`dctx overview`: the first screen as text."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ..reports.command import Command
from ..reports.stdio import moves_cursor, output
from .opening import opened
from .options import opening_options, traces_argument


@click.command("overview", cls=Command)
@traces_argument()
@opening_options
def overview_command(trace: tuple[Path, ...], no_cache: bool, salvage: bool) -> None:
    """Print what was recorded and what took the GPU's time."""
    with opened(trace, no_cache=no_cache, salvage=salvage) as opened_trace:
        from ..queries.overview import overview
        from ..reports.overview import overview_text

        facts = overview(opened_trace)
        with output() as out:
            color = moves_cursor(out) and not os.environ.get("NO_COLOR")
            out.write(overview_text(facts, color=color))
