"""The trees of a recording become contexts of the store."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

import numpy as np

from ...native import PathTree, StringPool, intern_rows
from ..arrays import I32, I64, Mask
from ..model import Layer
from ..timeline.stack import BACKWARD
from .content import Recording, ThreadTree
from .kinds import MODULE_SHIFT, Kind

_LAYERS = {
    Kind.ROOT: Layer.ROOT,
    Kind.THREAD: Layer.THREAD,
    Kind.PYTHON: Layer.PYTHON,
    Kind.SCOPE: Layer.ANNOTATION,
    Kind.OP: Layer.OP,
    Kind.BACKWARD_OP: Layer.OP,
    Kind.NATIVE: Layer.NATIVE,
    Kind.API: Layer.API,
    Kind.MEMCPY: Layer.MEMCPY,
    Kind.MEMSET: Layer.MEMSET,
    Kind.KERNEL: Layer.KERNEL,
    Kind.INSTRUCTION: Layer.SOURCE_LINE,
    Kind.HLO_OP: Layer.HLO,
    Kind.FUSED: Layer.HLO,
    Kind.OTHER: Layer.NATIVE,
    Kind.ELIDED: Layer.PYTHON,
    Kind.LAUNCH_NOT_RECORDED: Layer.NOT_RECORDED,
}
_NAMES = {
    Kind.OTHER: "[other]",
    Kind.ELIDED: "[elided]",
    Kind.LAUNCH_NOT_RECORDED: "[launch not recorded]",
}


@dataclass(slots=True)
class Names:
    """Texts of the store and frames of its tree."""

    tree: PathTree
    pool: StringPool


def thread_label(thread: ThreadTree) -> str:
    """What to call a thread."""
    return f"{thread.name} ({thread.os_thread})" if thread.os_thread else thread.name


def enter_thread(names: Names, recording: Recording, thread: ThreadTree, process_node: int) -> I32:
    """Add a thread's contexts below its process; the store's node of each of the thread's.

    A backward operator that hangs from its forward operator does so below a frame that says it."""
    tree, pool = names.tree, names.pool
    frame = _frames(names, recording, thread)
    anchored = _anchored(thread)
    extra = np.cumsum(anchored)
    place = np.arange(len(frame)) + extra
    rows = len(frame) + int(extra[-1])
    parents, frames = np.full(rows, -1, np.int32), np.empty(rows, np.int32)
    above = np.where(thread.parent >= 0, place[thread.parent], -1)
    frames[place] = frame
    parents[place] = np.where(anchored, place - 1, above)
    if anchored.any():
        holder = place[anchored] - 1
        frames[holder] = tree.frame(Layer.BACKWARD, pool.intern(BACKWARD))
        parents[holder] = above[anchored]
    # The first row is the thread. What is above it becomes rows of its own.
    chain = _chain(tree, process_node)
    depth = len(chain)
    parents = np.concatenate([np.arange(-1, depth - 1), np.where(parents < 0, -1, parents) + depth])
    all_frames = np.concatenate([np.array(chain, np.int32), frames])
    node = tree.extend_folded(
        parents.astype(np.int32), all_frames.astype(np.int32), np.ones(len(parents), np.int8)
    )
    return node[depth + place]


def _chain(tree: PathTree, node: int) -> list[int]:
    """Frames from below the root to a node."""
    columns = tree.columns()
    frames: list[int] = []
    while node > 0:
        frames.append(int(columns["frame"][node]))
        node = int(columns["parent"][node])
    return frames[::-1]


def _anchored(thread: ThreadTree) -> Mask:
    backward = thread.kind == Kind.BACKWARD_OP
    below = np.where(thread.parent >= 0, backward[thread.parent], False)
    anchored: Mask = backward & (thread.alternate >= 0) & ~below
    return anchored


def _frames(names: Names, recording: Recording, thread: ThreadTree) -> I32:
    """Frame of each node: those of one kind, label and line are one."""
    kind, label, line = thread.kind, thread.label, thread.line
    index, first = intern_rows([kind, label, line])
    rows = zip(kind[first].tolist(), label[first].tolist(), line[first].tolist(), strict=True)
    made = [_frame(names, recording, thread, Kind(k), text, at) for k, text, at in rows]
    return np.array(made, np.int32)[index]


def _frame(
    names: Names, recording: Recording, thread: ThreadTree, kind: Kind, label: int, line: int
) -> int:
    name, file = _name_and_file(recording, thread, kind, label)
    intern = names.pool.intern
    if file is None:
        return names.tree.frame(_LAYERS[kind], intern(name))
    if kind is Kind.PYTHON:
        return names.tree.frame(_LAYERS[kind], intern(name), intern(file), line)
    return names.tree.frame(_LAYERS[kind], intern(name), intern(file))


def _name_and_file(
    recording: Recording, thread: ThreadTree, kind: Kind, label: int
) -> tuple[str, str | None]:
    """What a node is called, and the file that its name means something in."""
    strings = recording.strings
    if kind is Kind.THREAD:
        return thread_label(thread), None
    if kind is Kind.PYTHON:
        file, function = int(recording.codes[label, 0]), int(recording.codes[label, 1])
        return strings[function], strings[file]
    if kind is Kind.NATIVE:
        offset = label & ((1 << MODULE_SHIFT) - 1)
        module = label >> MODULE_SHIFT
        path = strings[int(recording.modules[module, 0])]
        return recording.processor.name(module, offset, path), path
    return _NAMES.get(kind) or strings[label] or "(no name)", None


def context_names(recording: Recording, thread: ThreadTree, node: int) -> tuple[str, ...]:
    """The path from below the thread to a node, outermost first."""
    out: list[str] = []
    while node > 0:
        kind = Kind(int(thread.kind[node]))
        name, file = _name_and_file(recording, thread, kind, int(thread.label[node]))
        if kind is Kind.PYTHON and file is not None:
            name = f"{name} ({posixpath.basename(file)}:{int(thread.line[node])})"
        out.append(name)
        node = int(thread.parent[node])
    return tuple(reversed(out))


def own_time(thread: ThreadTree) -> I64:
    """What each context cost its thread itself, in ns.

    The engine measures events; a Python line costs what passed before the events that begin in it.
    Inside a scope that time is part of the scope's own: it is moved from there to the line. Idle
    threads that run no Python are charged nothing for the time between their events."""
    own = thread.metrics["self_ns"].copy()
    gap = np.where(thread.kind == Kind.PYTHON, thread.metrics["host_gap_ns"], 0)
    holder = np.arange(len(own))
    python = thread.kind == Kind.PYTHON
    # Parents come first: one pass per level of Python below the nearest other context.
    while bool((inner := python[holder]).any()):
        holder = np.where(inner, np.maximum(thread.parent[holder], 0), holder)
    moved = np.zeros(len(own), np.int64)
    np.add.at(moved, holder, gap)
    moved[thread.kind != Kind.SCOPE] = 0
    short = np.minimum(moved, own)
    # More than the scope has left (its last call still runs): the lines share what there is.
    share = np.divide(short, moved, out=np.ones(len(own)), where=moved > 0)
    whole = share[holder] == 1
    given = np.where(whole, gap, (gap * share[holder]).astype(np.int64))
    taken = np.zeros(len(own), np.int64)
    np.add.at(taken, holder, given)
    taken[thread.kind != Kind.SCOPE] = 0
    return own - taken + given
