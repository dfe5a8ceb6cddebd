"""Nests the host events, and enters them and the GPU work in the tree."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import Nesting, locate, nest
from ..arrays import I32, I64, U8
from ..background import Background
from ..context import OP_LAYERS, Contexts
from ..model import HostKind, Layer
from .columns import GpuOps, HostEvents, MemoryEvents

_RANKS: Final = {
    HostKind.PYTHON: 0,
    HostKind.ANNOTATION: 1,
    HostKind.OP: 2,
}
_INNERMOST: Final = 3
BACKWARD: Final = "[backward]"
"""Name of the frame below a forward operator that holds its backward work."""


@dataclass(slots=True)
class Chains:
    """Chain i is frames[offsets[i] : offsets[i + 1]], root to leaf."""

    offsets: np.ndarray[tuple[int], np.dtype[np.int64]]
    frames: I32


@dataclass(slots=True)
class Stack:
    """Nested host events: `node` by row."""

    nesting: Nesting
    node: I32


def _ranks(host: HostEvents) -> U8:
    if host.rank is not None:
        return host.rank
    table = np.full(256, _INNERMOST, np.uint8)
    for kind, rank in _RANKS.items():
        table[kind] = rank
    return table[host.kind]


def nest_host(
    contexts: Contexts, host: HostEvents, chains: Chains | None, backward_name: int, tolerance: int
) -> Stack:
    """Nest and enter the host events. `tolerance` ns of overhang still count as inside."""
    if host.frame is None:
        raise ValueError("events that nest need a frame")
    rank = _ranks(host)
    with Background(
        lambda: nest(
            host.lane, host.start, host.end, rank, tolerance_ns=tolerance, preferred=host.preferred
        )
    ) as nested:
        roots = contexts.lane_nodes(host.lane)
        nesting = nested.result()
    anchor = None
    if host.forward is not None:
        anchor = _outermost(host.forward, nesting.parent, host.start)
    backward = contexts.tree.frame(Layer.BACKWARD, backward_name)
    if host.chain is not None and chains is not None:
        node = contexts.tree.extend_nested(
            nesting,
            host.frame,
            roots,
            chain=host.chain,
            chain_offsets=chains.offsets,
            chain_frames=chains.frames,
            anchor=anchor,
            anchor_frame=backward,
        )
    else:
        node = contexts.tree.extend_nested(
            nesting, host.frame, roots, anchor=anchor, anchor_frame=backward
        )
    return Stack(nesting, node)


def _outermost(forward: I32, parent: I32, start: np.ndarray[tuple[int], np.dtype[np.int64]]) -> I32:
    """`forward` where no event around has one; it must have started before."""
    rows = np.flatnonzero(forward >= 0)
    rows = rows[start[forward[rows]] < start[rows]]
    anchor = np.full(len(forward), -1, np.int32)
    anchor[rows] = forward[rows]
    inner = np.zeros(len(rows), np.bool_)
    above = parent[rows]
    while (above >= 0).any():
        inner |= (above >= 0) & (anchor[above] >= 0)
        above = np.where((above >= 0) & ~inner, parent[above], -1)
    outer = np.full(len(forward), -1, np.int32)
    outer[rows[~inner]] = forward[rows[~inner]]
    return outer


def operators(host: HostEvents, parent: I32, launch: I32) -> I32:
    """The innermost operator around each launch (a row, -1: none), -1 where there is none."""
    rows, index = np.unique(launch, return_inverse=True)
    found = rows.astype(np.int32)
    climbing = (found >= 0) & (host.kind[found] != HostKind.OP)
    while climbing.any():
        found = np.where(climbing, parent[found], found)
        climbing = (found >= 0) & (host.kind[found] != HostKind.OP)
    return found[index]


def enter_ops(
    contexts: Contexts, ops: GpuOps, stack: Stack | None, chains: Chains | None, process_of: I32
) -> I32:
    """Node of each operation. `process_of`: process of each lane."""
    launch = np.full(len(ops), -1, np.int32) if ops.launch is None else ops.launch
    orphan = launch < 0
    if stack is None or orphan.all():
        base = np.full(len(ops), -1, np.int32)
    else:
        base = np.where(orphan, np.int32(-1), stack.node[launch])
    if ops.base is not None:
        base = np.where(orphan, ops.base, base)
    bare = base < 0
    if bare.any():
        owners = process_of[ops.lane[bare]]
        table = {owner: contexts.orphan_node(owner) for owner in np.unique(owners).tolist()}
        base[bare] = (
            [table[owner] for owner in owners.tolist()]
            if len(table) > 1
            else next(iter(table.values()))
        )
    if ops.chain is not None and chains is not None:
        base = contexts.tree.extend_chains(base, ops.chain, chains.offsets, chains.frames)
    names, index = np.unique(ops.name, return_inverse=True)
    layer = OP_LAYERS[ops.kind]
    frames = [contexts.tree.frame(layer, name) for name in names.tolist()]
    return contexts.tree.extend(base, np.array(frames, np.int32)[index])


def memory_nodes(
    contexts: Contexts, memory: MemoryEvents, host: HostEvents | None, stack: Stack | None
) -> I32:
    """The context that was running at each memory event, -1 where the thread is not known."""
    known = memory.lane >= 0
    node = np.full(len(memory), -1, np.int32)
    if not known.any():
        return node
    lane, time = memory.lane[known], memory.time[known]
    base = contexts.lane_nodes(lane)
    if host is not None and stack is not None:
        event = around(host, stack, lane, time)
        base = np.where(event >= 0, stack.node[event], base)
    node[known] = base
    return node


def around(host: HostEvents, stack: Stack, lane: I32, time: I64) -> I32:
    """The innermost event (row) of the thread around each point, -1 where there is none."""
    return locate(stack.nesting, host.lane, host.start, host.end, lane, time)
