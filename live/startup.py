"""The beginning of a process that `dctx record` started: nothing is loaded until something that can
be recorded is there."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from . import meeting
from .import_watch import when_imported
from .options import Options, from_environment, rank
from .telling import tell
from .toggle import await_signal, toggled_before

if TYPE_CHECKING:
    from .session import Session

_FAILED: Final = 125
"""As `dctx record` exits when it fails before the program starts."""
_waiting: Options | None = None
_follows: Session | None = None
"""The recording that began right before torch was executed."""


def begin() -> None:
    """Called at the start of each process of the job: waits for torch, or for the program to use
    dctx itself. Where functions of devices are hooked the recording starts at once."""
    global _waiting
    options = from_environment()
    if options is None or not _wanted(options):
        return
    _waiting = options
    if options.gpu == "require" and meeting.is_first(Path(options.meeting)):
        _require_gpu(options)
    if options.toggle_signal:
        await_signal(options.toggle_signal)
    if options.hooked:
        start()  # a program may call a device without torch
        return
    if "op" in options.sources or "gpu" in options.sources:
        # What records the GPU has to be there before torch is.
        when_imported("torch", _torch_is_there, before=_torch_comes)
    if "op" in options.sources:
        when_imported("jax", start)


def _wanted(options: Options) -> bool:
    own = rank()
    if options.ranks and own is not None and own not in options.ranks:
        return False
    return meeting.is_first(Path(options.meeting)) or options.children == "all"


def _require_gpu(options: Options) -> None:
    """End the process before the program begins when its GPU work cannot be recorded."""
    from .gpu import refusal

    why = refusal(options)
    if why:
        print(f"dctx: {why}: --gpu require", file=sys.stderr, flush=True)
        os._exit(_FAILED)


def _torch_comes() -> None:
    global _follows
    _follows = start(torch_follows=True)


def _torch_is_there() -> None:
    if _follows is None:
        start()
    else:
        _follows.torch_is_there()


def start(*, torch_follows: bool = False) -> Session | None:
    """Start the recording that the process was told to make; at most once. `torch_follows`: torch
    is about to be executed, and the session will be told when it was."""
    global _waiting
    options, _waiting = _waiting, None
    if options is None:
        return None
    try:
        from .session import Session

        if toggled_before():
            options = replace(options, paused=not options.paused)
        session = Session.begin(options, own_path(options), torch_follows=torch_follows)
    except Exception as error:  # in the midst of the program's `import torch`
        if not options.quiet:
            tell(f"this process is not recorded: {_why_not(error, options)}")
        return None
    if session is not None:
        session.stop_at_exit()
    return session


def _why_not(error: Exception, options: Options) -> str:
    if Path(options.meeting).is_dir():
        return f"{type(error).__name__}: {error}"
    return f"{options.meeting} has gone, as when `dctx record` ended before its program did"


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
