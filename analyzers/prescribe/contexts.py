"""Contexts of a trace as the analyzers of findings see them: where, called what, at what cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ...ingest.model import GpuKind, Layer
from ...native import inclusive
from ...queries.layers import LayerGroup, folded
from ...queries.metric import Metric
from ...queries.paths import CallTree
from ..findings import Evidence
from .places import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...queries.paths import CostTree
    from ...queries.trace import Trace

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]

ROWS: Final = 5
"""Contexts that a finding lists at most."""
CODE: Final = (
    Layer.PYTHON, Layer.SOURCE_LINE, Layer.ANNOTATION, Layer.OP, Layer.HLO, Layer.NATIVE,
)  # fmt: skip
"""Contexts that a person wrote or can change."""
PLUMBING: Final = frozenset({"_call_impl", "_wrapped_call_impl", ""})
"""Functions by which PyTorch calls the one that a person wrote, and contexts without a name."""
_BUILTIN: Final = re.compile(r"^<built-in (method|function) (\S+) of .{40,}>$")
"""With a type whose name is longer than helps anybody."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Rows that read alike: of several ranks, or of several ways."""

    text: str
    rows: list[int]
    """The one with most first."""
    total: float
    """Sum of their values."""


class Contexts:
    """Rows of the call-path tree in which the instances of a module are one. Each figure is worked
    out once, when it is first asked for. Reads summary tables."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def full(self) -> CallTree:
        """All path nodes, in pre-order."""
        return CallTree.load(self.trace)

    @cached_property
    def tree(self) -> CostTree:
        """Contexts; `table.source` tells the path node of a row."""
        return folded(self.full, frozenset({LayerGroup.MODULES}))

    @cached_property
    def place(self) -> I32:
        """Row of each path node; the last entry, -1, is for none."""
        place = self.tree.table.place
        rows = np.arange(len(self.tree.table)) if place is None else place
        return np.append(rows, -1).astype(np.int32)

    @property
    def parent(self) -> I32:
        return self.tree.table.parent

    @cached_property
    def layer(self) -> NDArray[np.uint8]:
        """`Layer` by row."""
        layers = np.array([int(layer) for layer in self.tree.table.frames.layers], np.uint8)
        found: NDArray[np.uint8] = layers[self.tree.table.frame]
        return found

    @cached_property
    def is_code(self) -> Mask:
        """Rows of the program: functions, ranges and operators."""
        code = np.isin(self.layer, [int(layer) for layer in CODE])
        return code & ~self.where(PLUMBING.__contains__)

    @cached_property
    def is_kernel(self) -> Mask:
        """Rows of kernels."""
        found: Mask = self.layer == Layer.KERNEL
        return found

    def where(self, test: Callable[[str], object]) -> Mask:
        """Rows whose name passes; each name is tested once."""
        frames = self.tree.table.frames
        known = {name: bool(test(name)) for name in set(frames.names)}
        passed = np.array([known[name] for name in frames.names], np.bool_)
        found: Mask = passed[self.tree.table.frame]
        return found

    def named(self, pattern: re.Pattern[str]) -> Mask:
        """Rows in whose name the pattern is found."""
        return self.where(pattern.search)

    def name(self, row: int) -> str:
        return self.tree.table.frames.names[int(self.tree.table.frame[row])]

    def text(self, row: int) -> str:
        """Name of a row, of a function with its file and line."""
        frame = int(self.tree.table.frame[row])
        frames = self.tree.table.frames
        name, file, line = frames.names[frame], frames.files[frame], frames.lines[frame]
        if row == 0:
            return "work without a context"
        if frames.layers[frame] is not Layer.PYTHON or not file:
            return _BUILTIN.sub(r"<built-in \1 \2>", name) or "(no name)"
        short = "/".join(file.replace("\\", "/").split("/")[-2:])
        return f"{name} ({short}{f':{line}' if line else ''})"

    def code_around(self, rows: I32) -> I32:
        """The innermost row of the program that is, or is around, each row; -1 for none."""
        around = nearest(self.parent, self.is_code)
        return np.append(around, np.int32(-1))[rows]

    def evidence(
        self, rows: Sequence[int], values: Sequence[float], unit: str, what: str = "{}"
    ) -> list[Evidence]:
        """Rows of evidence that lead to contexts, the greatest first; those that read alike are
        one. `what`: with a place for the context."""
        source = self.tree.table.source
        return [
            Evidence(what.format(one.text), unit, one.total, node=int(source[one.rows[0]]))
            for one in self.alike(rows, values)[:ROWS]
        ]

    def alike(self, rows: Sequence[int], values: Sequence[float]) -> list[Alike]:
        """Rows by how they read, those with the greatest sum of values first."""
        found: dict[str, list[tuple[float, int]]] = {}
        for row, value in zip(rows, values, strict=True):
            found.setdefault(self.text(row), []).append((value, row))
        groups = [
            Alike(text, [row for _, row in sorted(of, key=lambda o: -o[0])], sum(v for v, _ in of))
            for text, of in found.items()
        ]
        return sorted(groups, key=lambda one: -one.total)

    def outermost(self, marked: Mask) -> I32:
        """For each row the outermost marked row that is, or is around, it; -1 for none."""
        inner = np.append(nearest(self.parent, marked), np.int32(-1))
        found = inner[:-1].copy()
        while True:
            above = np.where(found >= 0, inner[np.append(self.parent, np.int32(-1))[found]], -1)
            more = np.flatnonzero(above >= 0)
            if not len(more):
                return found
            found[more] = above[more]

    def own(self, metric: Metric) -> I64:
        """What each row costs itself; zeros where the trace lacks the metric."""
        found = self.tree.own.get(metric)
        return np.zeros(len(self.tree.table), np.int64) if found is None else found

    def sum_below(self, own: I64) -> I64:
        """Sum over each row and all below it."""
        found: I64 = inclusive(self.parent, own)
        return found

    def kernel_evidence(self, kernels: Mask, most: int) -> list[Evidence]:
        """The kernels of these rows with most time, which lead to the kernels."""
        frame, own = self.tree.table.frame, self.own(Metric.GPU)
        names: list[str] = list(self.tree.table.frames.names)
        cost = np.bincount(frame[kernels], own[kernels], minlength=len(names))
        heaviest: list[int] = np.argsort(-cost, kind="stable")[:most].tolist()
        order = [at for at in heaviest if cost[at] > 0]
        return [
            Evidence(names[at], "ms", float(cost[at]) / 1e6, name=names[at], kind=GpuKind.KERNEL)
            for at in order
        ]
