"""The `dctx` command: traces for scripts. What a command does not need is not imported."""

import gc
import sys
from importlib import import_module
from typing import Any, Final

import click

from .. import __version__
from ..reports.command import Command
from ..reports.exit_codes import ExitCode
from ..reports.failures import report, silence
from ..reports.startup import cancel_by_exception
from ..reports.stdio import prepare_streams
from .options import Settings, debug_option

COMMANDS: Final = {
    "baseline": "baseline",
    "collectives": "collectives",
    "compare": "compare",
    "compare-reports": "compare_reports",
    "control": "control",
    "flame": "flame",
    "import": "import_trace",
    "info": "info",
    "kernel": "kernel",
    "overview": "overview",
    "record": "record",
    "replay": "replay",
    "replay-info": "replay",
    "report": "report",
    "sql": "sql",
    "steps": "steps",
    "symbolize": "symbolize",
    "verdict": "verdict",
}
"""Where each command is: only the one that is run is loaded."""
_COLLECT_AFTER: Final = 50_000
"""New objects between two searches for cycles. There are hardly any: what a command makes is in
arrays, and a search looks at every object of every module."""


class _Commands(Command, click.Group):
    """A group whose commands fail with one paragraph and the documented exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f".{COMMANDS[cmd_name]}", __package__)
        found: click.Command = getattr(module, cmd_name.replace("-", "_") + "_command")
        return found

    def invoke(self, ctx: click.Context) -> Any:
        cancel_by_exception()
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (Exception, KeyboardInterrupt) as error:
            debug = ctx.ensure_object(Settings).debug
            sys.exit(report(error, "dctx", sys.stderr, debug=debug))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version")
@debug_option
def dctx() -> None:
    """Read GPU traces from scripts; `dctx-tui TRACE` explores them by keyboard.

    Exit codes: 0 fine; 1 a gate asked for with --fail-on failed; 2 bad usage or a trace that
    cannot be read; 70 a fault of dctx; 130 cancelled.
    """


def run() -> None:
    """Run the command line of this process, and end it."""
    prepare_streams()
    gc.set_threshold(_COLLECT_AFTER)
    try:
        dctx(prog_name="dctx")
    except OSError:  # the exit code tells what a standard error that takes nothing cannot
        silence(sys.stderr)
        sys.exit(ExitCode.USAGE)
    finally:
        gc.freeze()  # the process ends: its memory need not be searched for cycles
