"""`dctx symbolize`: names for the native functions of a recording."""

from __future__ import annotations

from pathlib import Path

import click

from ..reports.command import Command
from ..reports.failures import UserError
from ..reports.stdio import output
from .options import debug_option


@click.command("symbolize", cls=Command)
@click.argument("recording", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write here instead of into RECORDING.",
)
@debug_option
def symbolize_command(recording: Path, target: Path | None) -> None:
    """Look up the C and C++ functions that RECORDING tells as lib+0xoffset, and keep their names in
    it: on the machine that it was made on, or one that has the same libraries.

    A library is used when its build id is the one that was recorded. Symbols are read from the
    library, or from the file that the system keeps them in (/usr/lib/debug/.build-id).
    """
    from ..analyzers.recording_names import name_functions
    from ..ingest.recording.append import with_symbols
    from ..reports.recording import shown
    from ..reports.symbolized import symbolized_text
    from ..reports.written import replacing

    try:
        data = recording.read_bytes()
    except OSError as error:
        raise UserError(f"{recording}: {error.strerror}.") from error
    named = name_functions(recording, data)
    place = recording if target is None else target
    if named.found or target is not None:
        with replacing(place) as file:
            file.write_bytes(with_symbols(data, named.found))
    with output() as out:
        out.write(symbolized_text(shown(place), named))
