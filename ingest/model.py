"""Codes stored in the tables, in one place. The store carries them as lookup tables too."""

from enum import IntEnum
from typing import Final


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
    OP = 7
    """An operator of a framework."""
    PYTHON = 8
    """A Python function, or a call from it."""
    OTHER = 9
    """Recorded under a category that dctx does not know."""


class GpuKind(IntEnum):
    """What a GPU did (`gpu_op.kind`)."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    GRAPH = 3
    SYNC = 4
    """A wait, never busy time."""
    SPAN = 5
    """From the first to the last operation of an annotation or group: never busy time."""


NO_WORK: Final = frozenset({GpuKind.SYNC, GpuKind.SPAN})
"""Kinds of GPU rows that are no work: outside the tree and every sum."""


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
    PYTHON = 11
    MODULE = 12
    """A torch.nn.Module, by instance."""
    OP = 13
    SOURCE_LINE = 14
    HLO = 15
    BACKWARD = 16
    """Below a forward operator: holds the backward work of it."""


class LaneKind(IntEnum):
    """What a row of events belongs to (`lane.kind`)."""

    THREAD = 0
    UNKNOWN_THREAD = 1
    STREAM = 2
    RANGES = 3
    ASYNC = 4
    """Asynchronous events: they neither nest nor exclude each other."""
    SPANS = 5
    """Spans that a profiler derived for a device, not work."""


class FlowPhase(IntEnum):
    """A point of a flow, an arrow between events (`flow.phase`)."""

    START = 0
    STEP = 1
    END = 2


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
