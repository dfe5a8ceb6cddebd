"""Host events of one recording, class by class: columns before they are joined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import is_sorted, sort_order
from ..arrays import I32, I64, NULL64, U8, Mask
from ..model import HostKind, Layer
from ..timeline import Timeline
from .args import Arguments, picked
from .backward import forward_rows
from .call_stacks import stack_chains
from .marks import paired_spans
from .names import named_frames, python_frames
from .owners import Owners
from .recording import Recording, Table, distinct, numbers
from .times import possible

_ANNOTATION, _DRIVER = 1, 1
_LAYERS: Final = {
    HostKind.ANNOTATION: Layer.ANNOTATION,
    HostKind.OP: Layer.OP,
    HostKind.RUNTIME: Layer.API,
    HostKind.DRIVER: Layer.API,
    HostKind.OTHER: Layer.ANNOTATION,
}


_STEP: Final = "ProfilerStep#"
_OLD_OPERATORS: Final = "Operator"
_ANNOTATED: Final = (_STEP, "Optimizer.", "enumerate(DataLoader)", "nccl:")


@dataclass(slots=True)
class HostRows:
    """Where the events of each class went: rows as the timeline numbers them, -1 unused."""

    first: int = 0
    count: int = 0
    launch: slice = field(default_factory=lambda: slice(0, 0))
    op: slice = field(default_factory=lambda: slice(0, 0))
    forwards: int = 0
    """Backward operators whose forward operator is known."""
    ambiguous: int = 0
    """Backward operators whose forward operator the trace does not tell apart."""
    backwards: int = 0
    open: int = 0
    """Begin marks without an end."""
    unmatched: int = 0
    """End marks without a begin."""
    impossible: int = 0
    kinds: dict[HostKind, int] = field(default_factory=dict[HostKind, int])
    modules: bool = False
    """Python frames of torch.nn.Module are among them."""
    shapes: bool = False
    stacks: bool = False
    """Operators carry their Python stack."""
    steps: int = 0
    """ProfilerStep annotations."""


@dataclass(slots=True)
class Part:
    """Events of one class; `columns` are those that not all classes have."""

    kind: U8
    lane: I32
    start: I64
    dur: I64
    name: I32
    frame: I32
    columns: dict[str, NDArray[Any]] = field(default_factory=dict[str, NDArray[Any]])


class HostParts:
    """Makes the columns of each class; each takes the number of rows before its own."""

    def __init__(
        self,
        recording: Recording,
        timeline: Timeline,
        owners: Owners,
        arguments: Arguments,
        collectives: I32 | None,
        rows: HostRows,
    ) -> None:
        self._recording = recording
        self._timeline = timeline
        self._owners = owners
        self._arguments = arguments
        self._rows = rows
        self._collectives = collectives
        self._has_python = recording.table("python") is not None

    def _part(self, table: Table, kind: U8) -> Part:
        frame = np.empty(len(kind), np.int32)
        for code, layer in _LAYERS.items():
            here = np.flatnonzero(kind == code)
            if len(here):
                names = table["name"][here]
                tree, pool = self._timeline.tree, self._timeline.pool
                frame[here] = named_frames(tree, pool, layer, names)
        lane = self._owners.threads(table["lane"])
        part = Part(kind, lane, table["ts_ns"], table["dur_ns"], table["name"], frame)
        args = self._arguments.rows(table)
        if args is not None:
            part.columns["args"] = args
        return part

    def python(self, before: int) -> Part | None:
        """Python functions. Equal intervals nest by their id."""
        table = self._recording.tables.pop("python", None)
        if table is None:
            return None
        ids = numbers(table["py_id"])
        if ids is not None and not is_sorted([ids]):
            order = sort_order([ids])
            table = {name: column[order] for name, column in table.items()}
        name, frame = table["name"], None
        frame = python_frames(self._timeline.tree, self._timeline.pool, name)
        part = Part(
            np.full(len(name), HostKind.PYTHON, np.uint8),
            self._owners.threads(table["lane"]),
            table["ts_ns"],
            table["dur_ns"],
            name,
            frame,
        )
        parent = numbers(table["py_parent"])
        if ids is not None and parent is not None:
            ids = table["py_id"]
            at = np.minimum(np.searchsorted(ids, parent), len(ids) - 1)
            found = (ids[at] == parent) & (parent != NULL64)
            part.columns["preferred"] = np.where(found, at + before, -1)
        args = self._arguments.rows(table)
        if args is not None:
            part.columns["args"] = args
        return part

    def ops(self, before: int) -> Part | None:
        """Operators and annotations."""
        table = self._recording.table("op")
        if table is None:
            return None
        annotation = (table["kind"] == _ANNOTATION) | self._named_as_annotations(table["name"])
        kind = np.where(annotation, HostKind.ANNOTATION, HostKind.OP)
        stacks = self._stacks(table, annotation)
        part = self._part(table, kind.astype(np.uint8))
        if stacks is not None:
            part.columns["chain"] = stacks
        self._rows.op = slice(before, before + len(kind))
        self._rows.shapes = bool((table["shape"] >= 0).any())
        self._rows.steps = self._count_steps(table["name"][annotation])
        collective = picked(self._collectives, table["coll"])
        if collective is not None:
            part.columns["collective"] = collective
        sequence = numbers(table["seq_nr"])
        if sequence is not None:
            part.columns["sequence"] = sequence
            found = forward_rows(table, part.lane, self._recording.table("flow"), self._owners)
            self._rows.backwards, self._rows.ambiguous = found.backwards, found.ambiguous
            self._rows.forwards = int(np.count_nonzero(found.forward >= 0))
            if self._rows.forwards:
                part.columns["forward"] = np.where(found.forward >= 0, found.forward + before, -1)
        return part

    def _stacks(self, table: Table, annotation: Mask) -> I32 | None:
        """Chains of Python frames, where operators carry their stack; taken off the arguments.

        Annotations carry one too, but what runs in them has more of it."""
        stack = np.where(annotation, np.int32(-1), table["stack"])
        if self._has_python or not bool((stack >= 0).any()):
            return None
        del table["stack"]
        self._rows.stacks = True
        lane = self._owners.threads(table["lane"])
        dur, _ = possible(table["dur_ns"])
        return stack_chains(stack, lane, table["ts_ns"], dur, self._timeline)

    def _named_as_annotations(self, names: I32) -> Mask:
        """PyTorch up to 1.11 has one category for operators and annotations."""
        if _OLD_OPERATORS not in self._recording.scan.categories:
            return np.zeros(len(names), np.bool_)
        texts, index = distinct(names)
        told = [self._timeline.pool[text].startswith(_ANNOTATED) for text in texts]
        return np.array(told, np.bool_)[index]

    def _count_steps(self, names: I32) -> int:
        texts, counts = np.unique(names, return_counts=True)
        pool = self._timeline.pool
        return sum(
            count
            for text, count in zip(texts.tolist(), counts.tolist(), strict=True)
            if pool[text].startswith(_STEP)
        )

    def launches(self, before: int) -> Part | None:
        """Runtime and driver calls."""
        table = self._recording.table("launch")
        if table is None:
            return None
        kind = np.where(table["kind"] == _DRIVER, HostKind.DRIVER, HostKind.RUNTIME)
        part = self._part(table, kind.astype(np.uint8))
        self._rows.launch = slice(before, before + len(kind))
        correlation = numbers(table["corr"])
        if correlation is not None:
            part.columns["correlation"] = correlation
        return part

    def others(self, before: int) -> Part | None:
        """Complete events of categories that are not PyTorch's."""
        del before
        table = self._recording.table("other")
        if table is None:
            return None
        complete = table["ph"] == ord("X")
        if not complete.any():
            return None
        table = {name: column[complete] for name, column in table.items()}
        kind = np.full(len(table["name"]), HostKind.OTHER, np.uint8)
        part = self._part(table, kind)
        begin, end = table["begin_ns"], table["end_ns"]
        exact = (begin != NULL64) & (end != NULL64) & (end >= begin)
        if exact.any():
            part.start = np.where(exact, begin, part.start)
            part.dur = np.where(exact, end - begin, part.dur)
        correlation = numbers(table["corr"])
        if correlation is not None:
            part.columns["correlation"] = correlation
        return part

    def pairs(self, before: int) -> Part | None:
        """Begin and end marks of threads."""
        del before
        table = self._recording.table("mark")
        if table is None:
            return None
        found = paired_spans(table)
        self._rows.open, self._rows.unmatched = found.open, found.unmatched
        if not len(found.rows):
            return None
        chosen = {name: column[found.rows] for name, column in table.items()}
        chosen["dur_ns"] = found.end - chosen["ts_ns"]
        part = self._part(chosen, np.full(len(found.rows), HostKind.OTHER, np.uint8))
        if found.open:
            part.columns["open"] = found.is_open
        return part
