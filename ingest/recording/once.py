"""What a program does once: imports, set-up, first calls. A short run consists of that, and the
hottest context of such a run is not that of a long one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..arrays import I64, Mask
from .content import Recording, ThreadTree
from .kinds import Kind
from .paths import context_names, own_time

_IMPORT_FILE: Final = "<frozen importlib"
_TIMED: Final = (Kind.PYTHON, Kind.OP, Kind.BACKWARD_OP, Kind.API)
"""Their longest stretch tells of a first call. A scope may run once and be the whole program."""


def once_time(recording: Recording, thread: ThreadTree) -> tuple[I64, I64]:
    """Of each context its own time, and the part of it that the program spent once, in ns: all of
    what ran while Python imported a module, and the longest stretch (call, or time before one
    event) of a context of which that is more than half."""
    own = own_time(thread)
    longest = thread.metrics["max_ns"]
    # Of an operator with others inside, the longest call is not only its own.
    alone = thread.metrics["self_ns"] == thread.metrics["sum_ns"]
    timed = np.isin(thread.kind, _TIMED) & (alone | (thread.kind == Kind.PYTHON))
    once = np.where(timed & (2 * longest > own), np.minimum(longest, own), 0)
    return own, np.where(_importing(recording, thread), own, once)


def _importing(recording: Recording, thread: ThreadTree) -> Mask:
    """The contexts below Python's import machinery, and itself."""
    strings = enumerate(recording.strings)
    files = [number for number, text in strings if text.startswith(_IMPORT_FILE)]
    codes = np.flatnonzero(np.isin(recording.codes[:, 0], files))
    below: Mask = (thread.kind == Kind.PYTHON) & np.isin(thread.label, codes)
    above = np.maximum(thread.parent, 0)
    while bool(above.any()):  # twice as many levels with each pass
        below |= below[above]
        above = above[above]
    return below


@dataclass(frozen=True, slots=True)
class Context:
    """One context of a process, and time of its own."""

    names: tuple[str, ...]
    """Outermost first."""
    ns: int


@dataclass(slots=True)
class OwnTimes:
    """Where processes spent their time."""

    total_ns: int = 0
    once_ns: int = 0
    """The part of it that ran once."""
    hottest: Context | None = None
    """With most of what did not run once; None when there is none."""
    once: Context | None = None
    """With most of what did."""


def own_times(recordings: Sequence[Recording]) -> OwnTimes:
    """Sum up recordings. Where everything ran once, that is the program, and none is set aside."""
    found = OwnTimes()
    for recording in recordings:
        for thread in recording.threads.values():
            own, once = once_time(recording, thread)
            found.total_ns += int(own.sum())
            found.once_ns += int(once.sum())
            found.hottest = _most(recording, thread, own - once, found.hottest)
            found.once = _most(recording, thread, once, found.once)
    if found.hottest is None:
        found.hottest, found.once, found.once_ns = found.once, None, 0
    return found


def _most(
    recording: Recording, thread: ThreadTree, ns: I64, before: Context | None
) -> Context | None:
    """The context with the most of it, of this thread and what was found before."""
    ns = np.where(thread.kind == Kind.THREAD, 0, ns)
    node = int(np.argmax(ns)) if len(ns) else 0
    most = int(ns[node]) if len(ns) else 0
    if most <= (before.ns if before is not None else 0):
        return before
    return Context(context_names(recording, thread, node), most)
