"""GPU work with its place, its launch and its context."""

from dataclasses import dataclass

import numpy as np

from ..arrays import I16, I32, Mask
from ..metrics import OpColumns
from ..model import GpuKind
from .gpu import GpuOps


@dataclass(slots=True)
class PlacedOps:
    """GPU work of one kind. `launch` is a row of the calls, -1 where the launch is missing."""

    ops: GpuOps
    device_of: I16
    lane_of: I32
    """By owner; device -1 where a wait does not tell it."""
    launch: I32
    node: I32 | None = None

    def columns(self, communicates: Mask) -> OpColumns:
        """What the sums need; `communicates` tells by pool id whether a kernel name does."""
        kernels = self.ops.kind is GpuKind.KERNEL
        return OpColumns(
            kind=self.ops.kind,
            device_of=self.device_of,
            owner=self.ops.owner,
            start=self.ops.start,
            dur=self.ops.dur,
            label=self.ops.label,
            name_of=self.ops.name_of,
            communicates=communicates[self.ops.name_of] if kernels else None,
            node=np.empty(0, np.int32) if self.node is None else self.node,
            bytes=self.ops.bytes,
        )
