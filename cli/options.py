"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(slots=True)
class Settings:
    """What holds for the whole run."""

    debug: bool = False


def _set_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        # A command has a context of its own; failures are told by the outermost one.
        ctx.find_root().ensure_object(Settings).debug = True


def debug_option(function: F) -> F:
    """`--debug`, before or after the command's name."""
    return click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_set_debug,
        help="Show the traceback of a failure.",
    )(function)


def trace_argument(function: F) -> F:
    """TRACE: a file, folder or pattern, or - for the standard input."""
    return click.argument("trace", type=click.Path(path_type=Path))(function)


def traces_argument(*, required: bool = True) -> Callable[[F], F]:
    """TRACE...: the same, or several files that make one trace."""
    return click.argument("trace", nargs=-1, required=required, type=click.Path(path_type=Path))


def opening_options(function: F) -> F:
    """How the trace is opened."""
    salvage = click.option(
        "--salvage", is_flag=True, help="Keep what can be read of a damaged trace."
    )
    no_cache = click.option(
        "--no-cache", is_flag=True, help="Neither read nor write the cache directory."
    )
    return debug_option(salvage(no_cache(function)))


def compat_ids(
    _ctx: click.Context, _param: click.Parameter, value: str | None
) -> frozenset[str] | None:
    """The ids that `--compat tracelens,-D21` takes out; None without the option."""
    if value is None:
        return None
    from ..analyzers.compat_ids import UnknownIdError, cleared

    try:
        return cleared(value)
    except UnknownIdError as error:
        raise click.BadParameter(f"{error}.") from error
