"""`dctx sql`: the user's own questions."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Literal, TextIO

import click

from ..reports.command import Command
from ..reports.stdio import output
from .opening import opened
from .options import opening_options, trace_argument


@click.command("sql", cls=Command)
@trace_argument
@click.argument("query", required=False)
@click.option(
    "-f",
    "--file",
    "query_file",
    type=click.File(encoding="utf-8"),
    help="Read the query from a file; - is standard input.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
)
@click.option("--limit", type=click.IntRange(min=0), help="Write at most this many rows.")
@opening_options
def sql_command(
    trace: Path,
    query: str | None,
    query_file: TextIO | None,
    output_format: Literal["table", "json", "csv"],
    limit: int | None,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Run one read-only SQL QUERY (DuckDB's dialect) on TRACE.

    `SHOW TABLES` and `DESCRIBE kernels` tell what is there. Times are ns from the trace's start.
    """
    if (query is None) == (query_file is None):
        raise click.UsageError("Give either QUERY or --file.")
    text = query if query_file is None else query_file.read()
    with opened(trace, no_cache=no_cache, salvage=salvage) as opened_trace:
        from ..queries.adhoc import SqlError, run_sql
        from ..reports.failures import UserError
        from ..reports.tabular import write_csv, write_json, write_table

        write = {"table": write_table, "json": write_json, "csv": write_csv}[output_format]
        try:
            with run_sql(opened_trace, text or "") as result, output() as out:
                write(result.columns, islice(result.rows, limit), out)
        except SqlError as error:
            raise UserError(str(error)) from error
