"""From events as columns to a store: the part that all timeline formats share."""

from ..owners import Device, Lane, Process
from .columns import Counters, Flows, GpuOps, HostEvents, MemoryEvents
from .timeline import Timeline

__all__ = [
    "Counters",
    "Device",
    "Flows",
    "GpuOps",
    "HostEvents",
    "Lane",
    "MemoryEvents",
    "Process",
    "Timeline",
]
