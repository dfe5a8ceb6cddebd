"""Options of the commands about host overhead, and the settings they make."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..reports.failures import UserError

if TYPE_CHECKING:
    from ..analyzers.config import HostConfig

LOG_WIDTH = 80
WIDEST = 140

F = TypeVar("F", bound=Callable[..., Any])


def host_options(function: F) -> F:
    """`--config`, `--threshold`, `--step-regex`, `--prep-regex`."""
    options = (
        click.option(
            "--config",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            metavar="FILE",
            help="Thresholds, patterns and source functions (TOML).",
        ),
        click.option(
            "--threshold",
            "thresholds",
            multiple=True,
            metavar="NAME=VALUE",
            help="Change one threshold, as in gpu_idle_ratio=0.2 or generation.gpu_idle_ratio=0.1.",
        ),
        click.option(
            "--step-regex",
            metavar="REGEX",
            help="Texts of step ranges; groups named step, ctx and gen are read.",
        ),
        click.option(
            "--prep-regex", metavar="REGEX", help="Texts of ranges that prepare a step's inputs."
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def window_option(function: F) -> F:
    """`--window`."""
    return click.option(
        "--window",
        default="auto",
        show_default=True,
        metavar="WHICH",
        help="What to judge: auto (the benchmark phase, else all kernels), trace, steady, or a "
        "span in seconds, as in 12.3:14.9.",
    )(function)


def host_config(
    config: Path | None,
    thresholds: tuple[str, ...],
    step_regex: str | None,
    prep_regex: str | None,
) -> HostConfig:
    """The settings in force. UserError for what is none."""
    from ..analyzers.config import default_config, parse_config

    try:
        with requests():
            if config is None:
                found = default_config()
            else:
                found = parse_config(config.read_text(encoding="utf-8-sig"), str(config))
            for setting in thresholds:
                found = found.override(setting)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{config}: cannot be read ({error}).") from error
    steps = replace(
        found.steps,
        step_regex=found.steps.step_regex if step_regex is None else step_regex,
        prep_regex=found.steps.prep_regex if prep_regex is None else prep_regex,
    )
    return replace(found, steps=steps)


@contextmanager
def requests() -> Generator[None]:
    """What an analysis cannot do with the options is the user's to change."""
    from ..analyzers.errors import RequestError

    try:
        yield
    except RequestError as error:
        raise UserError(str(error)) from error


def text_width() -> int:
    """Columns of the text: those of the terminal, within reason; 80 in a log."""
    if not sys.stdout.isatty():
        return LOG_WIDTH
    return max(LOG_WIDTH, min(shutil.get_terminal_size().columns, WIDEST))
