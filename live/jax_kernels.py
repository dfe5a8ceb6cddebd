"""A JAX program whose GPU work the recorder itself records: XLA writes down the programs that it
compiles, and the recording keeps them: its reader finds the operation of a kernel by name."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ..native import Recorder
from .gpu_part import GpuPart
from .jax_window import COMPILED, CompileTimes, watch_jax

MOST_BYTES: Final = 64 << 20
"""Of programs, packed; more are not kept."""
_FLAGS: Final = "XLA_FLAGS"
_DUMP: Final = "--xla_dump_to="
_FORM: Final = "--xla_dump_hlo_as_proto"
_PREFIX: Final = "dctx-xla-"
_DUMPED: Final = re.compile(r"module_(\d{1,9})\.(.+?)\.([\w.+-]*)after_optimizations\.hlo\.pb")


class JaxKernels:
    """The compiled programs of one process. Trouble of ours is told, and ends it."""

    chunk: Final = "XHLO"
    tells_alone: Final = False
    """Programs of which no kernel ran are no recording."""

    def __init__(self, place: str, tell: Callable[[str], None], gpu: GpuPart) -> None:
        """`place`: where XLA's files are until the recording ends; empty: with other temporary
        files. `gpu` is what records kernels."""
        self._place, self._tell, self._gpu = place, tell, gpu
        self._owner = os.getpid()
        self._folder: Path | None = None
        self._before: str | None = None
        self._set: str | None = None
        self._content = b""
        self._start: Callable[..., None] | None = None
        self._times = CompileTimes()

    @property
    def told(self) -> str:
        """What is recorded, for the line that tells of a recording."""
        return f"programs, for the names of kernels; {self._gpu.label or 'no GPU work'}"

    def attach(self) -> None:
        """Ask the XLA of the JAX that was just loaded for its programs: it reads its flags when it
        compiles for the first time. AttributeError when JAX is too old."""
        self._start = watch_jax(self._compiled, self._start_of_program)
        before = os.environ.get(_FLAGS)
        own = _flags_of_program(before or "")
        if any(flag.startswith("--xla_dump_") for flag in own):
            self._tell(
                f"{_FLAGS} has --xla_dump_… already: kernels of JAX are not joined with operations"
            )
            return
        self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._place or None))
        self._before = before
        self._set = " ".join([*own, f"{_DUMP}{self._folder}", _FORM])
        os.environ[_FLAGS] = self._set

    def facts(self) -> dict[str, Any]:
        """What to tell of it in the recording."""
        jax: Any = sys.modules.get("jax")
        return {"version": getattr(jax, "__version__", None), "compile": self._times.sums}

    def step_ended(self) -> None:
        """Nothing depends on steps."""

    def close(self) -> None:
        """Take what XLA has written, and remove it."""
        if self._owner != os.getpid():
            return  # a forked child ends: the files are its parent's
        self._restore()
        folder, self._folder = self._folder, None
        if folder is None:
            return
        try:
            self._content = self._packed(folder)
        except Exception as error:
            self._tell(f"programs of JAX are not kept: {error}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def packed(self) -> bytes:
        """The content of the recording's chunk; empty without programs."""
        return self._content

    def _packed(self, folder: Path) -> bytes:
        files = [(file, found) for file in sorted(folder.iterdir()) if (found := _dumped(file))]
        # Programs for the CPU run no kernels: they count only where there are no others.
        files = [row for row in files if "cpu" not in row[1][3]] or files
        numbers, names, programs = list[int](), list[str](), list[bytes]()
        size = 0
        for file, found in files:
            program = zlib.compress(file.read_bytes(), 1)
            size += len(program)
            if size > MOST_BYTES:
                self._tell(
                    f"{len(files) - len(names)} of {len(files)} programs of JAX are not kept: "
                    f"more than {MOST_BYTES >> 20} MiB"
                )
                break
            numbers.append(int(found[1]))
            names.append(found[2])
            programs.append(program)
        if not names:
            self._tell(
                "JAX compiled no program that XLA wrote down (one from its compilation cache is "
                "not): kernels are not joined with operations"
            )
            return b""
        return Recorder.table([numbers, names, programs])

    def _compiled(self, event: str, seconds: float, **_: Any) -> None:
        """Called by JAX, on the thread that compiles."""
        self._times.add(event, seconds)
        if event == COMPILED:
            self._restore()  # XLA has read its flags: programs that this one starts have their own

    def _restore(self) -> None:
        """What the program had in the environment, unless it has changed that since."""
        if self._set is not None and os.environ.get(_FLAGS) == self._set:
            if self._before is None:
                del os.environ[_FLAGS]
            else:
                os.environ[_FLAGS] = self._before
        self._set = None

    def _start_of_program(self, *args: Any, **options: Any) -> None:
        """What the program calls in place of jax.profiler.start_trace."""
        self._gpu.leave("the program starts jax.profiler: GPU work is left to it from here on")
        if self._start is not None:
            self._start(*args, **options)


def _flags_of_program(text: str) -> list[str]:
    """What is set, without what a recorded parent has set for itself."""
    flags: list[str] = []
    skip = False
    for flag in text.split():
        if flag.startswith(_DUMP) and f"/{_PREFIX}" in flag:
            skip = True
        elif not (skip and flag == _FORM):
            flags.append(flag)
    return flags


def _dumped(file: Path) -> re.Match[str] | None:
    return _DUMPED.fullmatch(file.name)
