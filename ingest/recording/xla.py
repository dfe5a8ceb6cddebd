"""A window of a JAX program under XLA's profiler, kept whole in the recording: the reader of such
recordings gives its contexts, which join those of the process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...native import PathTree, StringPool
from ..account import RowAccount
from ..arrays import I32
from ..called_with import CalledWith
from ..jax.paths import Chains
from ..jax.reader import add_recording
from ..jax.recording import decode
from ..jax.report import damage_notes, notes_of
from ..model import Severity
from ..owners import Device, Lane, Process
from ..timeline import Timeline
from ..timeline.sums import Summed
from .xla_kernels import KernelOperations


@dataclass(slots=True)
class Windows:
    """The windows of all processes, as parts of one tree."""

    tree: PathTree
    pool: StringPool
    lanes: list[Lane]
    """Theirs are added to it."""
    devices: list[Device] = field(default_factory=list[Device])
    notes: list[tuple[Severity, str, str]] = field(default_factory=list[tuple[Severity, str, str]])
    operations: int = 0
    """Events that name an operation of XLA, on threads or GPUs."""
    python_lines: bool = False
    """Some of them name the Python lines they come from."""
    rows: list[Summed] = field(default_factory=list[Summed])
    """With nodes and devices of the whole tree."""
    _kernels: list[CalledWith] = field(default_factory=list[CalledWith])

    def add_kernels(self, found: KernelOperations, label: str) -> None:
        """Operations of a process without a window, found by the names of its kernels."""
        self.operations += found.counts.joined
        self.python_lines |= found.sourced
        self.notes += found.notes(label)
        self._kernels += found.called_with()

    def enter(self, data: bytes, process: Process, number: int) -> None:
        """Add the window of a process, which is the `number`-th of the recording."""
        line = Timeline("", self.pool)
        own = line.add_process(process)
        recording = decode(data, self.pool)
        chains = Chains()
        found = add_recording(line, recording, chains, own, RowAccount())
        chains.add_to(line)
        self.operations += found.host.thunks + found.device.work
        self.python_lines |= found.host.sourced + found.device.sourced > 0
        told = [
            *damage_notes(recording, found.modules),
            *notes_of(found.modules, found.host, found.device, recording.is_export),
        ]
        self.notes += [(severity, "import", text) for severity, text in told]
        sums = line.summed()
        node_of = self._grafted(line)
        sums.node = node_of[sums.node]
        first = len(self.devices)
        sums.device = np.where(sums.device >= 0, sums.device + first, -1).astype(np.int16)
        node, args, calls, ns = sums.calls
        sums.calls = (node_of[node], args, calls, ns)
        self.devices += line.devices
        for lane in line.lanes:
            lane.process = number
            lane.device = None if lane.device is None else lane.device + first
        self.lanes += line.lanes
        self.rows.append(sums)

    def _grafted(self, line: Timeline) -> I32:
        """Copy the tree of a window; the node of each of its nodes. Processes of one name are one
        node."""
        frames, nodes = line.tree.frame_columns(), line.tree.columns()
        own = self.tree.frames(frames["layer"], frames["name"], frames["file"], frames["line"])
        fate = np.ones(len(nodes["parent"]), np.int8)
        fate[0] = 0
        return self.tree.extend_folded(nodes["parent"], own[nodes["frame"]], fate)

    def called_with(self) -> Sequence[CalledWith]:
        """What operations are, as their arguments tell it."""
        found = list(self._kernels)
        for sums in self.rows:
            node, args, calls, ns = sums.calls
            if len(node):
                bare = np.full(len(sums.args_other), -1, np.int32)
                found.append(CalledWith(node, args, calls, ns, bare, bare, sums.args_other))
        return found
