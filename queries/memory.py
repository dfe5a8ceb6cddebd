"""Memory over time: how much was allocated, when most of it was, and by whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..ingest.model import Layer
from .ancestry import ancestries
from .capture import devices
from .lanes import processes
from .trace import Trace


@dataclass(frozen=True, slots=True)
class Pool:
    """The memory of one device or host, as one process allocates it."""

    process: int | None
    device: int | None
    host: bool
    label: str
    """Distinct within the trace."""
    first_ns: int
    last_ns: int
    events: int
    allocations: int
    allocated_bytes: int
    """Ever allocated, whatever was freed."""
    recorded: bool
    """Whether the events tell the allocator's total; else it is summed up from them, and memory
    that was allocated before the recording is not in it."""
    reserved: bool
    """Whether the events tell what the allocator took from the device."""

    def parameters(self) -> dict[str, object]:
        return {"process": self.process, "device": self.device, "host": self.host}


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """Buckets of equal width from `start_ns` to `end_ns`: the most bytes in each. None: before
    the first event, or not recorded."""

    start_ns: int
    end_ns: int
    allocated_bytes: tuple[int | None, ...]
    reserved_bytes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """A calling context that allocates. Node None: it is not recorded."""

    node: int | None
    names: tuple[str, ...]
    """Display names from below the root to the context."""
    layers: tuple[Layer, ...]
    bytes: int
    count: int
    share: float
    """Of the bytes of all contexts of the list."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """How a pool was used."""

    pool: Pool
    curve: MemoryCurve
    peak_ns: int
    """When most was allocated, for the first time."""
    peak_bytes: int
    earlier_bytes: int | None
    """Of the peak, what no recorded allocation tells: it was there before the recording. None
    where the allocator's total is not recorded."""
    peak_reserved_bytes: int | None
    live: list[MemoryContext]
    """Who held memory at the peak, most first."""
    allocating: list[MemoryContext]
    """Who allocated, freed or not, most bytes first."""


def pools(trace: Trace) -> list[Pool]:
    """What memory events were recorded of, devices first; empty without any. Reads events."""
    rows = trace.event_rows("memory.pools")
    labels = {device.device: device.label for device in devices(trace)}
    known = processes(trace)
    places = [(device, host) for _, device, host, *_ in rows]
    found: list[Pool] = []
    for process, device, host, events, first, last, allocated, reserved, count, total in rows:
        if device is not None:
            label = labels[device]
        else:
            label = "host memory" if host else "memory of an unknown device"
        if places.count((device, host)) > 1:
            label += f" of {known[process].label if process in known else 'an unknown process'}"
        found.append(
            Pool(
                process=process,
                device=device,
                host=host,
                label=label,
                first_ns=first,
                last_ns=last,
                events=events,
                allocations=count,
                allocated_bytes=total,
                recorded=allocated == events,
                reserved=reserved > 0,
            )
        )
    return found


def memory_use(trace: Trace, pool: Pool, *, buckets: int, limit: int = 30) -> MemoryUse:
    """How a pool was used, in `buckets` (at least 1) buckets of time. Reads events."""
    key = {**pool.parameters(), "recorded": pool.recorded}
    curve = _curve(trace, pool, buckets)
    [(peak_ns, row, peak)] = trace.event_rows("memory.peak", key)
    at = {**pool.parameters(), "limit": limit}
    live = trace.event_rows("memory.live", {**at, "time": peak_ns, "row": row})
    held = live[0][3] if live else 0
    return MemoryUse(
        pool=pool,
        curve=curve,
        peak_ns=peak_ns,
        peak_bytes=peak,
        earlier_bytes=max(peak - held, 0) if pool.recorded else None,
        peak_reserved_bytes=max((b for b in curve.reserved_bytes if b is not None), default=None),
        live=contexts_of(trace, live),
        allocating=contexts_of(trace, trace.event_rows("memory.allocating", at)),
    )


def _curve(trace: Trace, pool: Pool, buckets: int) -> MemoryCurve:
    width = max(pool.last_ns - pool.first_ns, 1)
    rows = trace.event_rows(
        "memory.curve",
        {
            **pool.parameters(),
            "recorded": pool.recorded,
            "start": pool.first_ns,
            "width": width,
            "buckets": buckets,
        },
    )
    most = {bucket: (allocated, reserved) for bucket, allocated, _, reserved, _ in rows}
    left = {bucket: (allocated, reserved) for bucket, _, allocated, _, reserved in rows}
    return MemoryCurve(
        start_ns=pool.first_ns,
        end_ns=pool.first_ns + width,
        allocated_bytes=_carried(buckets, most, left, 0),
        reserved_bytes=_carried(buckets, most, left, 1),
    )


def _carried(
    buckets: int,
    most: dict[int, tuple[int | None, int | None]],
    left: dict[int, tuple[int | None, int | None]],
    column: int,
) -> tuple[int | None, ...]:
    """What a bucket began with counts in it too."""
    values: list[int | None] = []
    before: int | None = None
    for bucket in range(buckets):
        now = most[bucket][column] if bucket in most else None
        values.append(max((b for b in (now, before) if b is not None), default=None))
        if bucket in left and left[bucket][column] is not None:
            before = left[bucket][column]
    return tuple(values)


def contexts_of(
    trace: Trace, rows: Iterable[tuple[int | None, int, int, int]]
) -> list[MemoryContext]:
    """Rows of node, bytes, count, bytes of all."""
    rows = list(rows)
    ways = ancestries(trace, [node for node, *_ in rows if node is not None])
    return [
        MemoryContext(
            node=node,
            names=() if node is None else ways[node].names,
            layers=() if node is None else ways[node].layers,
            bytes=size,
            count=count,
            share=size / total,
        )
        for node, size, count, total in rows
    ]
