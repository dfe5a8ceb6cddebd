"""The GPU's part of a recording in this process, and how it gets along with torch's profiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..native import Recorder
from ..native._core import Gpu
from .facts import devices_of_torch
from .gpu import start_gpu
from .options import Options
from .torch_profiler import ProfilerWatch, profiler_runs

_BOTH: Final = (
    "torch.profiler records the GPU while dctx does: GPU work may be missing from either. "
    "--gpu yield leaves it to torch.profiler, --gpu off does so from the start"
)
_YIELDED: Final = "GPU work is left to torch.profiler from here on (--gpu yield)"
_WAITS: Final = "torch.profiler runs already: GPU work is recorded once it has stopped"


class GpuPart:
    """Starts and stops with the recording; what is to be said goes to `tell` and into `notes`."""

    def __init__(self, options: Options, tell: Callable[[str], None]) -> None:
        self._options, self._tell = options, tell
        self._version = ""
        self._launch_ns = 0.0
        self._waits = False
        self._watch: ProfilerWatch | None = None
        self.notes: list[str] = []

    @property
    def label(self) -> str:
        """What records, for the line that tells of a recording; empty when nothing does."""
        return f"{self._version}: kernels + copies" if self._version else ""

    def start(self) -> None:
        """Begin, unless torch's profiler runs: then once it has stopped."""
        wanted = self._options.gpu != "off" and "gpu" in self._options.sources
        if wanted and profiler_runs():
            self._waits = True
            self._note(_WAITS)
            self.watch_torch()
            return
        started = start_gpu(self._options)
        self._version = started.version
        if started.version:
            self._launch_ns = Recorder.measured_launch_ns()
        if started.trouble:
            self._note(started.trouble)

    def watch_torch(self) -> None:
        """torch is there: see when its profiler begins and ends."""
        if self._watch is None and (self._version or self._waits):
            self._watch = ProfilerWatch(self._profiler_begins, self._profiler_ended)

    def _profiler_begins(self) -> None:
        if not self._version or self._waits:
            return
        if self._options.gpu == "yield":
            self.leave(_YIELDED)
        else:
            self._note(_BOTH)

    def leave(self, why: str) -> None:
        """Record no GPU work from now on; what was recorded stays."""
        if self._version or self._waits:
            self._waits = False
            self.stop()
            self._note(why)

    def _profiler_ended(self) -> None:
        if self._waits and not profiler_runs():
            self._waits = False
            self.start()

    def facts(self) -> dict[str, Any]:
        """For the recording's META."""
        return {
            "gpu": self._version or None,
            "launch_ns": self._launch_ns or None,
            "devices": devices_of_torch() if self._version else [],
        }

    def collect_notes(self) -> None:
        """Take over what the native part has to say."""
        for note in Gpu.take_notes():
            self._note(note)

    def stop(self) -> None:
        """End; what is delivered later is lost."""
        self._close_watch()
        Gpu.close()

    def forget(self) -> None:
        """This is a forked child: the GPU is its parent's."""
        self._close_watch()
        self._version, self._waits, self.notes = "", False, []

    def _close_watch(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            self._tell(text)
