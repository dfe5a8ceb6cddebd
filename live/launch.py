"""Runs a command whose Python processes record themselves, as if it had been run directly."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from .options import VARIABLE, Options

_FORWARDED: Final = (
    signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
    signal.SIGALRM, signal.SIGCONT, signal.SIGWINCH,
)  # fmt: skip
_BOOTSTRAP: Final = Path(__file__).with_name("bootstrap")


@dataclass(frozen=True, slots=True)
class Ending:
    """How the command ended."""

    code: int
    """What to exit with: the command's code; 128 + the signal that killed it; 126 or 127 when it
    cannot be run or found."""
    signal: int | None = None
    failure: str = ""
    """Why it could not be run."""


def recorded_environment(options: Options, hooks: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command that is recorded. `hooks`: further variables."""
    environment = {**os.environ, **hooks}
    paths = [str(_BOOTSTRAP), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    environment[VARIABLE] = options.to_environment()
    return environment


@dataclass(frozen=True, slots=True)
class Viewer:
    """What follows the recording in the terminal; the command's output goes to a file then."""

    command: Sequence[str]
    log: Path


def run_recorded(
    command: Sequence[str],
    options: Options,
    *,
    after_s: float,
    look: Callable[[], None],
    viewer: Viewer | None = None,
    hooks: Mapping[str, str] = MappingProxyType({}),
) -> Ending:
    """Run the command to its end, and the viewer to its own. `look` is called once, `after_s`
    after the command began, unless it ended before. `hooks`: further variables of its environment.
    OSError when the viewer's log cannot be made."""
    watched = {*_FORWARDED, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        try:
            child = _started(command, recorded_environment(options, hooks), viewer, unblock)
        except FileNotFoundError as error:
            return Ending(127, failure=_cannot_run(command, error))
        except OSError as error:
            return Ending(126, failure=_cannot_run(command, error))
        if viewer is None:
            return _wait(child, watched, after_s, look)
        screen = subprocess.Popen(viewer.command, preexec_fn=unblock)
        ending = _wait(child, watched, after_s, _nothing)
        if not Path(options.output).exists():
            screen.send_signal(signal.SIGINT)  # it waits for a file that will never be there
        screen.wait()
        return ending
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nothing() -> None:
    """In place of what would be printed over the viewer."""


def _started(
    command: Sequence[str],
    environment: Mapping[str, str],
    viewer: Viewer | None,
    unblock: Callable[[], None],
) -> subprocess.Popen[bytes]:
    """The command's process. `unblock` runs in it first: no other thread runs here."""
    if viewer is None:
        return subprocess.Popen(command, env=environment, preexec_fn=unblock)
    with viewer.log.open("wb") as log:
        return subprocess.Popen(
            command,
            env=environment,
            preexec_fn=unblock,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _cannot_run(command: Sequence[str], error: OSError) -> str:
    return f"{command[0]}: {error.strerror}"


def _wait(
    child: subprocess.Popen[bytes],
    watched: set[signal.Signals],
    after_s: float,
    look: Callable[[], None],
) -> Ending:
    looked = False
    while child.poll() is None:
        if looked:
            info = signal.sigwaitinfo(watched)
        else:
            first = signal.sigtimedwait(watched, after_s)
            if first is None:
                looked = True
                look()
                continue
            info = first
        # What the terminal sends (its code is the kernel's) went to the command as well.
        if info.si_signo != signal.SIGCHLD and info.si_code <= 0:
            child.send_signal(info.si_signo)
    if child.returncode < 0:
        return Ending(128 - child.returncode, signal=-child.returncode)
    return Ending(child.returncode)
