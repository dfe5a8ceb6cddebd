"""`--source-map`, of the application and of the commands that show sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .source_map import SourceMap, source_map

F = TypeVar("F", bound=Callable[..., Any])


def _parsed(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> SourceMap:
    try:
        return source_map(texts)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def source_map_option(function: F) -> F:
    """Gives `sources`."""
    return click.option(
        "--source-map",
        "sources",
        multiple=True,
        callback=_parsed,
        metavar="THERE=HERE",
        help="The folder THERE, where sources were when the trace was recorded, is HERE on this "
        "machine. Repeatable.",
    )(function)
