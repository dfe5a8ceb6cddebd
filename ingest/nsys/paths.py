"""The calling context tree of an export: process, thread, annotations, native frames, API, GPU."""

from dataclasses import dataclass

import numpy as np

from ...native import Nesting, locate, nest
from ..arrays import I32, I64, Mask
from ..background import Background
from ..context import OP_LAYERS, Contexts
from ..model import Layer
from .calls import Calls
from .chains import Chains
from .gpu import GpuOps
from .identity import Identity
from .nvtx import Annotations
from .samples import Samples
from .stack import StackRoom
from .strings import Strings
from .times import joined_open


@dataclass(slots=True)
class HostStack:
    """Events that nest on their thread: annotations first (`annotations` of them), then calls.

    `lane` is the one they nest on: events of unknown threads have each its own."""

    annotations: int
    lane: I32
    start: I64
    end: I64
    open: Mask | None
    nesting: Nesting
    node: I32

    def __len__(self) -> int:
        return len(self.lane)

    def turn_ends_into_durations(self) -> None:
        """Once nothing asks for ends any more: another column of this length would be dear."""
        self.end -= self.start


class ContextTree(Contexts):
    """Enters the events of an export."""

    def __init__(self, root_name: str, strings: Strings, identity: Identity) -> None:
        super().__init__(root_name, strings.pool, identity.lanes, identity.process_label)
        self._strings = strings
        self._identity = identity

    def nest_host(
        self,
        room: StackRoom,
        stack: Annotations | None,
        calls: Calls | None,
        chains: Chains | None,
        call_chain: I32 | None,
    ) -> HostStack:
        """Nest annotations and calls and enter them, with the call chains of the calls."""
        lane, start, end = room.columns()
        annotations = room.annotations
        rank = np.ones(len(lane), np.uint8)
        rank[:annotations] = 0
        open_ = joined_open([part.span for part in (stack, calls) if part is not None])
        nesting_lane = self._nesting_lanes(lane)
        with Background(lambda: nest(nesting_lane, start, end, rank)) as nested:
            frame = np.concatenate([self._annotation_frames(stack), self._call_frames(calls)])
            roots = self.lane_nodes(lane)
            nesting = nested.result()
        if chains is None or call_chain is None:
            node = self.tree.extend_nested(nesting, frame, roots)
        else:
            node = self.tree.extend_nested(
                nesting,
                frame,
                roots,
                chain=np.concatenate([np.full(annotations, -1, np.int32), call_chain]),
                chain_offsets=chains.offsets,
                chain_frames=chains.frames,
            )
        return HostStack(annotations, nesting_lane, start, end, open_, nesting, node)

    def _nesting_lanes(self, lane: I32) -> I32:
        """Events of unknown threads contain each other only by accident: each gets its own lane."""
        known = self._identity.lane_known()
        if known.all():
            return lane
        apart = len(known) + np.arange(len(lane), dtype=np.int32)
        return np.where(known[lane], lane, apart)

    def _annotation_frames(self, stack: Annotations | None) -> I32:
        if stack is None or not len(stack):
            return np.empty(0, np.int32)
        layer = np.full(len(stack), Layer.ANNOTATION, np.uint8)
        return self.tree.frames(layer, self._strings.pool.name_keys(stack.name), stack.domain)

    def _call_frames(self, calls: Calls | None) -> I32:
        if calls is None:
            return np.empty(0, np.int32)
        table = np.full(len(calls.base_of), -1, np.int32)
        for name in np.flatnonzero(calls.base_of >= 0).tolist():
            table[name] = self.tree.frame(Layer.API, int(calls.base_of[name]))
        return table[calls.name]

    def enter_ops(self, ops: GpuOps, launch: I32, host: HostStack) -> I32:
        """Node of each op, below the node of its launch (a row of `host`, -1: not recorded)."""
        orphan = launch < 0
        base = host.node[launch] if len(host) else np.full(len(ops), -1, np.int32)
        if orphan.any():
            owners = ops.process()[orphan]
            table = np.zeros(len(self._identity.processes) + 1, np.int32)
            for owner in np.unique(owners).tolist():
                table[owner] = self.orphan_node(owner)
            base[orphan] = table[owners]
        layer = OP_LAYERS[ops.kind]
        frames = [self.tree.frame(layer, name) for name in ops.name_of.tolist()]
        return self.tree.extend(base, np.array(frames, np.int32)[ops.label])

    def sample_bases(self, samples: Samples, host: HostStack) -> I32:
        """The context open at each sample: the innermost annotation, else the thread."""
        base = self.lane_nodes(samples.lane)
        if not len(host):
            return base
        event = locate(host.nesting, host.lane, host.start, host.end, samples.lane, samples.time)
        calls = event >= host.annotations
        while calls.any():
            event = np.where(calls, host.nesting.parent[event], event)
            calls = event >= host.annotations
        return np.where(event >= 0, host.node[event], base)
