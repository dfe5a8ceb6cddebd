"""The events of the compared steps, some at a time, each with the step it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..queries.lanes import lanes
from ..queries.step_events import host_events, host_ids, launched_work, located_work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..queries.step_events import CpuSamples, GpuWork, HostEvents, Place
    from ..queries.trace import Trace
    from .step_slots import Slots
    from .step_table import I64


class StepPlaces:
    """Events and their places (see `Slots.of_host`), so that memory grows with the steps, not with
    the events. GPU work belongs to the step of its launch: `host` is run through first."""

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

    @property
    def on_threads(self) -> bool:
        """A thread is known to run the steps of each rank."""
        return all(rank.lane in self._process_of for rank in self.slots.steps.ranks)

    def host(self) -> Iterator[tuple[HostEvents, I64]]:
        """Host events and their places."""
        for events in host_events(self.trace, self.slots.window_ns):
            place = self.slots.of_host(events, self._process_of)
            self._place_of[events.id] = place
            yield events, place

    def work(self) -> Iterator[tuple[GpuWork, I64]]:
        """GPU work and its places, by launch, or by device where the steps were found there."""
        first = self.slots.window_ns[0]
        if self.slots.on_device:
            for work, where in located_work(self.trace, first):
                yield work, self.slots.of_devices(where)
        else:
            for work in launched_work(self.trace, first):
                yield work, self._of_launch(work)

    def of_samples(self, samples: CpuSamples) -> I64:
        """Places of samples of host threads."""
        return self.slots.of_host(samples, self._process_of)

    def of(self, where: Place) -> I64:
        """Places of other GPU work."""
        return self.slots.of_devices(where) if self.slots.on_device else self._of_launch(where)

    def _of_launch(self, work: GpuWork | Place) -> I64:
        return self._place_of[work.launch].astype(np.int64)
