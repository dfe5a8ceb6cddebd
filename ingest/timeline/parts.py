"""What a timeline hands over to be written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import StringPool
from ..arrays import I16, I32, NULL32, NULL64
from ..context import Contexts
from ..owners import Device, Lane, Process
from ..stalls import StallSamples
from .columns import Counters, Flows, GpuOps, HostEvents, MemoryEvents
from .stack import Chains

_NO_GPU: Final = "GPU not recorded"


@dataclass(slots=True)
class Parts:
    """All events; `ops` has one entry a kind, in order of the kinds. `tables` are interned rows."""

    host: HostEvents | None
    loose: HostEvents | None
    ops: list[GpuOps]
    memory: MemoryEvents | None
    counters: Counters | None
    flows: Flows | None
    chains: Chains | None
    stalls: StallSamples | None
    tables: Mapping[str, Mapping[str, NDArray[Any]]]


@dataclass(slots=True)
class Owners:
    """Who the events belong to, and the tree that grows from them."""

    pool: StringPool
    contexts: Contexts
    processes: Sequence[Process]
    devices: list[Device]
    lanes: Sequence[Lane]

    def place(self, lanes: I32) -> None:
        """Give lanes whose work does not tell its GPU a GPU that stands for the unknown one: time
        of work is always that of a device."""
        used: list[int] = np.unique(lanes).tolist()
        bare = [self.lanes[lane] for lane in used if self.lanes[lane].device is None]
        if not bare:
            return
        self.devices.append(Device(-1, _NO_GPU, _NO_GPU, assumed=True))
        for lane in bare:
            lane.device = len(self.devices) - 1

    def device_of(self) -> I16:
        """Device of each lane, -1 where none is known."""
        return np.array(
            [-1 if lane.device is None else lane.device for lane in self.lanes], np.int16
        )

    def process_of(self) -> I32:
        """Process of each lane, -1 where not known."""
        return np.array([lane.process for lane in self.lanes], np.int32)


def stacked(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Rows of several sets of columns, one below the other; a column that one lacks is NULL."""
    names = {name: column.dtype for part in parts for name, column in part.items()}
    out: dict[str, NDArray[Any]] = {}
    for name, dtype in names.items():
        columns: list[NDArray[Any]] = []
        for part in parts:
            rows = len(next(iter(part.values())))
            columns.append(part[name] if name in part else np.full(rows, null_of(name, dtype)))
        out[name] = np.concatenate(columns).astype(dtype, copy=False)
    return out


_TEXTS = frozenset(
    {
        "shapes",
        "types",
        "strides",
        "concrete",
        "other",
        "name",
        "dtype",
        "in_split",
        "out_split",
        "group_name",
        "group_description",
        "group_ranks",
    }
)


def null_of(name: str, dtype: np.dtype[Any]) -> Any:
    """The marker of NULL in a column of an interned table."""
    if name in _TEXTS:
        return np.int32(-1)
    if dtype.kind == "f":
        return np.nan
    return np.int32(NULL32) if dtype == np.int32 else np.int64(NULL64)
