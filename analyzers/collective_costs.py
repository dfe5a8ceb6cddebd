"""What collectives cost, step by step or in the whole run, by what they exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from ..queries.metric import Metric
from ..queries.pathview import Frames
from ..queries.step_events import collective_costs as collective_work
from ..queries.step_events import collective_texts, texts
from .tree_costs import COMPARED, TreeCosts, add_up

if TYPE_CHECKING:
    from ..queries.step_events import CollectiveText
    from ..queries.trace import Trace
    from .step_places import StepPlaces

_NOT_HERE = "collectives are compared by time and number of kernels"


def collective_costs(trace: Trace, steps: StepPlaces | None) -> TreeCosts:
    """A tree of roots only, one for each collective operation, type, size and group; for each
    kernel name where these were not recorded. `steps` None: of the whole run. Reads events."""
    slots = None if steps is None else steps.slots
    work = collective_work(trace, None if slots is None else slots.window_ns[0])
    place = np.zeros(len(work.node), np.int32) if steps is None else steps.of(work.place)
    known = np.flatnonzero(place >= 0)
    code = np.where(work.collective >= 0, work.collective, -1 - work.name)[known]
    codes, at, which = np.unique(code, return_index=True, return_inverse=True)
    told = collective_texts(trace)
    kernels = texts(trace, [-1 - c for c in codes.tolist() if c < 0])
    labels = [kernels[-1 - c] if c < 0 else label(told[c]) for c in codes.tolist()]
    # Calls that differ in what is not told here, such as their number, are one.
    names = list(dict.fromkeys(labels))
    row = np.array([names.index(text) for text in labels], np.int32)
    frame = row[which]
    time, number = add_up(place[known], frame, work.dur_ns[known], max(len(names), 1))
    first = np.zeros(len(names), np.int32)
    for entry in reversed(range(len(labels))):
        first[row[entry]] = work.node[known][at[entry]]
    return TreeCosts(
        parent=np.full(len(names), -1, np.int32),
        frame=np.arange(len(names), dtype=np.int32),
        frames=Frames(
            layers=[Layer.KERNEL] * len(names),
            names=names,
            files=[None] * len(names),
            lines=[None] * len(names),
        ),
        source=first,
        values={Metric.GPU: time, Metric.KERNELS: number},
        missing={m: _NOT_HERE for m in COMPARED if m not in (Metric.GPU, Metric.KERNELS)},
        node_of=np.empty(0, np.int64),
        rank=np.zeros(1, np.int64) if slots is None else slots.rank.astype(np.int64),
        ranks=1 if slots is None else len(slots.per_rank),
        per_step=slots is not None,
    )


def label(call: CollectiveText) -> str:
    """`allreduce, bf16, 4096 elements, 8 ranks`: what of it is known."""
    parts = [call.name or "collective"]
    if call.dtype:
        parts.append(call.dtype)
    if call.in_elements is not None:
        parts.append(f"{call.in_elements} elements")
    if call.group_size is not None:
        parts.append(f"{call.group_size} ranks")
    return ", ".join(parts)
