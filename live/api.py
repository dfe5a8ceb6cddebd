"""Recording from inside a program: `dctx.record`, `dctx.scope`, `dctx.step`."""

from __future__ import annotations

import warnings
from importlib import import_module
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Final, Self

from ..native import Recorder, monitor
from ..native._core import Monitor
from ..native.monitor import scope
from . import session, startup
from .options import DEFAULT_SOURCES, SOURCES, Native, Options

__all__ = ["record", "scope", "step"]

_NESTED: Final = "this process is being recorded already: the new recording joins that one"

startup.start()  # under `dctx record`: the program uses dctx, so there is something to record


class record:  # noqa: N801  used like a function
    """Records what runs inside the `with` block (or between start() and stop()).

    `path`: the file; None: `<script>-<time>.dctxrec` in the working directory. `sources`: of
    "python,op,native,gpu", what to capture beside scopes. `native`: also C and C++ frames, in this
    mode ("cached", "exact", "launch", "full"). `shapes`: note the shapes and types that
    operators are called with, at some 0.3 µs each; `memory`: sum up what torch allocates in each
    context. `snapshot`: seconds between snapshots, which are
    what remains when the process is killed. `max_nodes`: contexts beyond it are folded into
    `[other]`. `paused`: nothing is recorded before resume(). `step_marker`: the scope that ends
    steps, in place of optimizers and dctx.step(). A recording inside another one joins it, with a
    warning."""

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        sources: str = ",".join(DEFAULT_SOURCES),
        native: Native | None = None,
        shapes: bool = False,
        memory: bool = False,
        snapshot: float = 5.0,
        max_nodes: int = 2_000_000,
        paused: bool = False,
        step_marker: str = "",
        quiet: bool = True,
    ) -> None:
        asked = tuple(part.strip() for part in sources.split(",") if part.strip())
        unknown = [part for part in asked if part not in SOURCES]
        if unknown:
            raise ValueError(f"sources are of {', '.join(SOURCES)}, not {', '.join(unknown)}")
        if not snapshot > 0 or max_nodes < 1:
            raise ValueError("snapshot and max_nodes must be greater than 0")
        self.path = fspath(path) if path is not None else str(session.default_path())
        if native is not None:
            asked = tuple(dict.fromkeys([*asked, "native"]))
        self._options = Options(
            self.path,
            asked,
            native=native or "cached",
            shapes=shapes,
            memory=memory,
            snapshot_s=snapshot,
            max_nodes=max_nodes,
            paused=paused,
            step_marker=step_marker,
            quiet=quiet,
        )
        self._session: session.Session | None = None
        self._joined = False

    def start(self) -> Self:
        """Begin to record. RuntimeError when this object records already, or when recording cannot
        start."""
        return self._start()

    def _start(self) -> Self:
        """For both ways to begin, so that a warning names the line of the program."""
        if self._session is not None or self._joined:
            raise RuntimeError("this recording runs already")
        if session.current is not None:
            warnings.warn(_NESTED, RuntimeWarning, stacklevel=3)
            self._joined, self.path = True, session.current.path
            return self
        self._session = session.Session.begin(self._options, self.path)
        if self._session is None:
            raise RuntimeError("recording cannot start: see the standard error")
        self._session.stop_at_exit()
        return self

    def stop(self) -> None:
        """End the recording. OSError when the file could not be written. A recording that joined
        another one goes on with it."""
        self._joined = False
        ended, self._session = self._session, None
        if ended is not None:
            state = ended.stop()
            if state.error:
                raise OSError(f"{self.path}: {state.error}")

    def snapshot(self) -> bool:
        """Write what was recorded so far; True when it is in the file."""
        return session.current is not None and session.current.snapshot()

    def pause(self) -> None:
        """Record nothing until resume()."""
        Recorder.record(False)

    def resume(self) -> None:
        """Go on after pause()."""
        Recorder.record(True)

    def findings(self) -> list[Any]:
        """What is slow in what was recorded so far, as `dctx report --findings` tells: id,
        weight, sentence, remedy. Writes a snapshot first. Empty when nothing was recorded."""
        # Loaded only here: analysis needs far more than recording does.
        judge = import_module("dctx.analyzers.recording_findings").findings_of_recording
        if self._joined or self._session is not None:
            self.snapshot()
        found: list[Any] = judge(self.path)
        return found

    def tree(self) -> list[monitor.ThreadTree]:
        """What was recorded so far, thread by thread."""
        return monitor.tree()

    def __enter__(self) -> Self:
        return self._start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del error, trace
        try:
            self.stop()
        except OSError as failure:
            if kind is None:
                raise
            warnings.warn(str(failure), RuntimeWarning, stacklevel=2)


def step() -> None:
    """A training step of the program ended. Unless this is called, `Optimizer.step` of torch ends
    steps."""
    if Monitor.active():
        Monitor.mark_step()
    if session.current is not None:
        session.current.step_ended(by_program=True)
