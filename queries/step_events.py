"""Columns of events for analyses that look at single steps: arrays, no object per event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.model import NO_WORK, GpuKind
from .trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    I16 = NDArray[np.int16]
    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    U8 = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

_NO_WORK = sorted(int(kind) for kind in NO_WORK)


@dataclass(frozen=True, slots=True)
class HostEvents:
    """Events of the call tree in table order: sorted by start within stretches of one lane."""

    id: I32
    lane: I32
    start_ns: I64
    dur_ns: I64
    self_ns: I64
    node: I32


@dataclass(frozen=True, slots=True)
class GpuWork:
    """Kernels, copies, memsets and graph replays. Columns of one length."""

    launch: I32
    """`host_event.id`; -1 where the launch is not in the trace."""
    dur_ns: I64
    node: I32
    in_graph: Mask
    """Recorded as a node of a CUDA graph."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when GPU work ran. Columns of one length."""

    launch: I32
    """`host_event.id`; -1 where the launch is not in the trace."""
    device: I16
    start_ns: I64


@dataclass(frozen=True, slots=True)
class CpuSamples:
    """Instants at which a thread was looked at, in table order: sorted by time within a lane."""

    lane: I32
    start_ns: I64
    node: I32


@dataclass(frozen=True, slots=True)
class ContextKeys:
    """Nodes of the call-path tree and their frames. Indexed by node."""

    parent: I32
    """-1 for the root."""
    layer: U8
    name: I32
    """`string.id` of the frame's name, which is normalised."""


def host_ids(trace: Trace) -> int:
    """One more than the greatest `host_event.id`."""
    [(last,)] = trace.event_rows("step_events.host_range")
    return 0 if last is None else int(last) + 1


def host_events(trace: Trace, window_ns: tuple[int, int]) -> Iterator[HostEvents]:
    """Events that start in the window, some at a time; those whose end was not recorded are left
    out."""
    first, last = window_ns
    window = {"first": first, "last": last}
    for columns in trace.event_pieces("step_events.host", (0, host_ids(trace)), window):
        yield HostEvents(**columns)


def cpu_samples(trace: Trace, window_ns: tuple[int, int]) -> CpuSamples:
    """Samples of the call tree that were taken in the window."""
    first, last = window_ns
    return CpuSamples(**trace.event_arrays("step_events.samples", {"first": first, "last": last}))


def open_ranges(trace: Trace, window_ns: tuple[int, int]) -> int:
    """Events of the call tree that start in the window and have no recorded end."""
    first, last = window_ns
    [(number,)] = trace.event_rows("step_events.open_ranges", {"first": first, "last": last})
    return int(number)


def launched_work(trace: Trace, first_ns: int) -> Iterator[GpuWork]:
    """GPU work that starts at `first_ns` or later, and whose launch is in the trace, some at a
    time."""
    for columns in trace.event_pieces("step_events.launched", _gpu_ids(trace), _from(first_ns)):
        yield GpuWork(**columns)


def located_work(trace: Trace, first_ns: int) -> Iterator[tuple[GpuWork, Place]]:
    """All GPU work that starts at `first_ns` or later, and where it ran, some at a time."""
    for columns in trace.event_pieces("step_events.located", _gpu_ids(trace), _from(first_ns)):
        place = Place(columns["launch"], columns.pop("device"), columns.pop("start_ns"))
        yield GpuWork(**columns), place


def _gpu_ids(trace: Trace) -> tuple[int, int]:
    [(last,)] = trace.event_rows("step_events.gpu_range")
    return 0, 0 if last is None else int(last) + 1


def sized_work(trace: Trace, first_ns: int) -> tuple[Place, I64, I32]:
    """GPU work that moves or sets a known number of bytes, that number, and its context."""
    columns = trace.event_arrays("step_events.sized", _from(first_ns))
    size, node = columns.pop("bytes"), columns.pop("node")
    return Place(**columns), size, node


def collective_work(trace: Trace, first_ns: int) -> tuple[Place, I32]:
    """Communication kernels and their contexts."""
    columns = trace.event_arrays(
        "step_events.collectives", {"first": first_ns, "kernel": int(GpuKind.KERNEL)}
    )
    node = columns.pop("node")
    return Place(**columns), node


@dataclass(frozen=True, slots=True)
class CollectiveWork:
    """Communication kernels. Columns of one length."""

    place: Place
    dur_ns: I64
    node: I32
    name: I32
    """`string.id`"""
    collective: I32
    """`collective.id`, -1 where its arguments were not recorded."""


@dataclass(frozen=True, slots=True)
class CollectiveText:
    """What a collective was called with; None where it is not known."""

    name: str | None
    dtype: str | None
    in_elements: int | None
    group_size: int | None


def collective_costs(trace: Trace, first_ns: int | None) -> CollectiveWork:
    """Communication kernels that start at `first_ns` or later; None: all."""
    columns = trace.event_arrays(
        "step_events.collective_costs", {"first": first_ns, "kernel": int(GpuKind.KERNEL)}
    )
    place = Place(*(columns.pop(name) for name in ("launch", "device", "start_ns")))
    return CollectiveWork(place, **columns)


def collective_texts(trace: Trace) -> dict[int, CollectiveText]:
    """By `collective.id`."""
    return {id_: CollectiveText(*rest) for id_, *rest in trace.rows("step_events.collective_texts")}


def gpu_rows(trace: Trace, window_ns: tuple[int, int]) -> tuple[int, int]:
    """GPU operations that start in the window, and how many of them have a recorded launch."""
    first, last = window_ns
    [(rows, launched)] = trace.event_rows("step_events.gpu_rows", {**_from(first), "last": last})
    return int(rows), int(launched)


def _from(first_ns: int) -> dict[str, object]:
    return {"first": first_ns, "no_work": _NO_WORK}


def context_count(trace: Trace) -> int:
    """Nodes of the call-path tree."""
    [(number,)] = trace.rows("step_events.context_count")
    return int(number)


def context_keys(trace: Trace) -> ContextKeys:
    """Parent, layer and name of every node."""
    columns = trace.arrays("step_events.nodes")
    return ContextKeys(columns["parent"], columns["layer"], columns["name"])


def launch_nodes(trace: Trace) -> I32:
    """The contexts that are kernel or graph launches."""
    return trace.arrays("step_events.launch_nodes")["node"]


def texts(trace: Trace, ids: Iterable[int]) -> dict[int, str]:
    """Texts by `string.id`."""
    wanted = sorted(set(ids))
    return dict(trace.rows("step_events.texts", {"ids": wanted})) if wanted else {}
