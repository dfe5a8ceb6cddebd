"""`dctx overview`: the first screen as text."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from .opening import opened
from .options import opening_options, trace_argument


@click.command("overview")
@trace_argument
@opening_options
def overview_command(trace: Path, no_cache: bool, salvage: bool) -> None:
    """Print what was recorded and what took the GPU's time."""
    with opened(trace, no_cache=no_cache, salvage=salvage) as opened_trace:
        from ..queries.overview import overview
        from ..reports.overview import overview_text

        color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        sys.stdout.write(overview_text(overview(opened_trace), color=color))
