"""What one ROCm recording holds, whatever format it is in: the columns that its reader fills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from ...native import StringPool, sort_order
from ..account import RowAccount, count
from ..arrays import I32, I64, NULL64, U8, Mask
from ..model import GpuKind, Severity
from ..owners import Device, Process
from ..timeline.columns import F64

LONGEST_RUN_NS: Final = 2**53
"""104 days: a time further from the others than this is none."""

Machine = str
"""Times of one machine count from its boot; of two machines they say nothing of each other."""


@dataclass(slots=True)
class Calls:
    """What threads did: API calls, ranges, marks. `process` and `parent` are rows (-1: none)."""

    process: I32
    tid: I64
    start: I64
    end: I64
    kind: U8
    name: I32
    correlation: I64
    parent: I32

    def __len__(self) -> int:
        return len(self.start)


@dataclass(slots=True)
class Work:
    """What GPUs did, of several kinds. `launch` is a row of the calls, -1: not recorded."""

    process: I32
    device: I32
    stream: I64
    """As the recording numbers it, NULL64 where it does not."""
    queue: I64
    start: I64
    end: I64
    kind: U8
    name: I32
    launch: I32
    correlation: I64
    config: Mapping[str, I32] = field(default_factory=dict[str, I32])
    """Columns of launch_config, by row."""
    bytes: I64 | None = None

    def __len__(self) -> int:
        return len(self.start)


@dataclass(slots=True)
class Allocations:
    """Memory taken (bytes > 0) and given back (< 0). `device` -1: of the host."""

    process: I32
    tid: I64
    device: I32
    time: I64
    bytes: I64
    address: I64


@dataclass(slots=True)
class Values:
    """Counters over time. `device` -1 where not known."""

    device: I32
    name: I32
    time: I64
    value: F64


@dataclass(slots=True)
class PcSamples:
    """Samples of instructions, summed up; one row an instruction, dispatch and reason. Texts are
    -1 where not known, as in `StallSamples`."""

    dispatch: I32
    """Row of the first of the recording's work: the dispatches."""
    code_object: I32
    offset: I64
    text: I32
    file: I32
    line: I32
    reason: I32
    samples: I64

    def __len__(self) -> int:
        return len(self.dispatch)


@dataclass(slots=True)
class Recording:
    """One file, or one of the processes in it. Times are as recorded. Texts are ids of a pool."""

    label: str
    account: RowAccount
    machine: Machine = ""
    processes: list[Process] = field(default_factory=list[Process])
    thread_names: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    """By (process, thread id)."""
    devices: list[tuple[int, Device]] = field(default_factory=list[tuple[int, Device]])
    """Number of the GPU on its machine, and what is known of it."""
    calls: Calls | None = None
    work: list[Work] = field(default_factory=list[Work])
    memory: Allocations | None = None
    counters: list[Values] = field(default_factory=list[Values])
    samples: list[PcSamples] = field(default_factory=list[PcSamples])
    facts: dict[str, object] = field(default_factory=dict[str, object])
    notes: list[tuple[Severity, str, str]] = field(default_factory=list[tuple[Severity, str, str]])
    ambiguous: int = 0
    """GPU work for which several calls have its id: the latest one before it was taken."""


class TimedRows(Protocol):
    """Rows of a table with times, from whatever file."""

    table: str

    def i64(self, name: str) -> I64: ...
    def keep(self, mask: Mask) -> None: ...


def spans(
    rows: TimedRows, account: RowAccount, start: str = "start", end: str = "end"
) -> tuple[I64, I64]:
    """Start and end. Rows without a time that can be are left out of `rows`; an end before its
    start is taken as the start."""
    begins = rows.i64(start)
    timed = begins > 0  # NULL64 too is below
    if not timed.all():
        account.leave_out(rows.table, "no_time", count(~timed))
        rows.keep(timed)
        begins = begins[timed]
    if len(begins):
        middle = int(np.median(begins[:: max(1, len(begins) // 1000)]))
        near = np.abs(begins - middle) < LONGEST_RUN_NS
        if not near.all():
            account.leave_out(rows.table, "bad_time", count(~near))
            rows.keep(near)
            begins = begins[near]
    ends = rows.i64(end)
    wrong = ends < begins
    account.remark(rows.table, "bad_time", count(wrong))
    return begins, np.where(wrong, begins, ends)


def blocks(work_items: I64, group: I64) -> I32:
    """Blocks of a grid that is counted in work-items; NULL32 where either is not known."""
    known = (work_items > 0) & (group > 0)
    number = -(-work_items // np.where(known, group, 1))
    return narrow(np.where(known, number, NULL64))


def narrow(values: I64) -> I32:
    """As int32; what does not fit is NULL32."""
    fits = (values > -(2**31)) & (values < 2**31)
    return np.where(fits, values, -(2**31)).astype(np.int32)


def signed_sizes(process: I32, address: I64, time: I64, size: I64, freed: Mask) -> I64:
    """Bytes of each allocation event: releases are negative. A release without a size has that
    of the allocation of its address; NULL64 where that is not recorded."""
    order = sort_order([process, address, time]).astype(np.int64)
    sizes, releases = size[order], freed[order]
    same = np.zeros(len(order), np.bool_)
    same[1:] = (address[order][1:] == address[order][:-1]) & (
        process[order][1:] == process[order][:-1]
    )
    before = np.full(len(order), NULL64)
    before[1:] = np.where(same[1:] & ~releases[:-1], sizes[:-1], NULL64)
    given = np.where(releases & (sizes <= 0), before, sizes)
    out = np.empty(len(order), np.int64)
    out[order] = np.where(given == NULL64, NULL64, np.where(releases, -given, given))
    return out


_COPIES: Final = {
    ("HOST", "HOST"): "HtoH",
    ("HOST", "DEVICE"): "HtoD",
    ("DEVICE", "HOST"): "DtoH",
    ("DEVICE", "DEVICE"): "DtoD",
}
_SIDES: Final = ("HOST", "DEVICE")


def copy_name(operation: str) -> str:
    """Name of a copy in the terms of the other formats: MEMORY_COPY_HOST_TO_DEVICE,
    CopyHostToDevice → "memcpy HtoD"."""
    plain = operation.upper().replace("_", "")
    for source in _SIDES:
        for target in _SIDES:
            if plain.endswith(f"{source}TO{target}"):
                return f"memcpy {_COPIES[source, target]}"
    return "memcpy"


def kernel_kind(name: str) -> GpuKind:
    """What a kernel is: the runtime copies and fills memory by kernels of its own."""
    if name.startswith("__amd_rocclr_copyBuffer"):
        return GpuKind.MEMCPY
    if name.startswith("__amd_rocclr_fillBuffer"):
        return GpuKind.MEMSET
    return GpuKind.KERNEL


def kernel_kinds(pool: StringPool, names: I32) -> U8:
    """`kernel_kind` of each of many names."""
    used, index = np.unique(names, return_inverse=True)
    kinds = [kernel_kind(pool[name]) if name >= 0 else GpuKind.KERNEL for name in used.tolist()]
    return np.array(kinds, np.uint8)[index]
