"""One recording in this process: the monitor, the recorder, and what becomes of them at forks and
at the end. Trouble of ours is told once and never reaches the program."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..native import Recorder, RecorderState, monitor
from ..native._core import DeviceHooks
from .device_routes import told_devices, told_functions
from .facts import facts_of_process, torch_version
from .generated import GeneratedCode
from .gpu_part import GpuPart
from .import_watch import when_imported
from .jax_kernels import JaxKernels
from .jax_window import JaxWindow
from .meeting import add_trouble, control_path
from .options import Options
from .telling import tell
from .toggle import free_signal
from .worker_end import when_worker_ends

current: Session | None = None
"""The recording of this process."""


class Session:
    """Made by `begin`; ends with `stop`, at the latest when the process does."""

    def __init__(self, options: Options, path: str) -> None:
        self.options, self.path = options, path
        self._owner = os.getpid()
        self._event_ns = 0.0
        self._jax: JaxWindow | JaxKernels | None = None
        self._gpu = GpuPart(options, self.tell)
        self._generated = GeneratedCode()

    @staticmethod
    def begin(options: Options, path: str, *, torch_follows: bool = False) -> Session | None:
        """Start to record; None, and a line that tells why, when that cannot be. `torch_follows`:
        torch is being imported, and torch_is_there() will be called."""
        global current
        session = Session(options, path)
        try:
            sources = monitor.Source.SCOPE
            if "python" in options.sources:
                sources |= monitor.Source.PYTHON
            if "op" in options.sources:
                sources |= monitor.Source.FRAMEWORK
            monitor.init(
                sources,
                max_nodes=options.max_nodes,
                max_bytes=int(options.max_mb * 1e6),
                step_marker=options.step_marker,
                arguments=options.shapes,
                memory=options.memory,
                slow=options.slow_ok,
                native=options.native if "native" in options.sources else "off",
                counters=options.counters,
                cpu_sample_hz=options.cpu_sample_hz,
            )
            for note in monitor.status().notes:
                session.tell(note)
            session._event_ns = Recorder.measured_event_ns()
            session._gpu.start()
            if options.hooked:
                session._hook_devices()
            session._start_recorder()
        except Exception as error:
            session._gpu.stop()
            session.tell(f"nothing is recorded: {error}")
            return None
        current = session
        os.register_at_fork(after_in_child=session._in_child)
        if not torch_follows:
            session._tell_gpu()
        if "op" in options.sources:
            if not torch_follows:
                when_imported("torch", session.torch_is_there)
            session._generated.watch(options.snapshot_s, session.tell)
            if options.jax_steps > 0 or options.jax_route == "kernels":
                when_imported("jax", session._jax_is_there)
        return session

    def _hook_devices(self) -> None:
        folder = Path(self.options.meeting)
        names = ", ".join(told_devices(folder).values())
        try:
            routes = DeviceHooks.open(told_functions(folder))
        except RuntimeError as error:
            self.tell(f"calls of {names} are not recorded: {error}")
        else:
            self.tell(f"calls of {names} are recorded, by {routes}")

    def _start_recorder(self) -> None:
        options = self.options
        begin_ns = int(options.delay_s * 1e9)
        end_ns = -1 if options.duration_s is None else begin_ns + int(options.duration_s * 1e9)
        Recorder.start(
            self.path,
            self._meta(),
            interval_ns=int(options.snapshot_s * 1e9),
            durable=options.fsync,
            start_ns=begin_ns if begin_ns > 0 else -1,
            stop_ns=end_ns,
            paused=options.paused,
            toggle_signal=self._toggle_signal(),
            control=str(control_path(Path(options.meeting))) if options.control else "",
            window=options.window,
        )
        trouble = Recorder.state().trouble
        if trouble:
            self.tell(trouble)

    def _toggle_signal(self) -> int:
        """The signal that was asked for; 0 without one, or when the program handles it itself."""
        asked = self.options.toggle_signal
        if not asked or free_signal(asked):
            return asked
        name = signal.Signals(asked).name
        self.tell(f"the program handles {name} itself: it does not turn recording on and off")
        return 0

    def _meta(self) -> str:
        status = monitor.status()
        facts: dict[str, Any] = {
            **facts_of_process(),
            "sources": list(self.options.sources),
            "shapes": self.options.shapes,
            "memory": self.options.memory,
            "samples": self.options.samples,
            "frames": status.frames,
            "level": status.level if status.level != "L4" else None,
            "notes": [*status.notes, *self._gpu.notes],
            "jax": self._jax.facts() if self._jax is not None else None,
            "counters": list(self.options.counters),
            "cpu_sample_hz": self.options.cpu_sample_hz or None,
            "event_ns": self._event_ns,
            "hook_floor_ns": status.torch.floor_ns if status.torch is not None else None,
            **self._gpu.facts(),
        }
        if self.options.hooked:
            named = told_devices(Path(self.options.meeting)).items()
            hooked = [{"ordinal": number, "name": name} for number, name in named]
            facts["devices"] = [*facts["devices"], *hooked]
        return json.dumps(facts)

    def _tell_gpu(self) -> None:
        if self._gpu.label:
            self.tell(f"{self._gpu.label}; file {self.path}")

    def torch_is_there(self) -> None:
        """torch was imported."""
        self._gpu.watch_torch()
        if "op" not in self.options.sources:
            self._tell_gpu()
            return
        told = len(monitor.status().notes)
        try:
            status = monitor.attach_torch()
            Recorder.set_meta(self._meta())
            if self.options.by_steps and not self.options.step_marker:
                _after_optimizer_steps(lambda: self.step_ended(by_program=False))
        except Exception as error:
            self.tell(f"operators of torch are not recorded: {error}")
            return
        if status.level in ("L0", "L1", "L2"):
            parts = ["operators" if status.level != "L2" else "operators (NVTX)"]
            parts += ["Python"] if status.frames is not None else []
            parts += ["backward"] if status.level == "L0" else []
            what = [f"torch {torch_version()}: {' + '.join(parts)}", self._gpu.label]
            self.tell(f"{', '.join(filter(None, what))}; file {self.path}")
        for note in status.notes[told:]:
            self.tell(note)

    def _jax_is_there(self) -> None:
        part: JaxWindow | JaxKernels = JaxWindow(self.options.jax_steps, self.tell)
        if self.options.jax_route == "kernels":
            part = JaxKernels(self.options.meeting, self.tell, self._gpu)
        else:
            self._gpu.leave("XLA's profiler records GPU work, for the steps of its window")
        try:
            part.attach()
        except Exception as error:
            self.tell(f"operations of JAX are not recorded: {error}")
            return
        self._jax = part
        atexit.register(part.close)  # before JAX gives up its devices
        self.tell(f"jax {part.facts()['version']}: {part.told}; file {self.path}")

    def snapshot(self) -> bool:
        """Write what was recorded so far; True when it is in the file."""
        self._generated.keep(self.tell)
        return Recorder.snapshot()

    def tell(self, text: str) -> None:
        """A line for the user, unless asked to be quiet."""
        if not self.options.quiet:
            tell(text)

    def step_ended(self, *, by_program: bool) -> None:
        """A step of the program ended: recording goes on, or pauses, as was asked."""
        Recorder.step_ended(by_program=by_program)
        if self._jax is not None and by_program:
            self._jax.step_ended()

    # ---- the end

    def stop_at_exit(self) -> None:
        """Stop when the process ends."""
        atexit.register(self.stop)

    def stop(self) -> RecorderState:
        """End the recording; the file is complete afterwards. A second call changes nothing."""
        global current
        if self._owner != os.getpid() or current is not self:
            return Recorder.state()
        current = None
        if self._jax is not None:
            self._jax.close()
            atexit.unregister(self._jax.close)
            packed = self._jax.packed()
            if packed and not self._jax.tells_alone:
                Recorder.snapshot()  # what is told is of the last one
            if packed and (self._jax.tells_alone or Recorder.state().nodes):
                Recorder.attach(self._jax.chunk, packed)
        self._generated.close(self.tell)
        self._gpu.collect_notes()
        Recorder.set_meta(self._meta())
        state = Recorder.stop()
        self._gpu.stop()
        if self.options.hooked:
            DeviceHooks.close()
            self._tell_device_counts()
        monitor.finalize()
        if state.error:
            self.tell(f"{self.path} is not complete: {state.error}")
            if self.options.meeting:
                with suppress(OSError):  # `dctx record` has gone
                    add_trouble(Path(self.options.meeting), Path(self.path), state.error)
        return state

    def _tell_device_counts(self) -> None:
        counts = DeviceHooks.counts()
        if counts["open"]:
            self.tell(f"{counts['open']} asynchronous launches were never waited for")
        if counts["abandoned"]:
            self.tell(
                f"{counts['abandoned']} calls of devices were left by an exception or longjmp"
            )

    # ---- forks

    def _in_child(self) -> None:
        """The child has empty trees, and torch's hooks of its parent: it records into a file of its
        own, which appears with its first event."""
        global current
        if current is not self:
            return
        if self.options.children == "none" or not self.options.meeting:
            current = None  # a recording of the program's own is the parent's affair
            return
        from .startup import own_path

        self._jax = None  # JAX does not survive a fork
        self._generated = self._generated.of_child()
        try:
            self._owner = os.getpid()
            self._gpu.forget()
            self.path = own_path(self.options)
            self._start_recorder()
            when_worker_ends(self.stop)
        except Exception as error:
            current = None
            self.tell(f"a child is not recorded: {error}")


def _after_optimizer_steps(call: Callable[[], None]) -> None:
    """Also while paused: torch's own hook, which no recording sees."""
    from importlib import import_module

    def hook(*_: object) -> None:
        call()

    import_module("torch.optim.optimizer").register_optimizer_step_post_hook(hook)


def default_path(directory: Path | None = None) -> Path:
    """`<script>-<time>.dctxrec`, in the working directory."""
    from .naming import timed_name

    return (directory or Path()) / timed_name(sys.argv)
