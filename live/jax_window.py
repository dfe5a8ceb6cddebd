"""A window of a JAX program under jax.profiler: what the operations of XLA cost, for some steps.

The profiler keeps every event of its window, so the window is short. It begins when the program is
compiled and ends after some steps, or some time where nothing tells the steps. The recording keeps
what the profiler wrote; its reader makes contexts of it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

MOST_BYTES: Final = 64 << 20
"""Of what the profiler wrote; more is not kept."""
_SECONDS_AFTER_COMPILING: Final = 2.0
_SECONDS_AT_MOST: Final = 20.0
_WINDOWS_AT_MOST: Final = 32
COMPILED: Final = "/jax/core/compile/backend_compile_duration"
"""JAX tells this once XLA has compiled a program."""
_COMPILING: Final = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    COMPILED: "xla",
}


class CompileTimes:
    """What compiling took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.sums: dict[str, list[int]] = {}
        """By stage: how many programs, ns."""

    def add(self, event: str, seconds: float) -> bool:
        """Of what JAX tells; False when it is none of the stages."""
        stage = _COMPILING.get(event)
        if stage is None:
            return False
        with self._lock:
            sums = self.sums.setdefault(stage, [0, 0])
            sums[0] += 1
            sums[1] += int(seconds * 1e9)
        return True


def watch_jax(
    compiled: Callable[..., None], start_of_program: Callable[..., None]
) -> Callable[..., None]:
    """Have `compiled` called when JAX compiles, and `start_of_program` when the program starts a
    profile. Returns what starts one. AttributeError when the JAX that is loaded is too old."""
    jax = sys.modules["jax"]
    profiler: Any = jax.profiler
    start: Callable[..., None] = profiler.start_trace
    jax.monitoring.register_event_duration_secs_listener(compiled)
    # Only one profile runs at a time: the program's own comes first.
    for module in (profiler, sys.modules.get("jax._src.profiler")):
        if getattr(module, "start_trace", None) is start:
            vars(module)["start_trace"] = start_of_program
    return start


class JaxWindow:
    """One process' windows: the last of them counts. Trouble of ours is told, and ends them."""

    chunk: Final = "XPLN"
    tells_alone: Final = True
    """A recording of nothing else is one."""
    told: Final = "operations, for some steps"

    def __init__(self, steps: int, tell: Callable[[str], None]) -> None:
        """`steps`: how many steps a window holds, where something tells of them."""
        self._steps, self._tell = steps, tell
        self._owner = os.getpid()
        self._lock = threading.RLock()
        self._folder: str | None = None  # a window is open
        self._timer: threading.Timer | None = None
        self._begun_s = 0.0
        self._opened = 0
        self._given_up = False
        self._longest_s = 0.0
        self._told_steps: int | None = None  # of this window; None until one is told
        self._start: Callable[..., None] | None = None
        self._times = CompileTimes()
        self.data = b""
        """What the last window that ended holds, an XSpace message."""
        self.ns = 0
        """How long it was open."""
        self.steps: int | None = None
        """Steps in it; None where nothing told of them."""

    def attach(self) -> None:
        """Watch the JAX that is loaded. AttributeError when it is too old."""
        self._start = watch_jax(self._compiled, self._start_of_program)

    def facts(self) -> dict[str, Any]:
        """What to tell of it in the recording."""
        jax: Any = sys.modules.get("jax")
        return {
            "version": getattr(jax, "__version__", None),
            "compile": self._times.sums,
            "window_ns": self.ns,
            "window_steps": self.steps,
        }

    def step_ended(self) -> None:
        """The program ended a step: its steps are what windows hold."""
        with self._lock:
            if self._told_steps is None:
                self._close(keep=False)
                self._told_steps = 0
                self._open()
                return
            self._told_steps += 1
            if self._folder is not None and self._told_steps >= self._steps:
                self._close(keep=True)
                self._given_up = True  # it holds all that was asked for

    def close(self) -> None:
        """End the window that is open, if there is one, for good."""
        if self._owner != os.getpid():
            return  # a forked child ends: the window is its parent's
        with self._lock:
            self._close(keep=True)
            self._given_up = True

    def packed(self) -> bytes:
        """The content of the recording's chunk; empty without a window."""
        if len(self.data) > MOST_BYTES:
            size = len(self.data) >> 20
            self._tell(f"the window of JAX is not kept: {size} MiB, more than it may be")
            return b""
        return zlib.compress(self.data, 1) if self.data else b""

    def _compiled(self, event: str, seconds: float, **_: Any) -> None:
        """Called by JAX, on the thread that compiles."""
        if not self._times.add(event, seconds):
            return
        with self._lock:
            if event != COMPILED or self._told_steps is not None:
                return
            # A window is worth most when it begins after the program that matters was compiled;
            # one that was kept is given up only for a larger program.
            enough = self._longest_s if self.data else self._longest_s / 10
            self._longest_s = max(self._longest_s, seconds)
            if seconds >= enough and self._opened < _WINDOWS_AT_MOST:
                self._close(keep=False)
                self._open()
            elif self._folder is not None:
                self._wait()  # more may be to come

    def _open(self) -> None:
        if self._given_up or self._start is None or self._opened >= _WINDOWS_AT_MOST:
            return
        folder = tempfile.mkdtemp(prefix="dctx-jax-")
        try:
            options = sys.modules["jax"].profiler.ProfileOptions()
            options.python_tracer_level = 0  # Python lines come with the compiled modules
            self._start(folder, profiler_options=options)
        except Exception as error:
            shutil.rmtree(folder, ignore_errors=True)
            self._given_up = True
            self._tell(f"operations of JAX are not recorded: {error}")
            return
        self._folder, self._begun_s = folder, time.monotonic()
        self._opened += 1
        if self._told_steps is None:
            self._wait()

    def _wait(self) -> None:
        """End the window some time from now."""
        if self._timer is not None:
            self._timer.cancel()
        left = self._begun_s + _SECONDS_AT_MOST - time.monotonic()
        self._timer = threading.Timer(
            max(0.0, min(_SECONDS_AFTER_COMPILING, left)), self._time_is_up, (self._opened,)
        )
        self._timer.daemon = True
        self._timer.start()

    def _time_is_up(self, window: int) -> None:
        with self._lock:
            if window == self._opened:
                self._close(keep=True)

    def _close(self, *, keep: bool) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        folder, self._folder = self._folder, None
        if folder is None:
            return
        try:
            ns = int((time.monotonic() - self._begun_s) * 1e9)
            sys.modules["jax"].profiler.stop_trace()
            [file] = Path(folder).rglob("*.xplane.pb")
            if keep:
                self.data, self.ns, self.steps = file.read_bytes(), ns, self._told_steps
        except Exception as error:
            self._given_up = True
            self._tell(f"operations of JAX are not recorded: {error}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _start_of_program(self, *args: Any, **options: Any) -> None:
        """What the program calls in place of jax.profiler.start_trace."""
        if self._start is None:
            return
        with self._lock:
            if self._folder is not None:
                self._tell("the program profiles itself: the window of JAX ends before")
            self._close(keep=True)
            self._given_up = True
        self._start(*args, **options)
