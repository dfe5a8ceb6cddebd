"""Communication kernels, and what they were called with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import NO_WORK, GpuKind
from .trace import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]

_MOST_DEPTH = 16
"""Operators of a collective are right around its launch."""


@dataclass(frozen=True, slots=True)
class CommWork:
    """Communication kernels by start. Columns of one length; -1: none."""

    id: I64
    device: I32
    process: I32
    lane: I32
    start_ns: I64
    end_ns: I64
    name: I32
    """`string.id` of the full name, of the short one where that is all there is."""
    collective: I32
    """Index into the arguments: the kernel's own, else those of an operator around its launch."""
    linked: Mask
    """The launch is in the trace."""


@dataclass(frozen=True, slots=True)
class CollectiveArguments:
    """What collectives were called with: numbers and `string.id`; -1: not recorded."""

    name: I32
    dtype: I32
    in_elements: I64
    out_elements: I64
    in_split: I32
    out_split: I32
    group_size: I32
    group_name: I32
    group_ranks: I32
    peer_source: I32
    peer_target: I32
    sequence: I64


@dataclass(frozen=True, slots=True)
class OtherWork:
    """Work that is no copy, by (device, start): kernels, memory sets and graph replays."""

    device: I32
    start_ns: I64
    end_ns: I64
    name: I32
    linked: Mask


def kernel_names(trace: Trace) -> list[tuple[int, str]]:
    """`string.id` of the names of kernels, and their full texts. Reads events."""
    rows = trace.event_rows("collectives.kernel_names", {"kernel": int(GpuKind.KERNEL)})
    return [(name, text) for name, text in rows]


def communication(trace: Trace, more: Sequence[int] = ()) -> CommWork:
    """All communication kernels; `more`: names of others. Reads events."""
    parameters = {"kernel": int(GpuKind.KERNEL), "more": list(more)}
    columns = trace.event_arrays("collectives.work", parameters)
    op = columns.pop("op")
    without = np.flatnonzero((columns["collective"] < 0) & (op >= 0))
    if len(without):
        columns["collective"] = columns["collective"].copy()
        columns["collective"][without] = _around(trace, op[without])
    return CommWork(**columns)


def launched_ns(trace: Trace, work: CommWork) -> I64:
    """When each was launched; when it began, where its launch is not in the trace. Reads events."""
    rows = trace.event_arrays("collectives.launched", {"ids": work.id.tolist()})
    order = np.argsort(work.id)
    at: I64 = np.empty(len(work.id), np.int64)
    at[order] = rows["at_ns"]
    return at


def _around(trace: Trace, op: I32) -> I32:
    """Arguments of the innermost operator that has any, of those around and including `op`."""
    found = np.full(len(op), -1, np.int32)
    at = op.copy()
    for _ in range(_MOST_DEPTH):
        waiting = np.flatnonzero((found < 0) & (at >= 0))
        if not len(waiting):
            break
        ids = np.unique(at[waiting])
        rows = trace.event_arrays("collectives.around", {"ids": ids.tolist()})
        row = np.searchsorted(rows["id"], at[waiting])
        found[waiting] = rows["collective"][row]
        at[waiting] = rows["parent"][row]
    return found


def collective_arguments(trace: Trace) -> CollectiveArguments:
    """All of them, by `collective.id`."""
    return CollectiveArguments(**trace.event_arrays("collectives.arguments"))


def other_work(trace: Trace) -> OtherWork:
    """Work that can hide communication. Communication itself is in it. Reads events."""
    other = sorted(int(kind) for kind in (*NO_WORK, GpuKind.MEMCPY))
    return OtherWork(**trace.event_arrays("collectives.computation", {"other": other}))
