"""The `dctx-tui` command: opens the application, nothing else.

Textual and DuckDB are imported only once the command line is known to be good: `--version`,
`--help` and usage errors answer at once.
"""

import os
import sys
from pathlib import Path
from typing import Literal

import click

from .. import __version__

ThemeName = Literal["dark", "light", "ansi", "ansi-light"]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("trace", required=False, type=click.Path(path_type=Path), metavar="[TRACE]")
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
@click.option("--debug", is_flag=True, help="Show the traceback of an internal fault.")
@click.version_option(__version__, "-V", "--version")
def main(
    trace: Path | None,
    demo: bool,
    theme: ThemeName,
    color: Literal["auto", "never"],
    ascii_only: bool,
    no_mouse: bool,
    no_cache: bool,
    salvage: bool,
    debug: bool,
) -> None:
    """Explore a GPU trace by keyboard: overview, call paths, kernels.

    TRACE is an Nsight Systems export (.sqlite), a report (.nsys-rep, needs nsys on the PATH) or a
    .dctx store. Without it, recent traces and a file picker are shown. Without a terminal the
    overview is printed as text.
    """
    if demo:
        if trace is not None:
            raise click.UsageError("give either TRACE or --demo, not both")
        from .demo import demo_trace

        trace = demo_trace()
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        sys.exit(_without_terminal(trace, cache=not no_cache, salvage=salvage, debug=debug))
    if color == "never":
        os.environ["NO_COLOR"] = "1"
    if os.environ.get("NO_COLOR"):
        theme = "ansi"
    else:
        os.environ.pop("NO_COLOR", None)  # empty means unset; Textual would obey it
    # Read by Textual when it is imported. Nothing moves unless the user moves it.
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    os.environ.setdefault("TEXTUAL_SMOOTH_SCROLL", "0")

    from .loading import Loading

    loading = None
    if trace is not None:
        # The trace is opened while Textual is still being imported.
        loading = Loading(trace, cache=not no_cache, salvage=salvage)
        loading.start()

    from .app import DctxApp, StartApp

    app = (StartApp if loading is None else DctxApp)(
        loading, theme_name=theme, ascii_only=ascii_only, cache=not no_cache, debug_faults=debug
    )
    app.run(mouse=not no_mouse)
    sys.exit(app.return_code or 0)


def _without_terminal(trace: Path | None, *, cache: bool, salvage: bool, debug: bool) -> int:
    """Print the overview as text; the exit code."""
    from ..reports.failures import UserError, report

    try:
        if trace is None:
            raise UserError(
                "there is no terminal to draw on. Give a TRACE to print its overview as text, or "
                "see `dctx --help` for scripts."
            )
        from ..ingest.registry import open_trace
        from ..queries.overview import overview
        from ..queries.trace import Trace
        from ..reports.overview import overview_text

        store = open_trace(trace, cache=cache, salvage=salvage)
        try:
            sys.stdout.write(overview_text(overview(Trace(store))))
            sys.stdout.flush()
        finally:
            store.close()
    except (Exception, KeyboardInterrupt) as error:
        return report(error, "dctx-tui", sys.stderr, debug=debug)
    return 0


if __name__ == "__main__":
    main()
