"""The command line of `dctx-tui`.

Neither Textual nor DuckDB is imported here: `--version`, `--help` and usage errors answer at once.
"""

import sys
from pathlib import Path
from typing import Literal

import click

from .. import __version__
from ..reports.command import Command
from ..reports.source_map import SourceMap
from ..reports.source_option import source_map_option
from .launch import Options, ThemeName, launch


def _pattern(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """A regular expression, or a usage error that says what is wrong with it."""
    if text == "":
        raise click.BadParameter("it is empty, and would be found in every text.")
    if text is not None:
        import re

        try:
            re.compile(text)
        except re.error as error:
            raise click.BadParameter(f"it is no regular expression ({error}).") from error
    return text


def _wait_for(path: Path) -> None:
    """Until there is a file. Ctrl+C ends the wait."""
    import time

    if not path.exists():
        print(f"dctx-tui: waiting for the first snapshot of {path} (ctrl+c ends)", file=sys.stderr)
    while not path.exists():
        time.sleep(0.2)


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("trace", nargs=-1, type=click.Path(path_type=Path), metavar="[TRACE]...")
@click.option("--ranks", is_flag=True, help="Two TRACEs are ranks of one run: do not compare them.")
@click.option(
    "--attach",
    is_flag=True,
    help="Follow a recording that `dctx record` is still writing; waits until it is there.",
)
@click.option("--demo", is_flag=True, help="Open the demo trace that comes with dctx.")
@click.option(
    "--theme",
    type=click.Choice(["dark", "light", "ansi", "ansi-light"]),
    default="dark",
    show_default=True,
    envvar="DCTX_THEME",
    help="ansi: the terminal's own colours (fewest bytes over SSH).",
)
@click.option(
    "--color",
    type=click.Choice(["auto", "never"]),
    default="auto",
    show_default=True,
    help="never: no colour at all, like NO_COLOR.",
)
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache directory.")
@click.option("--salvage", is_flag=True, help="Show what can be read of a damaged trace.")
@click.option(
    "--step-regex",
    callback=_pattern,
    metavar="REGEX",
    help="Texts of step ranges; groups named step, ctx and gen are read.",
)
@click.option(
    "--prep-regex",
    callback=_pattern,
    metavar="REGEX",
    help="Texts of ranges that prepare a step's inputs.",
)
@click.option(
    "--arch",
    metavar="NAME|FILE",
    help="Limits of the GPU for the roofline: an architecture by name, or a JSON or TOML file. "
    "[default: by the GPU's name in the trace]",
)
@click.option(
    "--ext",
    "extension",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Run this Python file: performance models and categories of your own.",
)
@click.option(
    "--analyzer",
    "analyzers",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Run this Python file: analyzers of findings of your own. Repeatable.",
)
@source_map_option
@click.option(
    "--ncu",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="What Nsight Compute measured of kernels (.ncu-rep or CSV), for i in Kernels. Repeatable.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an internal fault.")
@click.version_option(__version__, "-V", "--version")
def command(
    trace: tuple[Path, ...],
    ranks: bool,
    attach: bool,
    demo: bool,
    theme: ThemeName,
    color: Literal["auto", "never"],
    ascii_only: bool,
    no_mouse: bool,
    no_cache: bool,
    salvage: bool,
    step_regex: str | None,
    prep_regex: str | None,
    arch: str | None,
    extension: Path | None,
    analyzers: tuple[Path, ...],
    sources: SourceMap,
    ncu: tuple[Path, ...],
    debug: bool,
) -> None:
    """Explore a GPU trace by keyboard: overview, call paths, kernels, operators,
    steps, collectives, memory.

    TRACE is a trace of PyTorch, JAX, Nsight Systems, ROCm or Proton, a Chrome trace, a recording
    of dctx record, or a .dctx store; compressed is fine, - is the standard input, and @NAME a
    baseline. Two TRACEs, BASE and TARGET, are compared. A folder, a 'pattern*' or three and more
    rank files open as one trace. Without TRACE, recent traces and a file picker are shown. Without
    a terminal the overview, or what changed, is printed as text.
    """
    if demo:
        if trace:
            raise click.UsageError("give either TRACE or --demo, not both")
        from .demo import demo_trace

        trace = (demo_trace(),)
    options = Options(
        theme=theme,
        color=color,
        ascii_only=ascii_only,
        mouse=not no_mouse,
        cache=not no_cache,
        salvage=salvage,
        step_regex=step_regex,
        prep_regex=prep_regex,
        arch=arch,
        extension=extension,
        analyzers=analyzers,
        attach=attach,
        sources=sources,
        ncu=ncu,
        debug=debug,
    )
    if attach:
        if len(trace) != 1:
            raise click.UsageError("--attach follows one recording: dctx-tui --attach FILE")
        _wait_for(trace[0])
        sys.exit(launch(trace[0], options))
    if len(trace) == 2 and not ranks:
        sys.exit(launch(trace[1], options, base=trace[0]))
    sys.exit(launch(trace or None, options))
