"""`dctx record`: run a command and record its calling context trees while it runs."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from ..live.device_config import DeviceConfigError, Route, read_device_config, why_not_here
from ..live.job_folder import job_folder
from ..live.launch import Ending, Viewer, run_recorded
from ..live.limits import told_limits
from ..live.meeting import greetings, told_files, told_troubles
from ..live.naming import timed_name
from ..live.options import SUFFIX, Options
from ..reports.command import Command
from ..reports.failures import UserError, fault_text, say
from .options import debug_option
from .record_options import asked_options, record_options

_FAILED = 125
"""dctx failed before the command was started; as env(1), 126 and 127 tell of the command."""


@click.command(
    "record",
    cls=Command,
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The file, or a folder for it.  [default: ./<script>-<time>.dctxrec]",
)
@click.option(
    "--live",
    is_flag=True,
    help="Follow the recording in the terminal while it runs; the command's output goes to a file.",
)
@click.option(
    "--device-config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML that names functions of a device without an interface for profilers, to record.",
)
@click.option(
    "--device-route",
    type=click.Choice(["audit", "preload", "both"]),
    default="audit",
    show_default=True,
    help="How calls of these are seen: LD_AUDIT, LD_PRELOAD.",
)
@click.option(
    "--report",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the closing summary, on the standard error.",
)
@record_options
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@debug_option
def record_command(
    output: Path | None,
    live: bool,
    device_config: Path | None,
    device_route: Route,
    report: str,
    command: tuple[str, ...],
    **asked: Any,
) -> None:
    """Run COMMAND and record where its time goes: `dctx record -- python train.py`.

    Every Python process of the command records itself from the moment it has torch, or uses
    dctx.scope. The program is not changed and its exit code is passed on.

    Exit codes: the command's; 128 + the signal that killed it; 126, 127 when it cannot be run or
    found; 125 when dctx fails before it starts; 2 bad usage.
    """
    if not command:
        raise click.UsageError("there is no command to run: dctx record -- python train.py")
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(job_folder())
        except OSError as error:
            say(sys.stderr, f"dctx: {error.filename or 'TMPDIR'}: {error.strerror}\n")
            sys.exit(_FAILED)
        options = asked_options(
            asked,
            output=str(_output(output, command)),
            hooked=device_config is not None,
            meeting=str(folder),
        )
        quiet = options.quiet
        hooks = _hooks(device_config, device_route, folder)
        if options.control:
            _tell(f"control it: dctx control {folder} start|stop|snapshot|status", quiet)
        elif options.paused and not options.toggle_signal:
            _tell("recording begins when the program resumes it: see --toggle-signal", quiet)
        warned: list[str] = []

        def look() -> None:
            warned.append(_silence(folder, command))
            _tell(warned[-1], quiet)

        viewer = _viewer(Path(options.output)) if live else None
        ending = run_recorded(
            command,
            options,
            after_s=max(options.snapshot_s, 1.0),
            look=look,
            viewer=viewer,
            hooks=hooks,
        )
        if viewer is not None:
            _tell(f"the output of the command is in {viewer.log}", quiet)
        if not warned and not ending.failure:
            look()
        try:
            _conclude(folder, ending, options, report)
        except Exception as error:  # never the program's failure
            say(sys.stderr, f"dctx: no summary: {fault_text(error)}\n")
    sys.exit(ending.code)


def _output(output: Path | None, command: tuple[str, ...]) -> Path:
    """The file to write, absolute: the program may change its directory."""
    path = Path(timed_name(command)) if output is None else output
    if path.is_dir():
        path = path / timed_name(command)
    elif not path.suffix:
        path = path.with_suffix(SUFFIX)
    path = path.absolute()
    if not path.parent.is_dir():
        raise UserError(f"{path.parent}: there is no such folder. Make it first.")
    return path


def _hooks(config: Path | None, route: Route, folder: Path) -> dict[str, str]:
    """The variables that lead calls of devices to dctx."""
    if config is None:
        return {}
    if why := why_not_here():
        raise UserError(why)
    from ..live.device_routes import hooked_environment

    try:
        return hooked_environment(read_device_config(config), route, folder, os.environ)
    except DeviceConfigError as error:
        raise UserError(str(error)) from None


def _viewer(path: Path) -> Viewer:
    """`dctx-tui` on a recording that is still being written."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("--live needs a terminal. Without one, leave it out.")
    return Viewer([sys.executable, "-m", "dctx.tui", "--attach", str(path)], Path(f"{path}.log"))


def _silence(folder: Path, command: tuple[str, ...]) -> str:
    """Why no process of the command may be recorded; empty when one is, or may be yet."""
    told = greetings(folder)
    failed = sorted({why for why in told.values() if why})
    if failed:
        return f"not recorded: {failed[0]}. Install dctx for this Python: pip install dctx"
    if told:
        return ""
    return (
        f"no Python of `{' '.join(command)[:60]}` has started its recording. Python started with "
        "-I, -E or -S does not: leave these out, or record inside the program: "
        "with dctx.record(): …"
    )


def _tell(text: str, quiet: bool) -> None:
    if text and not quiet:
        say(sys.stderr, f"dctx: {text}\n")


def _conclude(folder: Path, ending: Ending, options: Options, form: str) -> None:
    from ..analyzers.recording_job import RecordedFile, read_files, recorded_job
    from ..reports.recording import job_json, job_text

    if ending.failure:
        say(sys.stderr, f"dctx: {ending.failure}\n")
        return
    files = read_files(told_files(folder))
    there = {file.path for file in files}
    files += [
        RecordedFile(path, 0, None, why)
        for path, why in told_troubles(folder).items()
        if path not in there
    ]
    job = recorded_job(files)
    if form == "json":
        say(sys.stderr, job_json(job, ending.code))
    elif not options.quiet and greetings(folder):
        say(sys.stderr, job_text(job, told_limits(options)))
