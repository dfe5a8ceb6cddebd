"""`dctx import`: build the store of a trace, to keep, to send or for a quick start later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..reports.command import Command
from ..reports.failures import UserError
from .opening import opened
from .options import debug_option, traces_argument
from .progress import ProgressLine

if TYPE_CHECKING:
    from ..queries.trace import Trace


@click.command("import", cls=Command)
@traces_argument()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write the store here (x.dctx); without it, into the cache.",
)
@click.option("--salvage", is_flag=True, help="Keep what can be read of a damaged trace.")
@debug_option
def import_command(trace: tuple[Path, ...], output: Path | None, salvage: bool) -> None:
    """Read TRACE once, so that it opens at once from then on.

    A store written with -o holds everything every command needs: it can be kept or sent instead
    of the trace.
    """
    if output is None:
        with opened(trace, salvage=salvage) as found:
            _must_be_kept(found)
        return
    if output.exists():
        raise UserError(f"{output}: exists already. Remove it, or write to another name.")
    from ..ingest.registry import import_trace

    with ProgressLine() as progress:
        import_trace(trace, output, progress=progress, salvage=salvage)


def _must_be_kept(trace: Trace) -> None:
    """UserError when the trace will be read again next time."""
    if trace.store.path is not None:
        return
    from ..queries.capture import capture

    why = [note.text for note in capture(trace).notes if note.source == "cache"]
    reason = why[0] if why else "The standard input has no place in the cache."
    raise UserError(f"nothing is kept. {reason} Name a file with -o, or set DCTX_CACHE_DIR.")
