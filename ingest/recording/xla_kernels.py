"""GPU work of XLA that was recorded by the names of kernels: the operation that each is of.

XLA names a kernel after the instruction it was made from, in the letters that a function may have:
`loop_add_fusion.3` becomes `loop_add_fusion_3`. A name that several kernels would have gets a
number (`fusion__1`). Instructions with the same code share the kernel of the first one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import PathTree, StringPool
from ..called_with import CalledWith
from ..jax.modules import Modules, Operation
from ..model import Layer, Severity
from .content import Recording

_ROCM: Final = ".kd"
"""What names of AMD's kernel descriptors end with."""
_AGAIN: Final = re.compile(r"__\d+$")
_FOREIGN: Final = re.compile(r"\W", re.ASCII)


@dataclass(slots=True)
class _Place:
    """Where a kernel stands below the context that launched it."""

    frames: tuple[int, ...] = ()
    operation: Operation | None = None
    counts: str = "unknown"
    """What its pieces count as: a field of KernelCounts."""


@dataclass(slots=True)
class KernelCounts:
    """Pieces of work of kernels."""

    joined: int = 0
    """With the one operation of their name."""
    several: int = 0
    """Their name is that of different operations."""
    library: int = 0
    """Their name is that of no operation: at the one program that calls libraries."""
    unknown: int = 0


class KernelOperations:
    """Of one process."""

    def __init__(self, recording: Recording, tree: PathTree, pool: StringPool) -> None:
        self._recording, self._tree = recording, tree
        self.sourced = False
        """Some kernel stands below Python lines."""
        self.counts = KernelCounts()
        self._modules = Modules(recording.programs.blobs, pool, tree)
        self._named: dict[str, list[tuple[int, int]]] = {}
        """By name of a kernel: program, and name of the instruction."""
        self._library: set[int] = set()
        """Frames of the jitted functions that call libraries."""
        self._places: dict[str, _Place] = {}
        self._told: dict[int, int] = {}
        """By context of an operation: what it is, a text of the pool."""
        for program in self._modules.programs():
            for name in program.launched:
                key = _FOREIGN.sub("_", pool[name])
                self._named.setdefault(key, []).append((program.program, name))
            if program.calls_libraries:
                self._library.add(program.jitted)
        # The contexts that launched are there before any work is entered.
        columns = self._tree.columns()
        self._parent, self._frame = columns["parent"], columns["frame"]
        self._layer = self._tree.frame_columns()["layer"]

    def below(self, parent: int, kernel: str, count: int) -> int:
        """The context of the operation that `count` runs of a kernel are of, below the context that
        launched it: as in a trace of XLA's profiler the call that launched stands below the
        operation. `parent` itself where the operation is not known."""
        if kernel not in self._places:
            self._places[kernel] = self._place(kernel)
        place = self._places[kernel]
        setattr(self.counts, place.counts, getattr(self.counts, place.counts) + count)
        if not place.frames:
            return parent
        launch: list[int] = []
        if parent < len(self._parent) and self._layer[self._frame[parent]] == Layer.API:
            launch, parent = [int(self._frame[parent])], int(self._parent[parent])
        for frame in place.frames:
            parent = self._tree.child(parent, frame)
        if place.operation is not None:
            self._told[parent] = place.operation.args
            self.sourced |= place.operation.sourced
        for frame in launch:
            parent = self._tree.child(parent, frame)
        return parent

    def _place(self, kernel: str) -> _Place:
        for name in _names(kernel):
            if named := self._named.get(name):
                found = [self._modules.operation(program, "", n, "") for program, n in named]
                paths = {(*one.frames, one.frame) for one in found}
                if len(paths) == 1:
                    return _Place(paths.pop(), found[0], "joined")
                # Programs that have the name in common: as far as they agree.
                return _Place(_common(paths), None, "several")
        # Kernels that torch launched would be taken for those of XLA's libraries.
        if len(self._library) == 1 and not self._recording.meta.get("torch"):
            return _Place(tuple(self._library), None, "library")
        return _Place()

    def called_with(self) -> list[CalledWith]:
        """What the operations are. The host did not call them: no calls, and no time of it."""
        if not self._told:
            return []
        node = np.array(list(self._told), np.int32)
        nothing, bare = np.zeros(len(node), np.int64), np.full(len(node), -1, np.int32)
        other = np.array(list(self._told.values()), np.int32)
        sets = np.arange(len(node), dtype=np.int32)
        return [CalledWith(node, sets, nothing, nothing, bare, bare, other)]

    def notes(self, label: str) -> list[tuple[Severity, str, str]]:
        """What was joined, and what was not."""
        counts = self.counts
        text = (
            f"{label}: by its name {counts.joined:,} runs of kernels are of operations of XLA "
            f"({len(self._recording.programs):,} programs); those with the same code may share "
            "the kernel of the first."
        )
        found = [(Severity.INFO, "import", text)]
        unnamed = "have the name of no operation, as those of libraries (GEMM, convolution): they"
        for count, what in (
            (
                counts.several,
                "have a name that different operations have: they stand at what these have in "
                "common, else at their launch",
            ),
            (counts.library, f"{unnamed} stand at the one program that calls some"),
            (counts.unknown, f"{unnamed} stand at their launch"),
        ):
            if count:
                found.append(
                    (Severity.INFO, "import", f"{label}: {count:,} runs of kernels {what}.")
                )
        if self._modules.damaged:
            text = f"{label}: {self._modules.damaged} programs of XLA are damaged."
            found.append((Severity.WARNING, "import", text))
        return found


def _names(kernel: str) -> Iterator[str]:
    """What the instruction of a kernel may be called, the likeliest first."""
    name = _FOREIGN.sub("_", kernel.removesuffix(_ROCM))
    yield name
    if (first := _AGAIN.sub("", name)) != name:
        yield first


def _common(paths: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """What all begin with."""
    found: list[int] = []
    for level in zip(*paths, strict=False):
        if len(set(level)) > 1:
            break
        found.append(level[0])
    return tuple(found)
