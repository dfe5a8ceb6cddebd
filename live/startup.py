"""The beginning of a process that `dctx record` started: nothing is loaded until something that can
be recorded is there."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from . import meeting
from .import_watch import when_imported
from .options import Options, from_environment, rank
from .toggle import await_signal, toggled_before

_waiting: Options | None = None


def begin() -> None:
    """Called at the start of each process of the job: waits for torch, or for the program to use
    dctx itself. Where functions of devices are hooked the recording starts at once."""
    global _waiting
    options = from_environment()
    if options is None or not _wanted(options):
        return
    _waiting = options
    if options.toggle_signal:
        await_signal(options.toggle_signal)
    if options.hooked:
        start()  # a program may call a device without torch
    elif "op" in options.sources:
        when_imported("torch", start)
        when_imported("jax", start)


def _wanted(options: Options) -> bool:
    own = rank()
    if options.ranks and own is not None and own not in options.ranks:
        return False
    return meeting.is_first(Path(options.meeting)) or options.children == "all"


def start() -> None:
    """Start the recording that the process was told to make; at most once."""
    global _waiting
    options, _waiting = _waiting, None
    if options is None:
        return
    from .session import Session

    if toggled_before():
        options = replace(options, paused=not options.paused)
    session = Session.begin(options, own_path(options))
    if session is not None:
        session.stop_at_exit()


def own_path(options: Options) -> str:
    """The file of this process: of the first one that is no rank it is the one that was asked for;
    of others the rank and the process id are added."""
    folder = Path(options.meeting)
    asked = Path(options.output)
    own, pid = rank(), os.getpid()
    plain = own is None and meeting.is_first(folder)
    parts = ([] if own is None else [f"rank{own}"]) + [str(pid)]
    path = asked if plain else asked.with_name(".".join([asked.stem, *parts]) + asked.suffix)
    before = meeting.told_before(folder)
    if before:
        path = path.with_name(f"{path.stem}.{before}{path.suffix}")
    meeting.add_file(folder, path)
    return str(path)
