"""The `dctx` command: traces for scripts. Textual and DuckDB are imported only when needed."""

import gc
import sys
from typing import Any

import click

from .. import __version__
from ..reports.command import Command
from ..reports.exit_codes import ExitCode
from ..reports.failures import report, silence
from ..reports.startup import cancel_by_exception
from ..reports.stdio import prepare_streams
from .baseline import baseline_command
from .collectives import collectives_command
from .compare import compare_command
from .compare_reports import compare_reports_command
from .flame import flame_command
from .import_trace import import_command
from .info import info_command
from .kernel import kernel_command
from .options import Settings, debug_option
from .overview import overview_command
from .record import record_command
from .replay import replay_command, replay_info_command
from .report import report_command
from .sql import sql_command
from .steps import steps_command
from .verdict import verdict_command


class _Commands(Command, click.Group):
    """A group whose commands fail with one paragraph and the documented exit codes."""

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


for _command in (
    baseline_command,
    collectives_command,
    compare_command,
    compare_reports_command,
    flame_command,
    import_command,
    info_command,
    kernel_command,
    overview_command,
    record_command,
    replay_command,
    replay_info_command,
    report_command,
    sql_command,
    steps_command,
    verdict_command,
):
    dctx.add_command(_command)


def run() -> None:
    """Run the command line of this process, and end it."""
    prepare_streams()
    try:
        dctx(prog_name="dctx")
    except OSError:  # the exit code tells what a standard error that takes nothing cannot
        silence(sys.stderr)
        sys.exit(ExitCode.USAGE)
    finally:
        gc.freeze()  # the process ends: its memory need not be searched for cycles
