"""Who events belong to: processes, GPUs, and lanes (threads, streams)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, TypeVar

from .model import LaneKind
from .writer import StoreWriter

MOST_OWNERS: Final = 2**15 - 2
"""Processes, and GPUs, that the ids of the store can tell apart."""

_LARGEST: Final = 2**31 - 1

Owner = TypeVar("Owner")


@dataclass(slots=True)
class Process:
    """A process that owns events. `global_pid` and `pid` as the source gives them; a pid or rank
    that no system has is not known."""

    name: str
    pid: int | None = None
    rank: int | None = None
    global_pid: int | None = None

    def __post_init__(self) -> None:
        if self.pid is not None and not 0 <= self.pid <= _LARGEST:
            self.pid = None
        if self.rank is not None and not 0 <= self.rank <= _LARGEST:
            self.rank = None


@dataclass(slots=True)
class Lane:
    """A thread, a stream or the start-end ranges of a process. `process` -1: not recorded."""

    kind: LaneKind
    process: int
    name: str
    tid: int | None = None
    device: int | None = None
    context: int | None = None
    green_context: int | None = None
    stream: int | None = None


@dataclass(slots=True)
class Device:
    """A GPU, as far as it is known."""

    ordinal: int
    name: str
    label: str | None = None
    """What to call it; None: `GPU <ordinal>`."""
    process: int | None = None
    gpu_id: int | None = None
    uuid: str | None = None
    sm_count: int | None = None
    clock_hz: int | None = None
    memory_bytes: int | None = None
    bandwidth_bytes_per_s: int | None = None
    compute_major: int | None = None
    compute_minor: int | None = None
    assumed: bool = False


def enter(owners: list[Owner], owner: Owner, more: Owner) -> int:
    """Append an owner and return its id. Only a damaged or made-up trace has more than can be told
    apart: those that are too many share one, which is `more`."""
    if len(owners) < MOST_OWNERS - 1:
        owners.append(owner)
    elif len(owners) == MOST_OWNERS - 1:
        owners.append(more)
    return len(owners) - 1


def too_many(what: str, owners: Sequence[object]) -> list[str]:
    """What to tell of owners that share one, `what` they are."""
    if len(owners) < MOST_OWNERS:
        return []
    return [f"More than {MOST_OWNERS - 1} {what}: the others are shown as one."]


def write_owners(
    writer: StoreWriter,
    processes: Sequence[Process],
    lanes: Sequence[Lane],
    devices: Sequence[Device],
) -> None:
    """Rows of `process`, `lane` and `device`; ids are positions."""
    names = [field.name for field in fields(Process)]
    writer.insert_lists(
        "process",
        {
            "id": range(len(processes)),
            **{name: [getattr(process, name) for process in processes] for name in names},
        },
    )
    writer.insert_lists(
        "lane",
        {
            "id": range(len(lanes)),
            "kind": [lane.kind.value for lane in lanes],
            "process": [None if lane.process < 0 else lane.process for lane in lanes],
            "device": [lane.device for lane in lanes],
            "tid": [lane.tid for lane in lanes],
            "context_id": [lane.context for lane in lanes],
            "green_context_id": [lane.green_context for lane in lanes],
            "stream_id": [lane.stream for lane in lanes],
            "name": [lane.name for lane in lanes],
        },
    )
    names = [field.name for field in fields(Device)]
    columns = {name: [getattr(device, name) for device in devices] for name in names}
    writer.insert_lists("device", {"id": range(len(devices)), **columns})
