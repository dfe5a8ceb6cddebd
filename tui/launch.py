"""Starting the application: with a terminal the views, without one the overview as text."""

import asyncio
import gc
import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..ingest.raw_bytes import is_standard_input, set_standard_input_aside
from ..ingest.selection import Asked
from ..reports.exit_codes import ExitCode
from ..reports.source_map import SourceMap
from ..reports.startup import cancel_by_exception

if TYPE_CHECKING:
    from ..ingest.ncu import NcuKernel
    from .app import DctxApp

_DUMB = (
    "This needs a terminal that can move the cursor, and TERM=dumb says that this one cannot: set "
    "TERM to what it is, such as xterm-256color, or print the trace with `dctx overview TRACE`."
)
PATIENCE_S = 2.0
"""Who has left and still waits after this time is told why."""
ThemeName = Literal["dark", "light", "ansi", "ansi-light"]


@dataclass(frozen=True)
class Options:
    """The command line, with its defaults."""

    theme: ThemeName = "dark"
    color: Literal["auto", "never"] = "auto"
    ascii_only: bool = False
    mouse: bool = True
    cache: bool = True
    salvage: bool = False
    step_regex: str | None = None
    prep_regex: str | None = None
    arch: str | None = None
    extension: Path | None = None
    analyzers: tuple[Path, ...] = ()
    sources: SourceMap | None = None
    """Where the sources that the trace names are on this machine."""
    ncu: tuple[Path, ...] = ()
    """What Nsight Compute measured of kernels."""
    attach: bool = False
    """Follow a recording that is still being written."""
    debug: bool = False


def launch(trace: Asked | None, options: Options, base: Asked | None = None) -> int:
    """Run the application (or print the overview) and return the exit code; `base`: the trace to
    compare with."""
    if trace is not None and _reads_standard_input(trace) and _screen_without_keys():
        with suppress(OSError):
            set_standard_input_aside()  # the trace comes from there, the keys from the terminal
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        from .without_terminal import print_text

        return print_text(
            trace, base, cache=options.cache, salvage=options.salvage, debug=options.debug
        )
    from ..reports.stdio import moves_cursor

    if not moves_cursor(sys.stdout):
        from ..reports.failures import UserError, report

        return report(UserError(_DUMB), "dctx-tui", sys.stderr, debug=options.debug)
    own = None
    if options.arch is not None or options.extension is not None or options.analyzers:
        from ..reports.failures import UserError, report
        from ..reports.own_files import own_files

        try:
            own = own_files(options.arch, options.extension, options.analyzers)
        except UserError as error:
            return report(error, "dctx-tui", sys.stderr, debug=options.debug)
    measured: list[NcuKernel] = []
    if options.ncu:
        from ..ingest.errors import TraceError
        from ..ingest.ncu import read_ncu
        from ..reports.failures import report

        try:
            measured = [kernel for file in options.ncu for kernel in read_ncu(file)]
        except TraceError as error:
            return report(error, "dctx-tui", sys.stderr, debug=options.debug)
    theme = options.theme
    if options.color == "never":
        os.environ["NO_COLOR"] = "1"
    if os.environ.get("NO_COLOR"):
        theme = "ansi"
    else:
        os.environ.pop("NO_COLOR", None)  # empty means unset; Textual would obey it
    # Garbage collections find nothing while modules are imported: they wait for the first screen.
    gc.disable()
    # Read by Textual when it is imported. Nothing moves unless the user moves it.
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    os.environ.setdefault("TEXTUAL_SMOOTH_SCROLL", "0")

    from .loading import Loading, StepPatterns, stop_all

    patterns = StepPatterns(options.step_regex, options.prep_regex)

    def opening(asked: Asked | None, *, first_screen: bool) -> Loading | None:
        if asked is None:
            return None
        return Loading(
            asked,
            cache=options.cache,
            salvage=options.salvage,
            patterns=patterns,
            with_overview=first_screen,
        )

    # Both are opened while Textual is still being imported.
    loading, base_loading = opening(trace, first_screen=True), opening(base, first_screen=False)
    cancel_by_exception()
    try:
        if loading is not None:
            loading.start()
        if loading is not None and base_loading is not None:
            loading.first_screen.set()  # Compare shows nothing that is remembered
            base_loading.start()
        from .app import CompareApp, DctxApp, StartApp

        kind: type[DctxApp] = DctxApp
        if loading is None:
            kind = StartApp
        elif base_loading is not None:
            kind = CompareApp
        elif options.attach:
            from .follow import FollowApp

            kind = FollowApp
        app = kind(
            loading,
            base=base_loading,
            theme_name=theme,
            ascii_only=options.ascii_only,
            cache=options.cache,
            patterns=patterns,
            own_files=own,
            sources=options.sources,
            measured=measured,
            debug_faults=options.debug,
        )
        asyncio.run(_run(app, mouse=options.mouse))
        return app.return_code or 0
    except KeyboardInterrupt:  # before the application listens to keys
        return ExitCode.CANCELLED
    finally:
        _let_go()
        stop_all()


async def _run(app: "DctxApp", *, mouse: bool) -> None:
    # An exception anywhere in Textual, as while it takes the terminal over, is no orderly end.
    loop, heard = asyncio.get_running_loop(), callable(signal.getsignal(signal.SIGINT))
    if heard:
        loop.add_signal_handler(signal.SIGINT, app.end, ExitCode.CANCELLED)
    try:
        await app.run_async(mouse=mouse)
    finally:  # the terminal is as it was; threads may still be answering
        if heard:
            loop.remove_signal_handler(signal.SIGINT)
        _let_go()


def _let_go() -> None:
    """However it ends: a thread inside native code must not meet an interpreter that ends, and a
    store that is still being written is removed by the thread that writes it. Who does not want to
    wait presses ctrl+c once more."""
    if signal.signal(signal.SIGINT, signal.SIG_DFL) is not signal.SIG_DFL:
        waits = threading.Timer(PATIENCE_S, _tell_that_it_waits)
        waits.daemon = True
        waits.start()


def _tell_that_it_waits() -> None:
    print(
        "dctx-tui: waiting for a question that still runs; ctrl+c ends it at once", file=sys.stderr
    )


def _reads_standard_input(trace: Asked) -> bool:
    return all(map(is_standard_input, (trace,) if isinstance(trace, Path) else trace))


def _screen_without_keys() -> bool:
    return sys.stdout.isatty() and sys.stderr.isatty() and not sys.stdin.isatty()
