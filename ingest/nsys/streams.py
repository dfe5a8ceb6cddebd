"""Where GPU work ran: the device and the stream of each owner."""

from collections.abc import Sequence

import numpy as np

from ..model import GpuKind, LaneKind
from .arrays import I16, I32
from .devices import Devices, Usage
from .gpu import GpuOps, Owner
from .identity import Identity, Lane
from .reader import TableReader

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
        self._lanes: dict[Owner, int] = {}
        self._defaults = _default_streams(reader)
        self._ordinals: dict[tuple[int, int | None], int] = {}
        for part in ops:
            if part.kind is not GpuKind.SYNC:
                for owner in part.owners:
                    if owner.ordinal is not None:
                        self._ordinals[owner.process, owner.context] = owner.ordinal
        usages: list[Usage] = list(extra)
        for part in ops:
            for owner in part.owners:
                ordinal = self._ordinal(owner)
                if ordinal is not None:
                    usages.append((owner.process, ordinal))
        devices.settle(usages, identity)

    def place(self, ops: GpuOps) -> tuple[I16, I32]:
        """Device and lane of each owner; device -1 where a wait does not tell it."""
        device = np.array([self._device(owner) for owner in ops.owners], np.int16)
        lane = np.array([self._lane(owner) for owner in ops.owners], np.int32)
        return device, lane

    def _ordinal(self, owner: Owner) -> int | None:
        """The ordinal of the owner's context where work tells it: waits often say 0 instead."""
        return self._ordinals.get((owner.process, owner.context), owner.ordinal)

    def _device(self, owner: Owner) -> int:
        ordinal = self._ordinal(owner)
        return _NO_DEVICE if ordinal is None else self._devices.device(owner.process, ordinal)

    def _lane(self, owner: Owner) -> int:
        found = self._lanes.get(owner)
        if found is None:
            device = self._device(owner)
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
            self._lanes[owner] = found
        return found

    def _name(self, owner: Owner) -> str:
        if owner.stream is None:
            return "all streams"
        name = f"stream {owner.stream}"
        if owner.process >= 0:
            pid = self._identity.processes[owner.process].pid
            if self._defaults.get((pid, owner.context)) == owner.stream:
                name += " (default)"
        return name


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
