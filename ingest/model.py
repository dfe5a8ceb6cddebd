"""Codes stored in the tables, in one place. The store carries them as lookup tables too."""

from enum import IntEnum


class HostKind(IntEnum):
    """What a CPU thread did (`host_event.kind`)."""

    ANNOTATION = 0
    RUNTIME = 1
    DRIVER = 2
    OS = 3
    OVERHEAD = 4
    RANGE = 5
    """A start-end range: it may cross threads, so it is outside the call tree."""
    MARK = 6


class GpuKind(IntEnum):
    """What a GPU did (`gpu_op.kind`)."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    GRAPH = 3
    SYNC = 4
    """A wait, never busy time."""


class Layer(IntEnum):
    """Level of a calling context (`frame.layer`)."""

    ROOT = 0
    PROCESS = 1
    THREAD = 2
    ANNOTATION = 3
    NATIVE = 4
    API = 5
    KERNEL = 6
    MEMCPY = 7
    MEMSET = 8
    GRAPH = 9
    NOT_RECORDED = 10
    """Holds work whose launch is not in the trace."""


class LaneKind(IntEnum):
    """What a row of events belongs to (`lane.kind`)."""

    THREAD = 0
    UNKNOWN_THREAD = 1
    STREAM = 2
    RANGES = 3


class GpuClass(IntEnum):
    """Split of a device's time (`device_time.class`), the lowest running one takes the instant."""

    COMPUTE = 0
    COMM_EXPOSED = 1
    COPY_EXPOSED = 2
    IDLE = 3


class Severity(IntEnum):
    """Of a note about the capture or the import (`note.severity`)."""

    INFO = 1
    WARNING = 2
    ERROR = 3
