"""Collects what a reader found, then writes the store of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...native import StringPool
from ..arrays import I32, I64
from ..context import Contexts
from ..model import GpuKind, Layer, Severity
from ..owners import Device, Lane, Process, enter, too_many
from ..progress import Progress
from ..stalls import StallSamples
from ..stalls import joined as joined_stalls
from ..writer import StoreWriter
from .build import Build
from .columns import Counters, Flows, GpuOps, HostEvents, MemoryEvents, joined
from .grow import Grown
from .parts import Owners, Parts, stacked
from .stack import Chains
from .sums import Summed, summed


class Timeline:
    """The parts of a trace that has events. Texts are ids of `pool`, times ns from its start.

    `facts` and `notes` go to the store as they are. Adding is for one thread at a time."""

    def __init__(self, root_name: str, pool: StringPool | None = None) -> None:
        """`root_name` names the top of the tree."""
        self.pool = StringPool() if pool is None else pool
        self.processes: list[Process] = []
        self.devices: list[Device] = []
        self.lanes: list[Lane] = []
        self.facts: dict[str, object] = {}
        self.notes: list[tuple[Severity, str, str]] = []
        self.tolerance_ns = 0
        """Overhang of an event over the one around it that still counts as inside."""
        self._contexts = Contexts(root_name, self.pool, self.lanes, self.process_label)
        self.tree = self._contexts.tree
        self._host: list[HostEvents] = []
        self._host_rows = 0
        self._loose: list[HostEvents] = []
        self._ops: list[GpuOps] = []
        self._op_rows: dict[GpuKind, int] = {}
        self._stalls: list[StallSamples] = []
        self._memory: list[MemoryEvents] = []
        self._counters: list[Counters] = []
        self._flows: list[Flows] = []
        self._flow_count = 0
        self._chain_offsets: list[I64] = [np.zeros(1, np.int64)]
        self._chain_frames: list[I32] = []
        self._tables: dict[str, list[Mapping[str, NDArray[Any]]]] = {}

    def process_label(self, process: int) -> str:
        """Name of a process for people, distinct within the trace."""
        item = self.processes[process]
        plain = f"pid {item.pid}"
        label = item.name if item.pid is None or item.name == plain else f"{item.name} ({item.pid})"
        return label if item.rank is None else f"rank {item.rank} · {label}"

    def add_process(self, process: Process) -> int:
        """Returns its id."""
        return enter(self.processes, process, Process("more processes"))

    def add_device(self, device: Device) -> int:
        """Returns its id."""
        return enter(self.devices, device, Device(-1, "more GPUs", "other GPUs", assumed=True))

    def add_lane(self, lane: Lane) -> int:
        """Returns its id."""
        self.lanes.append(lane)
        return len(self.lanes) - 1

    def frames(self, layer: Layer, names: I32) -> I32:
        """A frame for each text: numbers that vary are taken out of its name."""
        layers = np.full(len(names), layer, np.uint8)
        return self.tree.frames(layers, self.pool.name_keys(names))

    def add_host(self, events: HostEvents) -> int:
        """Events that nest on their lane. Returns the row of the first."""
        first = self._host_rows
        if len(events):
            self._host.append(events)
            self._host_rows += len(events)
        return first

    def add_loose(self, events: HostEvents) -> None:
        """Events outside the call tree: asynchronous ones, marks, the profiler's own overhead."""
        if len(events):
            self._loose.append(events)

    def add_ops(self, ops: GpuOps) -> int:
        """GPU work, waits or spans of one kind. Returns the row of the first among that kind."""
        first = self._op_rows.get(ops.kind, 0)
        if len(ops):
            self._ops.append(ops)
            self._op_rows[ops.kind] = first + len(ops)
        return first

    def add_stalls(self, samples: StallSamples) -> None:
        """Sampled instructions; `node` is the row of a kernel, as add_ops numbers them."""
        self._stalls.append(samples)

    def add_memory(self, memory: MemoryEvents) -> None:
        """Allocations and releases."""
        if len(memory):
            self._memory.append(memory)

    def add_counters(self, counters: Counters) -> None:
        """Values over time."""
        if len(counters):
            self._counters.append(counters)

    def add_flows(self, flows: Flows) -> None:
        """Arrows between events of threads; their numbers become those of the whole trace."""
        if len(flows):
            flows.flow = flows.flow + np.int32(self._flow_count)
            self._flow_count = int(flows.flow[-1]) + 1
            self._flows.append(flows)

    def add_chains(self, offsets: I64, frames: I32) -> int:
        """Chains of frames, root to leaf: chain i is frames[offsets[i] : offsets[i + 1]]. Returns
        the number of the first."""
        first = sum(len(part) for part in self._chain_offsets) - 1
        done = int(self._chain_offsets[-1][-1])
        self._chain_offsets.append(offsets[1:] + (done - int(offsets[0])))
        self._chain_frames.append(frames[int(offsets[0]) : int(offsets[-1])])
        return first

    def add_configs(self, columns: Mapping[str, NDArray[Any]]) -> int:
        """Rows of launch_config: int32 (NULL32) or float64 (NaN). Returns the first one's id."""
        return self._append("launch_config", columns)

    def add_args(self, columns: Mapping[str, I32]) -> int:
        """Rows of op_args: text ids, -1 for none. Returns the id of the first."""
        return self._append("op_args", columns)

    def add_collectives(self, columns: Mapping[str, NDArray[Any]]) -> int:
        """Rows of collective: text ids (-1) and numbers (NULL64). Returns the id of the first."""
        return self._append("collective", columns)

    def kernel_names(self) -> list[int]:
        """Distinct names of the kernels added."""
        names = [np.unique(part.name) for part in self._ops if part.kind is GpuKind.KERNEL]
        return np.unique(np.concatenate(names)).tolist() if names else []

    @property
    def empty(self) -> bool:
        """No event of any sort was added."""
        return not (self._host or self._loose or self._ops or self._memory or self._counters)

    def write(self, writer: StoreWriter, progress: Progress) -> None:
        """Fill the store. The timeline is spent afterwards."""
        shared = [*too_many("processes", self.processes), *too_many("GPUs", self.devices)]
        self.notes += [(Severity.WARNING, "import", text) for text in shared]
        Build(self.take(), self._owners(), writer, progress, self.tolerance_ns).run(
            self.facts, self.notes
        )

    def summed(self) -> Summed:
        """What the contexts of the tree, which is complete then, cost: for a profile without
        events. The timeline is spent afterwards."""
        parts = self.take()
        return summed(parts, Grown(parts, self._owners(), self.tolerance_ns))

    def _owners(self) -> Owners:
        return Owners(self.pool, self._contexts, self.processes, self.devices, self.lanes)

    def take(self) -> Parts:
        """All that was added; the timeline lets go of it."""
        by_kind: dict[GpuKind, list[GpuOps]] = {}
        for part in self._ops:
            by_kind.setdefault(part.kind, []).append(part)
        chains = None
        if self._chain_frames:
            frames = np.concatenate(self._chain_frames)
            chains = Chains(np.concatenate(self._chain_offsets), frames)
        parts = Parts(
            host=joined(self._host) if self._host else None,
            loose=joined(self._loose) if self._loose else None,
            ops=[joined(by_kind[kind]) for kind in sorted(by_kind)],
            memory=joined(self._memory) if self._memory else None,
            counters=joined(self._counters) if self._counters else None,
            flows=joined(self._flows) if self._flows else None,
            chains=chains,
            stalls=joined_stalls(self._stalls),
            tables={name: stacked(rows) for name, rows in self._tables.items()},
        )
        events = (
            *(self._host, self._loose, self._ops, self._stalls),
            *(self._memory, self._counters, self._flows),
        )
        for kept in events:
            kept.clear()
        return parts

    def _append(self, table: str, columns: Mapping[str, NDArray[Any]]) -> int:
        rows = self._tables.setdefault(table, [])
        first = sum(len(next(iter(part.values()))) for part in rows)
        rows.append(columns)
        return first
