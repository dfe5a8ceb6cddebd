"""Memory taken from the device and given back again and again, and memory held unused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ...ingest.api_names import base_name
from ...ingest.model import Layer
from ...queries.findings import reserves
from ..findings import Evidence, Finding
from ..quantities import plural, share, time
from .facts import Facts
from .places import nearest
from .wording import gained

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALLOCATION: Final = re.compile(
    r"(?:cuda|hip)(?:Malloc|Free|MallocHost|FreeHost|HostAlloc|HostMalloc|HostFree|MallocManaged)"
    r"|cuMem(?:Alloc|Free|AllocHost|FreeHost|Create|Map|Unmap|Release)"
)
"""Plain calls: those in the order of a stream (Async) cost little."""


@dataclass(frozen=True, slots=True)
class Limits:
    calls: float
    """Allocations and releases, at least."""
    share: float
    """Of the devices' time idle meanwhile, at least."""
    unused: float
    """Of the reserved memory never in use at once, at least."""
    unused_gib: float
    """The same, at least."""


@dataclass(frozen=True, slots=True)
class Result:
    calls: int
    idle_ns: int
    """Without the calls that stand out: these are first uses, and repeat nothing."""
    first: int
    """Calls that stand out: each takes longer than all shorter ones together."""
    first_ns: int
    """Idle time in them."""
    rows: list[int]
    """Contexts that call, those with most calls first."""
    row_calls: list[int]
    unused_bytes: int
    """Reserved and never in use at once, of the device with most of it; 0 within the limits."""
    reserved_bytes: int


def analyze(facts: Facts, limits: Limits) -> Result:
    named = facts.where(lambda name: _ALLOCATION.fullmatch(base_name(name)))
    events = facts.events_of(named & (facts.layer == Layer.API))
    inner = np.isin(facts.report.host.parent[events], events)  # the driver's below the runtime's
    events = events[~inner]
    each = _idle_within_each(facts, events)
    first = _first_uses(each)
    idle = int(each.sum() - sum(first))
    rows: list[int] = []
    counts: list[int] = []
    if len(events) < limits.calls or idle < limits.share * facts.window_ns or not idle:
        events, idle, first = events[:0], 0, []
    else:
        code = nearest(facts.parent, facts.is_code)[facts.host_row[events]]
        by_row = np.bincount(np.maximum(code, 0), minlength=len(facts.parent))
        order = np.argsort(-by_row, kind="stable")
        order = order[by_row[order] > 0]
        rows, counts = order.tolist(), by_row[order].tolist()
    unused = reserved = 0
    for reserve in reserves(facts.trace):
        free = reserve.reserved_bytes - reserve.allocated_bytes
        least = max(limits.unused * reserve.reserved_bytes, limits.unused_gib * 2**30)
        if free >= least and free > unused:
            unused, reserved = free, reserve.reserved_bytes
    return Result(
        len(events) - len(first), idle, len(first), sum(first), rows, counts, unused, reserved
    )


def _idle_within_each(facts: Facts, events: NDArray[np.int32]) -> NDArray[np.int64]:
    """Of each event what `Facts.idle_within` tells of groups: by running sums, as there may be any
    number of events."""
    host = facts.report.host
    start, lanes = host.start_ns[events], host.lane[events]
    end = start + np.maximum(host.dur_ns[events], 0)
    found = np.zeros(len(events), np.int64)
    for device in facts.devices:
        for lane in np.unique(lanes).tolist():
            mine = (device.gap_ns > 0) & (device.lane == lane)
            ends = device.report.work.start_ns[mine]
            begins = ends - device.gap_ns[mine]
            here = lanes == lane
            found[here] += _covered(begins, ends, end[here]) - _covered(begins, ends, start[here])
    return found


def _covered(
    begins: NDArray[np.int64], ends: NDArray[np.int64], at: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How much of the spans, which are in order and do not overlap, lies before each instant."""
    over = np.searchsorted(ends, at, side="right")
    sums = np.append(0, np.cumsum(ends - begins))
    next_one = np.append(begins, np.iinfo(np.int64).max)[over]
    found: NDArray[np.int64] = sums[over] + np.maximum(at - np.minimum(next_one, at), 0)
    return found


def _first_uses(each: NDArray[np.int64]) -> list[int]:
    """The longest of these times, as far as each is longer than all shorter ones together."""
    rest, found = int(each.sum()), list[int]()
    for length in np.sort(each)[::-1].tolist():
        rest -= length
        if length <= rest or not length:
            break
        found.append(length)
    return found


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not result.idle_ns and not result.unused_bytes:
        return []
    parts: list[str] = []
    gain, why = None, "memory held unused costs no time by itself"
    if result.idle_ns:
        but = (
            f" ({plural(result.first, 'first use')} of {time(result.first_ns)} left out)"
            if result.first
            else ""
        )
        gain, why = facts.gain(result.idle_ns, f"idle time within these calls{but}"), ""
        parts.append(
            f"{plural(result.calls, 'call')} take memory from the device or give it back, and the "
            f"GPU idles {share(result.idle_ns / facts.window_ns)} of the time meanwhile"
        )
    if result.unused_bytes:
        parts.append(
            f"of {result.reserved_bytes / 2**30:.1f} GiB reserved, "
            f"{result.unused_bytes / 2**30:.1f} GiB are never in use at once"
        )
    text = "; ".join(parts)
    evidence = facts.evidence(result.rows, result.row_calls, "calls")
    if result.unused_bytes:
        evidence.append(Evidence("reserved, never in use", "GiB", result.unused_bytes / 2**30))
    return [
        gained(
            "memory-churn",
            f"{text[0].upper()}{text[1:]}.",
            "Allocate once and reuse; fewer sizes; PYTORCH_CUDA_ALLOC_CONF="
            "expandable_segments:True against fragments and retries; no empty_cache() in the loop.",
            "No cudaMalloc and cudaFree between the steps (Launches, Memory).",
            evidence, gain, why,
        )
    ]  # fmt: skip
