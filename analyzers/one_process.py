"""What one process of a trace did, as if it had been recorded alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..native import IntervalSets

if TYPE_CHECKING:
    from .steps import Steps
    from .trace_data import TraceData


def data_of_process(data: TraceData, process: int) -> TraceData:
    """The launches of the process, and all work on the GPUs that it worked on: a GPU that another
    process shares with it is busy with either's, but only what this one does explains the rest.
    Devices and calls keep their numbers."""
    own = np.array(data.devices_of(process), np.int32)

    def only(sets: IntervalSets) -> IntervalSets:
        kept = np.isin(sets.group, own)
        return IntervalSets(sets.group[kept], sets.start[kept], sets.end[kept], len(sets))

    graphs = data.graph_launches
    return replace(
        data,
        process=process,
        devices=tuple(device for device in data.devices if device.device in own),
        owners=tuple((process,) if process in owners else () for owners in data.owners),
        running=only(data.running),
        copies=only(data.copies),
        only_copies=only(data.only_copies),
        nccl=only(data.nccl),
        communication=only(data.communication),
        graph_launches=graphs.where(data.lane_process[graphs.lane] == process),
    )


def steps_of_process(steps: Steps, data: TraceData, process: int) -> Steps:
    """The steps that the process ran, by the numbers that all processes share; where GPU work tells
    the steps, those of its GPUs."""
    devices = data.devices_of(process)
    kept = [
        index
        for index, rank in enumerate(steps.ranks)
        if (rank.device in devices if rank.process is None else rank.process == process)
    ]
    rows = np.flatnonzero(np.isin(steps.rank, kept))
    place = np.full(max(len(steps.ranks), 1), -1, np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    reason = steps.reason
    if len(steps) and not len(rows):
        reason = f"{data.processes[process].label} ran none of the steps of this trace"
    return replace(
        steps,
        reason=reason,
        ranks=tuple(steps.ranks[index] for index in kept),
        rank=place[steps.rank[rows]],
        iteration=steps.iteration[rows],
        number=steps.number[rows],
        context=steps.context[rows],
        generation=steps.generation[rows],
        phase=steps.phase[rows],
        label=steps.label[rows],
        start_ns=steps.start_ns[rows],
        end_ns=steps.end_ns[rows],
        next_ns=steps.next_ns[rows],
        name=steps.name[rows],
        run=steps.run[rows],
    )
