"""Code that torch.compile generated while the program ran: its files, and what their lines were
made from, as the compiler's comments tell it."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from ..native import Recorder
from .import_watch import when_imported

MOST_BYTES: Final = 256 << 10
"""Of a file that is kept."""
MOST_FILES: Final = 256
_COMMENT: Final = re.compile(
    r"\s*# Topologically Sorted Source Nodes: \[(.*)\], Original ATen: \[(.*)\]\s*$"
)
_CALL: Final = re.compile(r"[\w.]+\(")
_HOUSEKEEPING: Final = re.compile(
    r"(?:\w+(?:, \w+)* = )?(?:empty_strided\w*|assert_\w+|get_raw_stream|get_cuda_stream"
    r"|reinterpret_tensor|alloc_from_pool|run_intermediate_hooks)\(|with |del |return |\w+ = \w+;? "
)
"""Statements that prepare a call, not the call itself."""
_COMPILER: Final = "torch._inductor.codecache"
_MODULES: Final = "torch._inductor.runtime.compile_tasks."


@dataclass(frozen=True, slots=True)
class Origin:
    """What a line of generated code was made from."""

    line: int
    nodes: str
    """Names in the graph of the program, `relu, add`."""
    operators: str
    """Operators of torch before compiling, `aten.relu, aten.add`."""


@dataclass(frozen=True, slots=True)
class GeneratedFile:
    """A file of generated code."""

    path: str
    text: str
    """Empty where the file is larger than it may be."""
    origins: tuple[Origin, ...]


def origins(text: str) -> Iterator[Origin]:
    """The lines that call a kernel below a comment that tells what it was made from."""
    told: tuple[str, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        found = _COMMENT.match(line)
        if found is not None:
            told = found[1].strip(), found[2].strip()
            continue
        code = line.strip()
        if told is None or not code or code.startswith("#"):
            continue
        if code.startswith("@") or " = async_compile." in code:
            told = None  # the definition of a kernel: who calls it has a comment of its own
        elif _CALL.search(code) and not _HOUSEKEEPING.match(code):
            yield Origin(number, *told)
            told = None


def generated_files() -> list[GeneratedFile]:
    """Of the modules that torch.compile has loaded in this process; files that cannot be read are
    left out."""
    found: list[GeneratedFile] = []
    for path in sorted(_paths()):
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        kept = text if len(text.encode("utf-8", "replace")) <= MOST_BYTES else ""
        found.append(GeneratedFile(path, kept, tuple(origins(text))))
    return found


def _paths() -> set[str]:
    if "torch._inductor" not in sys.modules:
        return set()
    loaded: list[ModuleType] = [
        module for name, module in list(sys.modules.items()) if name.startswith(_MODULES)
    ]
    cache: Any = getattr(sys.modules.get(_COMPILER), "PyCodeCache", None)
    kept: Any = getattr(cache, "modules", None) or ()
    if not kept and (by_key := getattr(cache, "cache", None)):  # before torch 2.5
        kept = by_key.values()
    loaded += list(kept)
    paths = (getattr(module, "__file__", None) for module in loaded)
    return {path for path in paths if isinstance(path, str)}


class GeneratedCode:
    """What a recording keeps of it: each file once, as soon as it is there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: set[str] = set()
        self._done = threading.Event()
        self._watched: tuple[float, Callable[[str], None]] | None = None

    def watch(self, every_s: float, tell: Callable[[str], None]) -> None:
        """Look for new files from time to time, from when there is a compiler until close(): what
        is there is kept though the process be killed."""
        self._watched = every_s, tell

        def run() -> None:
            while not self._done.wait(every_s):
                self.keep(tell)

        def start() -> None:
            if not self._done.is_set():
                threading.Thread(target=run, name="dctx-generated", daemon=True).start()

        when_imported(_COMPILER, start)

    def of_child(self) -> GeneratedCode:
        """What a forked child goes on with, whose file is another one."""
        self._done.set()
        fresh = GeneratedCode()
        if self._watched is not None:
            fresh.watch(*self._watched)
        return fresh

    def keep(self, tell: Callable[[str], None]) -> None:
        """Give new files to the recorder, for its next snapshot."""
        try:
            with self._lock:
                first = len(self._told)
                files = [file for file in generated_files() if file.path not in self._told]
                files = files[: MOST_FILES - first]
                if not files:
                    return
                self._told.update(file.path for file in files)
                for kind, table in zip(("SRC ", "LMAP"), columns(files, first), strict=True):
                    Recorder.attach(kind, Recorder.table(table))
        except Exception as error:
            self._done.set()
            tell(f"code of torch.compile is not kept: {error}")

    def close(self, tell: Callable[[str], None]) -> None:
        """Keep what is there now, and look no more."""
        self._done.set()
        self.keep(tell)


def columns(files: Sequence[GeneratedFile], first: int = 0) -> tuple[list[Any], list[Any]]:
    """Columns of the chunks SRC and LMAP, where `first` files were told before."""
    sources = [[file.path for file in files], [file.text for file in files]]
    rows = [(number, origin) for number, file in enumerate(files, first) for origin in file.origins]
    lines = [
        [number for number, _ in rows],
        [origin.line for _, origin in rows],
        [origin.nodes for _, origin in rows],
        [origin.operators for _, origin in rows],
    ]
    return sources, lines
