"""`dctx baseline`: traces kept under a name, to compare later ones with."""

from __future__ import annotations

from pathlib import Path

import click

from ..reports.command import Command
from ..reports.stdio import output
from .options import debug_option, traces_argument
from .progress import ProgressLine


class _Group(Command, click.Group):
    pass


@click.group("baseline", cls=_Group)
@debug_option
def baseline_command() -> None:
    """Keep a trace under a name, and compare later ones with it: `dctx compare @NAME TRACE`.

    A baseline is a copy of what dctx reads from the trace, in your data directory
    (DCTX_DATA_DIR overrides it): it works when the trace is gone.
    """


@baseline_command.command("save", cls=Command)
@click.argument("name")
@traces_argument()
@click.option("--replace", is_flag=True, help="Take the place of a baseline of this name.")
@click.option("--salvage", is_flag=True, help="Keep what can be read of a damaged trace.")
@debug_option
def save_command(name: str, trace: tuple[Path, ...], replace: bool, salvage: bool) -> None:
    """Keep TRACE as the baseline NAME."""
    from ..ingest.baselines import save

    name = name.removeprefix("@")
    with ProgressLine() as progress:
        path = save(name, trace, progress=progress, salvage=salvage, replace=replace)
    click.echo(f"dctx: saved @{name} ({path})", err=True)


@baseline_command.command("list", cls=Command)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@debug_option
def list_command(as_json: bool) -> None:
    """List the baselines: name, when saved, size, and the trace each was made from."""
    from ..ingest.baselines import baselines
    from ..reports.baselines import baselines_json, write_baselines

    found = baselines()
    with output() as out:
        if as_json:
            out.write(baselines_json(found))
        elif found:
            write_baselines(found, out)
    if not found and not as_json:
        click.echo("dctx: no baselines; `dctx baseline save NAME TRACE` makes one", err=True)


@baseline_command.command("remove", cls=Command)
@click.argument("name")
@debug_option
def remove_command(name: str) -> None:
    """Forget the baseline NAME."""
    from ..ingest.baselines import remove

    remove(name.removeprefix("@"))
