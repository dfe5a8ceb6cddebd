"""Rows of the tables of samples, scheduling, memory and counters."""

from typing import Any

from numpy.typing import NDArray

from ...native import ColumnStream
from ..arrays import I16, I32, NULL32, NULL64
from ..rows import order_of
from ..writer import StoreWriter
from .counters import Counters, MemoryUsage
from .samples import Samples
from .threads import Intervals


def write_samples(writer: StoreWriter, samples: Samples, node: I32) -> None:
    """CPU samples, by lane and time."""
    columns: dict[str, NDArray[Any]] = {
        "lane": samples.lane,
        "time_ns": samples.time,
        "node": node,
        "weight": samples.weight,
        "cpu": samples.cpu,
    }
    order = order_of([samples.lane, samples.time])
    writer.insert("cpu_sample", ColumnStream(columns, order=order, nulls={"cpu": NULL32}))


def write_intervals(writer: StoreWriter, intervals: Intervals) -> None:
    """Scheduling intervals; they are in order of (lane, start)."""
    columns: dict[str, NDArray[Any]] = {
        "lane": intervals.lane,
        "start_ns": intervals.start,
        "dur_ns": intervals.dur,
        "cpu": intervals.cpu,
    }
    writer.insert("sched_interval", ColumnStream(columns, nulls={"cpu": NULL32}))


def write_memory(writer: StoreWriter, usage: MemoryUsage, device: I16) -> None:
    """Allocations and releases, by time."""
    columns: dict[str, NDArray[Any]] = {
        "device": device,
        "process": usage.process,
        "time_ns": usage.time,
        "bytes": usage.bytes,
        "address": usage.address,
        "kind": usage.kind,
    }
    nulls = {"device": -1, "process": -1, "address": NULL64, "kind": NULL32}
    order = order_of([usage.time])
    writer.insert("memory_event", ColumnStream(columns, order=order, nulls=nulls))


def write_counters(writer: StoreWriter, counters: Counters) -> None:
    """Sampled metrics, by device, name and time."""
    columns: dict[str, NDArray[Any]] = {
        "device": counters.device,
        "name": counters.name,
        "time_ns": counters.time,
        "value": counters.value,
    }
    order = order_of([counters.device, counters.name, counters.time])
    writer.insert("counter", ColumnStream(columns, order=order, nulls={"device": -1}))
