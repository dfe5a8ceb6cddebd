"""Where GPU work ran: the device and the stream of each owner."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ..arrays import I16, I32
from ..model import GpuKind, LaneKind
from ..owners import Lane
from .devices import Devices, Usage
from .gpu import GpuOps, Owner
from .identity import Identity
from .reader import TableReader
from .stream_names import read_stream_names

_NO_DEVICE = -1


class Streams:
    """Devices and stream lanes of all GPU work. A stream is known by process, device, context,
    green context and id: ids alone repeat."""

    def __init__(
        self,
        ops: Sequence[GpuOps],
        extra: Sequence[Usage],
        devices: Devices,
        identity: Identity,
        reader: TableReader,
    ) -> None:
        """`extra`: (process, ordinal) pairs that are used by more than `ops`."""
        self._devices = devices
        self._identity = identity
        self._lanes: dict[tuple[int | None, ...], int] = {}
        self._defaults = _default_streams(reader)
        self._names = read_stream_names(reader)
        self._contexts = _context_ordinals(ops)
        usages: list[Usage] = list(extra)
        for part in ops:
            for owner in part.owners:
                ordinal = self._ordinal(part.kind, owner)
                if ordinal is not None:
                    usages.append((owner.process, ordinal))
        devices.settle(usages, identity)

    def place(self, ops: GpuOps) -> tuple[I16, I32]:
        """Device and lane of each owner; device -1 where a wait does not tell it."""
        device = [self._device(ops.kind, owner) for owner in ops.owners]
        lane = [self._lane(owner, where) for owner, where in zip(ops.owners, device, strict=True)]
        return np.array(device, np.int16), np.array(lane, np.int32)

    def _ordinal(self, kind: GpuKind, owner: Owner) -> int | None:
        """The owner's device. Waits often say 0 whatever it is: for them, where work of the same
        context ran."""
        if kind is GpuKind.SYNC:
            return self._contexts.get((owner.process, owner.context), owner.ordinal)
        return owner.ordinal

    def _device(self, kind: GpuKind, owner: Owner) -> int:
        ordinal = self._ordinal(kind, owner)
        return _NO_DEVICE if ordinal is None else self._devices.device(owner.process, ordinal)

    def _lane(self, owner: Owner, device: int) -> int:
        key = (owner.process, device, owner.context, owner.green_context, owner.stream)
        found = self._lanes.get(key)
        if found is None:
            found = self._identity.add_lane(
                Lane(
                    LaneKind.STREAM,
                    owner.process,
                    self._name(owner),
                    device=None if device == _NO_DEVICE else device,
                    context=owner.context,
                    green_context=owner.green_context,
                    stream=owner.stream,
                )
            )
            self._lanes[key] = found
        return found

    def _name(self, owner: Owner) -> str:
        if owner.stream is None:
            return "all streams"
        name = f"stream {owner.stream}"
        if owner.process >= 0:
            pid = self._identity.processes[owner.process].pid
            if self._defaults.get((pid, owner.context)) == owner.stream:
                name += " (default)"
            given = self._names.get((pid, owner.context, owner.stream))
            if given is not None:
                name = f"{given} ({name})"
        return name


def _context_ordinals(ops: Sequence[GpuOps]) -> dict[tuple[int, int | None], int]:
    """Ordinal by (process, context), for contexts whose work ran on one device."""
    seen: defaultdict[tuple[int, int | None], set[int]] = defaultdict(set)
    for part in ops:
        if part.kind is not GpuKind.SYNC:
            for owner in part.owners:
                if owner.ordinal is not None and owner.context is not None:
                    seen[owner.process, owner.context].add(owner.ordinal)
    return {context: ordinals.pop() for context, ordinals in seen.items() if len(ordinals) == 1}


def _default_streams(reader: TableReader) -> dict[tuple[int, int | None], int]:
    """Default stream by (pid, context)."""
    columns = ("processId", "contextId")
    table = reader.find("TARGET_INFO_CUDA_CONTEXT_INFO", (*columns, "nullStreamId"))
    stream = "nullStreamId"
    if table is None:
        stream = "streamId"
        table = reader.find("TARGET_INFO_CUDA_NULL_STREAM", (*columns, stream))
    if table is None:
        return {}
    rows = reader.read(table, dict.fromkeys((*columns, stream), "i64"))
    return {
        (pid, context): value
        for pid, context, value in rows.records(*columns, stream)
        if pid is not None and value is not None
    }
