"""The events of the compared steps, each with the step it belongs to, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..native import PlaceSums
from ..queries.lanes import lanes
from ..queries.step_events import (
    context_count,
    host_events,
    host_ids,
    launched_work,
    located_work,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..queries.step_events import CpuSamples, GpuWork, Place
    from ..queries.trace import Trace
    from .step_slots import Slots
    from .step_table import I32, I64, Flags


@dataclass(frozen=True, slots=True)
class ContextSums:
    """Events added up by place (see `Slots.of_host`) and context, ordered by place. Columns of one
    length; GPU work inside and outside of CUDA graphs has a row each."""

    place: I32
    node: I32
    in_graph: Flags
    """GPU work recorded as nodes of CUDA graphs."""
    count: I64
    total_ns: I64
    """Durations."""
    self_ns: I64
    """Without what is nested; of GPU work the same."""


class StepPlaces:
    """Events and their places. They are read once, some at a time: memory grows with what they add
    up to. GPU work belongs to the step of its launch."""

    def __init__(self, trace: Trace, slots: Slots) -> None:
        self.trace = trace
        self.slots = slots
        self._process_of = {
            lane.lane: -1 if lane.process is None else lane.process
            for lane in lanes(trace)
            if lane.is_thread
        }
        # By event; the last one stands for no launch.
        self._place_of = np.full(host_ids(trace) + 1, -1, np.int32)
        self._launches_placed = False

    @property
    def on_threads(self) -> bool:
        """A thread is known to run the steps of each rank."""
        return all(rank.lane in self._process_of for rank in self.slots.steps.ranks)

    @cached_property
    def host(self) -> ContextSums:
        """Host events. Reads them when first asked for."""
        sums = PlaceSums(context_count(self.trace), 2)
        for events in host_events(self.trace, self.slots.window_ns):
            place = self.slots.of_host(events, self._process_of)
            self._place_of[events.id] = place
            sums.add(place, events.node, (events.dur_ns, events.self_ns))
        self._launches_placed = True
        place, node, count, (total, own) = sums.take()
        return ContextSums(place, node, np.zeros(len(node), np.bool_), count, total, own)

    def forget_host(self) -> None:
        """Nobody asks for the sums of host events again; where they launched stays known."""
        self.__dict__.pop("host", None)

    @cached_property
    def work(self) -> ContextSums:
        """GPU work, by launch, or by device where the steps were found there. Reads events when
        first asked for."""
        sums = PlaceSums(2 * context_count(self.trace), 1)
        for work, place in self._work():
            sums.add(place, 2 * work.node + work.in_graph, (work.dur_ns,))
        place, code, count, (total,) = sums.take()
        return ContextSums(place, code >> 1, (code & 1).astype(np.bool_), count, total, total)

    def _work(self) -> Iterator[tuple[GpuWork, I32]]:
        first = self.slots.window_ns[0]
        if self.slots.on_device:
            for work, where in located_work(self.trace, first):
                yield work, self.slots.of_devices(where)
        else:
            for work in launched_work(self.trace, first):
                yield work, self._of_launch(work)

    def of_samples(self, samples: CpuSamples) -> I32:
        """Places of samples of host threads."""
        return self.slots.of_host(samples, self._process_of)

    def of(self, where: Place) -> I32:
        """Places of other GPU work."""
        return self.slots.of_devices(where) if self.slots.on_device else self._of_launch(where)

    def _of_launch(self, work: GpuWork | Place) -> I32:
        if not self._launches_placed:
            _ = self.host  # which finds the places of launches
        place: I32 = self._place_of[work.launch]
        return place
