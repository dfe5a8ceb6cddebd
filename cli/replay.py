"""`dctx replay` and `dctx replay-info`: recorded calls as scripts and as data."""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..reports.command import Command
from ..reports.stdio import output
from .opening import opened
from .options import opening_options

if TYPE_CHECKING:
    from ..reports.replay import Row

_NOT_IN_NAMES: Final = re.compile(r"\W+", re.ASCII)
_MOST_NEAR: Final = 4
_NAME: Final = 60
"""Characters of a name in a remark."""
_SHEET = click.option(
    "--sheet",
    "sheet_name",
    type=click.Choice(["ops_unique_args", "unified_perf_summary", "ops"]),
    default="ops_unique_args",
    show_default=True,
    help="The sheet whose rows are meant.",
)
_CAPTURE = click.option(
    "--capture",
    type=click.Path(path_type=Path, exists=True),
    metavar="TRACE",
    help="Trace of the capture of the graphs: its operators can be replayed.",
)
_SOURCE = click.argument("source", type=click.Path(path_type=Path))


@click.command("replay", cls=Command)
@_SOURCE
@click.option("--row", type=click.IntRange(min=1), metavar="N", help="The N-th row of the sheet.")
@click.option("--uid", type=click.IntRange(min=0), metavar="U", help="The row with this UID.")
@click.option("--op", metavar="NAME", help="The rows of this operator.")
@_SHEET
@_CAPTURE
@click.option(
    "-o",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help="Where to: a .py file for the first row, a folder for all. [default: printed]",
)
@opening_options
def replay_command(
    source: Path,
    row: int | None,
    uid: int | None,
    op: str | None,
    sheet_name: str,
    capture: Path | None,
    target: Path | None,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Write a Python script that makes a call recorded in SOURCE again with torch, and times it.

    SOURCE is a trace, or a report that dctx wrote. The script has the recorded shapes, strides,
    types and scalars of one row, and needs torch only, on a GPU or without one. A folder gets a
    script for each row that can be rebuilt; the others are named with the reason.
    """
    if sum(value is not None for value in (row, uid, op)) > 1:
        raise click.UsageError("--row, --uid and --op: one of them.")
    folder = target is not None and target.suffix != ".py"
    if row is None and uid is None and op is None and not folder:
        raise click.UsageError("Which row? --row N, --uid U or --op NAME; -o DIR writes all.")
    how = {"no_cache": no_cache, "salvage": salvage}
    rows = _selected(_rows(source, sheet_name, capture, how), row, uid, op, sheet_name)
    if folder and target is not None:
        _write_folder(rows, source, target)
    else:
        _write_one(rows[0], source, target)


@click.command("replay-info", cls=Command)
@_SOURCE
@_SHEET
@_CAPTURE
@click.option(
    "-o",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this file. [default: printed]",
)
@opening_options
def replay_info_command(
    source: Path,
    sheet_name: str,
    capture: Path | None,
    target: Path | None,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Print what is needed to make the calls recorded in SOURCE again, as JSON.

    SOURCE is a trace, or a report that dctx wrote. For each row of the sheet the operator with its
    arguments one by one; where it cannot be rebuilt, `replayable` is false, with the reason.
    """
    from ..reports.json_text import json_text
    from ..reports.replay import replay_info

    how = {"no_cache": no_cache, "salvage": salvage}
    rows = _rows(source, sheet_name, capture, how)
    lines = ",\n".join(json_text(found) for found in replay_info(rows, source.name))
    _write(f"[\n{lines}\n]\n", target, source)


def _rows(source: Path, sheet_name: str, capture: Path | None, how: dict[str, bool]) -> list[Row]:
    from ..reports.failures import UserError
    from ..reports.format import clean
    from ..reports.read_sheets import is_report, read_sheets
    from ..reports.replay import rows_of

    name = clean(str(source))
    if is_report(source):
        if capture is not None:
            raise UserError(
                "--capture is for a trace: a report has the operators it was made with."
            )
        found = read_sheets(source).get(sheet_name)
        if found is None:
            raise UserError(
                f"{name} has no sheet {sheet_name}. Name the trace, or another --sheet."
            )
    else:
        with ExitStack() as stack:
            trace = stack.enter_context(opened((source,), **how))
            captured = None if capture is None else stack.enter_context(opened((capture,), **how))
            from ..analyzers.report_rules import DCTX
            from ..reports.report_sheets import report_sheets
            from ..reports.sheet_context import SheetOptions

            [found], _ = report_sheets(trace, SheetOptions(DCTX, capture=captured), (sheet_name,))
    try:
        return rows_of(found)
    except ValueError as why:
        raise UserError(f"{name}: {sheet_name} cannot be replayed: {why}.") from why


def _selected(
    rows: list[Row], row: int | None, uid: int | None, op: str | None, sheet_name: str
) -> list[Row]:
    from ..reports.failures import UserError
    from ..reports.format import clean

    if row is not None:
        found, asked = rows[row - 1 : row], f"row {row}: it has {len(rows)}"
    elif uid is not None:
        found = [one for one in rows if one.uid == uid]
        asked = f"row with UID {uid}; --sheet ops has one for each call"
    elif op is not None:
        found, asked = [one for one in rows if one.op == op], f"row of {clean(op)}"
        asked += "" if found else _near(op, rows)
    else:
        found, asked = rows, "row"
    if not found:
        raise UserError(f"{sheet_name} has no {asked}.")
    return found


def _near(name: str, rows: list[Row]) -> str:
    """Operators with a like name, whatever library they are of."""
    from difflib import get_close_matches

    from ..reports.format import clean, shorten_middle

    whole: dict[str, str] = {}
    for row in rows:
        for key in (row.op, row.op.rpartition("::")[2]):
            whole.setdefault(key.lower(), row.op)
    found = get_close_matches(name.lower(), whole, n=2 * _MOST_NEAR)
    names = list(dict.fromkeys(whole[key] for key in found))[:_MOST_NEAR]
    listed = ", ".join(shorten_middle(clean(near), _NAME) for near in names)
    return f"; near it: {listed}" if listed else "; --sheet ops_summary of dctx report lists them"


def _write_one(row: Row, source: Path, target: Path | None) -> None:
    from ..analyzers.replay_plan import NotReplayableError
    from ..reports.failures import UserError
    from ..reports.format import clean
    from ..reports.replay_script import script

    try:
        text = script(row, row.plan(), source.name)
    except NotReplayableError as why:
        raise UserError(f"{clean(row.op)} (row {row.number}) cannot be replayed: {why}") from why
    _write(text, target, source)


def _write_folder(rows: list[Row], source: Path, folder: Path) -> None:
    from ..analyzers.replay_plan import NotReplayableError
    from ..reports.failures import UserError
    from ..reports.format import clean, shorten_middle
    from ..reports.replay_script import script
    from ..reports.written import replacing

    refused: dict[str, list[Row]] = {}
    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for row in rows:
            try:
                text = script(row, row.plan(), source.name)
            except NotReplayableError as why:
                refused.setdefault(str(why), []).append(row)
                continue
            path = folder / f"{row.number:04}_{_NOT_IN_NAMES.sub('_', row.op)}.py"
            with replacing(path) as place:
                place.write_text(text, encoding="ascii")
            written += 1
    except OSError as error:
        raise UserError(f"{clean(str(folder))} cannot be written: {error.strerror}.") from error
    for reason, those in refused.items():
        names = ", ".join(dict.fromkeys(shorten_middle(clean(row.op), _NAME) for row in those[:3]))
        more = f" and {len(those) - 3} more" if len(those) > 3 else ""
        sys.stderr.write(f"dctx: {len(those)} not written: {names}{more}: {reason}\n")
    if not written:
        raise UserError("None of the rows can be replayed.")
    with output() as out:
        out.write(f"{written} script{'s' * (written != 1)} in {clean(str(folder))}\n")


def _write(text: str, target: Path | None, source: Path) -> None:
    from ..reports.failures import UserError
    from ..reports.format import clean
    from ..reports.written import replacing

    if target is None:
        with output() as out:
            out.write(text)
        return
    name = clean(str(target))
    if target.exists() and source.exists() and target.samefile(source):
        raise UserError(f"{name} is read here: it is never written. Name another file.")
    try:
        with replacing(target) as place:
            place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{name} cannot be written: {error.strerror}.") from error
