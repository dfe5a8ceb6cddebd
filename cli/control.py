"""`dctx control`: start and stop recording in processes that run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import click

from ..live.control import Command as Asked
from ..live.control import ask, sockets
from ..reports.command import Command
from ..reports.exit_codes import ExitCode
from ..reports.failures import UserError
from ..reports.stdio import output
from .options import debug_option


@click.command("control", cls=Command)
@click.argument("place", metavar="PATH", type=click.Path(path_type=Path))
@click.argument("command", type=click.Choice(["start", "stop", "snapshot", "status"]))
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one object a line.")
@debug_option
def control_command(place: Path, command: str, as_json: bool) -> None:
    """Tell the processes of `dctx record --control` to start or stop recording, or to write a
    snapshot; each answers how it stands.

    PATH is what `dctx record --control` printed: a folder for all processes of the job, or the
    socket of one of them. `stop` also writes a snapshot.
    """
    from ..reports.control import answers_json, answers_text

    found = sockets(place)
    if not found:
        raise UserError(
            f"{place}: no process listens there. A process does from the moment it begins to "
            "record; `dctx record --control` prints the folder."
        )
    answers = ask(found, cast("Asked", command))
    with output() as out:
        out.write(answers_json(answers) if as_json else answers_text(answers))
    if any(answer.failure or answer.status.get("error") for answer in answers):
        sys.exit(ExitCode.USAGE)
