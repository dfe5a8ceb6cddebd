"""Kernels by operator, name and stream; and the short ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import GpuKind, HostKind
from ..native import intern_rows
from .op_category import category
from .op_groups import Groups, Spread, group_rows, spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ..queries.report_events import Host, Work

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    F64 = NDArray[np.float64]

_BINS = 100
_FLAT_WIDTH_US = 1.0
"""Of all bins together where all durations are equal: around that duration."""


@dataclass(frozen=True, slots=True)
class KernelGroups:
    """Groups of kernels, most time first. Columns of one length."""

    groups: Groups
    dur_ns: Spread
    event: I64
    """The first event of each group: an index into the work."""


def kernel_groups(
    work: Work, keys: Sequence[NDArray[np.integer]], shorter_ns: int | None = None
) -> KernelGroups:
    """Kernels with equal keys (columns over all work), of those shorter than the limit if one is
    given. Communication included; copies, memory sets and graph replays are not."""
    length = work.end_ns - work.start_ns
    wanted = work.kind == GpuKind.KERNEL
    if shorter_ns is not None:
        wanted &= length < shorter_ns
    events = np.flatnonzero(wanted)
    groups = group_rows([key[events] for key in keys], length[events])
    return KernelGroups(groups, spread(groups, length[events]), events[groups.first])


def parent_categories(
    work: Work,
    launcher: I32,
    op_category: I32,
    categories: Sequence[str],
    host: Host,
    texts: Mapping[int, str],
) -> tuple[I32, list[str]]:
    """Category of what launched each event: index into the list that comes with it.

    `op_category` is that of the operator table by event, -1 where it has none (communication).
    Calls outside operators are `graph` or `runtime`; work without either is `unlinked`.
    """
    kind = np.append(host.kind, np.uint8(255))[launcher]
    name = np.append(host.name, np.int32(-1))[launcher]
    ids, first = intern_rows([kind, name, op_category, np.where(op_category < 0, work.name, -1)])
    found: list[str] = []
    for at in first.tolist():
        if launcher[at] < 0:
            found.append("unlinked")
        elif kind[at] != HostKind.OP:
            graph = "graphlaunch" in texts[int(name[at])].lower()
            found.append("graph" if graph else "runtime")
        elif op_category[at] >= 0:
            found.append(categories[int(op_category[at])])
        else:
            kernel = texts[int(work.name[at])]
            found.append(category(texts[int(name[at])], kernel, kernel, plain=True))
    distinct = list(dict.fromkeys(found))
    place = {text: i for i, text in enumerate(distinct)}
    return np.array([place[text] for text in found], np.int32)[ids], distinct


def histogram(work: Work, shorter_ns: int) -> tuple[F64, I64]:
    """Edges (µs) and counts of equal bins over the durations of the kernels shorter than the
    limit. The last bin is closed. Nothing where there are none."""
    length = work.end_ns - work.start_ns
    short_us = length[(work.kind == GpuKind.KERNEL) & (length < shorter_ns)] / 1000
    if not len(short_us):
        return np.zeros(0), np.zeros(0, np.int64)
    low, high = float(short_us.min()), float(short_us.max())
    if low == high:
        low, high = low - _FLAT_WIDTH_US / 2, high + _FLAT_WIDTH_US / 2
    counts, edges = np.histogram(short_us, _BINS, (low, high))
    return edges, counts
