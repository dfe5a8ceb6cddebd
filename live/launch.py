"""Runs a command whose Python processes record themselves, as if it had been run directly."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
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


def recorded_environment(options: Options) -> dict[str, str]:
    """The environment of a command that is recorded."""
    environment = dict(os.environ)
    paths = [str(_BOOTSTRAP), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    environment[VARIABLE] = options.to_environment()
    return environment


def run_recorded(
    command: Sequence[str], options: Options, *, after_s: float, look: Callable[[], None]
) -> Ending:
    """Run the command to its end. `look` is called once, `after_s` after it began, unless it ended
    before."""
    watched = {*_FORWARDED, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        try:
            child = subprocess.Popen(
                command,
                env=recorded_environment(options),
                preexec_fn=unblock,  # no thread runs here
            )
        except FileNotFoundError as error:
            return Ending(127, failure=_cannot_run(command, error))
        except OSError as error:
            return Ending(126, failure=_cannot_run(command, error))
        return _wait(child, watched, after_s, look)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
