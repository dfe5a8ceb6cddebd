"""The monitor: builds the calling context tree of this process while it runs.

    from dctx.native import monitor
    monitor.init()
    with monitor.scope("epoch"):
        train()
    print(monitor.tree()[0])
    monitor.finalize()

Works in any Python program on Linux; operators come from torch when it is loaded. Nothing here
loads torch.
"""

import atexit
import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag
from typing import Any, Literal

from .._core import Monitor, Scope, TorchHooks, TorchMemory
from .calibrate import USUAL, Calibration, calibrate, refused_arguments
from .callbacks import (
    Domain,
    Event,
    EventMask,
    callback_register,
    callback_unregister,
    unregister_all,
)
from .dispatch import enter_dispatch
from .frames import FrameReader, choose_frames
from .nvtx import enter_nvtx, leave_nvtx
from .torch_memory import refused_memory
from .tree import Frame, Node, ThreadTree, frame_of, tree

__all__ = [
    "DEFAULT_SOURCES",
    "Calibration",
    "Domain",
    "Event",
    "EventMask",
    "Frame",
    "Node",
    "Source",
    "Status",
    "ThreadTree",
    "attach_torch",
    "callback_register",
    "callback_unregister",
    "callpath_get",
    "finalize",
    "init",
    "scope",
    "status",
    "tree",
]


class Source(IntFlag):
    """What to capture or to ask for."""

    PYTHON = 1
    FRAMEWORK = 2
    NATIVE = 4
    GPU = 8
    INSTRUCTION = 16
    SCOPE = 32


DEFAULT_SOURCES = Source.PYTHON | Source.FRAMEWORK | Source.SCOPE


@dataclass(frozen=True)
class Status:
    """What this process captures, and what it does not with the reason."""

    recording: bool = False
    frames: FrameReader | None = None
    torch: Calibration | None = None
    """None while torch is not attached."""
    notes: tuple[str, ...] = field(default=())
    arguments: bool = False
    """What operators are called with is to be noted."""
    memory: bool = False
    """Allocations are to be recorded."""
    slow: bool = False
    """Operators may be taken from the dispatcher, where torch cannot be attached to."""
    nvtx: bool = False
    """Operators are taken from the NVTX ranges of torch, as it cannot be attached to."""
    dispatch: Any = None
    """The mode of torch that does so; None where none does."""

    @property
    def level(self) -> str:
        """How much of torch is captured: L0 all, L1 no link from backward to forward, L2 the
        ranges of one thread and its backward passes, L3 what the dispatcher of one thread sees, L4
        none."""
        if self.torch is not None:
            return self.torch.level
        if self.nvtx:
            return "L2"
        return "L4" if self.dispatch is None else "L3"


_status = Status()


def init(
    sources: Source = DEFAULT_SOURCES,
    *,
    max_nodes: int = 2_000_000,
    max_bytes: int = 2**63,
    usage: bool = True,
    step_marker: str = "",
    native: Literal["off", "cached", "exact", "launch", "full"] = "off",
    counters: Sequence[str] = (),
    cpu_sample_hz: int = 0,
    arguments: bool = False,
    memory: bool = False,
    slow: bool = False,
) -> Status:
    """Begins to record with empty trees. `max_nodes`: contexts of the process beyond it are folded
    into `[other]`, and those beyond `max_bytes` of memory. `step_marker`: the scope whose end ends
    a training step, in place of `Optimizer.step` and of what the program says. `usage`: measure
    thread CPU time, page faults and context switches of scopes, and the `counters` of theirs that
    perf_event_open(2) has. `native`: adds the C and C++ frames that lead to an operator: "cached"
    as they were when it was first met in its context, "exact" as they are each time, "launch" those
    that lead to calls of a device's interface alone, "full" as exact with the Python frames where
    they were called. `cpu_sample_hz`: looks at each thread so many times a second of CPU time.
    `arguments`: note the shapes and types that operators of torch are called with. `memory`: record
    what torch's allocators tell. `slow`: where torch cannot be attached to, take operators from its
    dispatcher, at several times their cost. What is not to be had is told in the notes.
    RuntimeError when a recording runs."""
    global _status
    if _status.recording:
        raise RuntimeError("a recording runs in this process: call finalize() first")
    frames: FrameReader | None = None
    if Source.PYTHON in sources:
        frames = choose_frames()
    else:
        Monitor.use_frames("none")
    lacking = {
        "native frames": Monitor.use_native_frames(native),
        "counters of the processor": Monitor.choose_counters(list(counters)),
        "samples of the CPU": Monitor.sample_cpu(cpu_sample_hz),
    }
    Monitor.clear()
    atexit.register(finalize)  # hooks must rest before the interpreter's structures go
    Monitor.start(max_nodes=max_nodes, max_bytes=max_bytes, usage=usage, step_marker=step_marker)
    notes = [f"{what} are not captured: {why}" for what, why in lacking.items() if why]
    if frames == "public":
        notes.append("Python frames are read through the public interface")
    _status = Status(True, frames, None, tuple(notes), arguments, memory, slow)
    if Source.FRAMEWORK in sources and _torch_is_loaded():
        attach_torch()
    return _status


def _torch_is_loaded() -> bool:
    """Not only begun: its import has ended."""
    module = sys.modules.get("torch")
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def attach_torch() -> Status:
    """Attaches to the torch that is loaded; once it is, does nothing. Never raises: what cannot be
    captured is told in the notes."""
    global _status
    if _status.level != "L4" or not _status.recording:
        return _status
    notes = list(_status.notes)
    found: Calibration | None = None
    try:
        found = calibrate()
        refused = refused_arguments() if _status.arguments else ""
        if refused:
            notes.append(f"shapes of operators are not captured: {refused}")
        TorchHooks.attach(
            found.scope,
            found.sequence,
            found.forward_thread,
            arguments=_status.arguments and not refused,
        )
    except RuntimeError as error:
        notes.append(_without_attaching(error))
        found = None
    else:
        if found.reason:
            notes.append(f"backward operators are not linked to forward ones: {found.reason}")
        offsets = (found.scope, found.sequence, found.forward_thread)
        if found.level == "L0" and offsets != USUAL:
            notes.append(f"this torch keeps its events at other places than usual: {offsets}")
    if found is not None and _status.memory:
        refused = refused_memory()
        if refused:
            notes.append(f"allocations are not captured: {refused}")
        else:
            TorchMemory.start()
    _status = replace(_status, torch=found, notes=tuple(notes))
    return _status


def _without_attaching(error: RuntimeError) -> str:
    """What is done where torch cannot be attached to, for the user."""
    global _status
    no_ranges = enter_nvtx()
    if not no_ranges:
        _status = replace(_status, nvtx=True)
        return (
            "operators of torch come from its NVTX ranges, of this thread and its backward passes "
            "alone, without shapes, allocations and the link from backward to forward operators: "
            f"{error}"
        )
    if not _status.slow:
        return (
            f"operators of torch are not captured: {error}; {no_ranges}. Record them with "
            "--slow-ok, at several times their cost, or with torch.profiler, whose traces dctx "
            "opens"
        )
    try:
        _status = replace(_status, dispatch=enter_dispatch())
    except (ImportError, AttributeError) as lacking:
        return f"operators of torch are not captured: {error}; and {lacking}"
    return (
        "operators of torch come from its dispatcher, on this thread alone, at several times "
        f"their cost and without their backward counterparts: {error}"
    )


def status() -> Status:
    """As of now: a violation met while recording is among the notes."""
    violation = TorchHooks.violation()
    if not violation or _status.torch is None:
        return _status
    note = f"backward operators are no longer linked to forward ones: {violation}"
    return replace(_status, notes=(*_status.notes, note))


def finalize() -> None:
    """Ends the recording and what callback_register() began; the trees stay until the next
    init()."""
    global _status
    atexit.unregister(finalize)
    Monitor.stop()
    Monitor.sample_cpu(0)
    TorchHooks.detach()
    TorchMemory.stop()
    if _status.nvtx:
        leave_nvtx()
    if _status.dispatch is not None:
        _status.dispatch.__exit__(None, None, None)
    unregister_all()
    _status = Status(False, _status.frames, None, _status.notes)


def callpath_get(
    sources: Source = DEFAULT_SOURCES,
) -> tuple[Frame, ...]:
    """The calling thread's call path, outermost first; empty while nothing is recorded."""
    wanted = {
        "python": Source.PYTHON,
        "scope": Source.SCOPE,
        "op": Source.FRAMEWORK,
        "backward op": Source.FRAMEWORK,
    }
    frames = (frame_of(row) for row in Monitor.callpath(int(sources), skip=1))
    return tuple(f for f in frames if f.kind not in wanted or wanted[f.kind] in sources)


class scope(Scope, contextlib.ContextDecorator):  # noqa: N801  used like a function
    """A named part of the program: `with scope("epoch"):`, or `@scope("evaluate")`. Digits in the
    name that differ from call to call become `#`."""
