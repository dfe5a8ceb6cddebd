"""Functions of the program that are told of events while they are recorded."""

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag

from .._core import EventCalls, EventQueue
from .tree import KINDS


class Domain(IntEnum):
    FRAMEWORK = 0
    """Operators, backward operators, scopes."""
    GPU = 1
    """Calls of GPU interfaces when they begin and end; kernels, copies and memory sets when their
    record arrives."""
    MEMORY = 2
    MODULE = 3
    USER = 4
    """Scopes and steps."""


class EventMask(IntFlag):
    BEGIN = 1
    END = 2
    STEP = 4


EVERYTHING = EventMask.BEGIN | EventMask.END | EventMask.STEP


@dataclass(frozen=True)
class Event:
    event: EventMask
    kind: str
    name: str
    depth: int
    sequence: int
    """At the begin of an operator: autograd's number, -1 for none."""
    forward_thread: int
    thread: int
    time_ns: int
    duration_ns: int
    """At the end of an event."""
    identity: int
    correlation: int
    """Of the GPU's domain: one number for a call and the work that it launched; 0: not known."""
    device: int
    """Of GPU work."""
    bytes: int
    """Moved by GPU work."""


Row = tuple[int, int, str, int, int, int, int, int, int, int, int, int, int]


def _event(row: Row) -> Event:
    return Event(EventMask(row[0]), KINDS[row[1]], *row[2:])


class _Batches:
    """Hands queued events to a function, on a thread of its own."""

    INTERVAL_S = 0.05
    CAPACITY = 65_536

    def __init__(
        self, domain: Domain, mask: EventMask, function: Callable[[Sequence[Event], int], object]
    ) -> None:
        self._queue = EventQueue(int(domain), int(mask), self.CAPACITY)
        self._function = function
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dctx-callbacks", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._done.wait(self.INTERVAL_S):
            self._hand_over()

    def _hand_over(self) -> None:
        rows, drops = self._queue.take()
        if rows or drops:
            self._function([_event(row) for row in rows], drops)

    def close(self) -> None:
        self._queue.close()
        self._done.set()
        self._thread.join()
        self._hand_over()


_open: dict[int, _Batches | EventCalls] = {}
_next = 1


def callback_register(
    domain: Domain,
    function: Callable[[Sequence[Event], int], object],
    *,
    events: EventMask = EVERYTHING,
    sync: bool = False,
) -> int:
    """Tells `function` of the events of one domain: a sequence of them and how many were dropped
    since the last call. It runs on a thread of its own, every 50 ms. With `sync` it runs inside
    each event, on its thread, which costs some microseconds. The handle is for
    callback_unregister(). RuntimeError when 16 functions are told already, and from inside a
    synchronous function."""
    global _next
    if sync:
        sys.stderr.write("dctx: a synchronous callback takes the interpreter's lock each time\n")
        made: _Batches | EventCalls = EventCalls(
            int(domain), int(events), lambda row: function([_event(row)], 0)
        )
    else:
        made = _Batches(domain, events, function)
    handle, _next = _next, _next + 1
    _open[handle] = made
    return handle


def callback_unregister(handle: int) -> None:
    """After it the function is not called again; queued events are handed over before. KeyError for
    a handle that is not registered; RuntimeError from inside a synchronous function."""
    _open[handle].close()
    _open.pop(handle, None)  # another thread may have been faster


def unregister_all() -> None:
    for handle in list(_open):
        callback_unregister(handle)
