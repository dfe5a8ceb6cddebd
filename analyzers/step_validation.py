"""Whether the all-reduce pattern agrees with the steps that were marked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .all_reduce import AllReduce
from .distinct import distinct
from .quantities import plural
from .step_columns import Found
from .step_labels import Staging
from .step_ranks import Rank

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


def validate(
    found: Found,
    iteration: I32,
    ranks: tuple[Rank, ...],
    staging: Staging,
    all_reduce: AllReduce | None,
    labels: Mapping[int, str],
) -> tuple[bool | None, str]:
    """Whether the all-reduce pattern finds as many steps as the markers, per device.
    `labels`: of the devices."""
    if all_reduce is None:
        return None, "no all-reduce kernel to compare with"
    if not len(iteration) or any(rank.lane is None for rank in ranks):
        return None, "steps are not marked: nothing to compare the all-reduce pattern with"
    run = None if staging.benchmark is None else staging.runs[staging.benchmark]
    rows = staging.run == staging.benchmark if run is not None else np.ones(len(iteration), bool)
    steps = len(distinct(iteration[rows]))
    first = int(found.start_ns[rows].min())
    # The work of the last step may still run after its range.
    last = int(found.end_ns[rows].max()) + _median_period(found.start_ns[rows], found.lane[rows])
    counts = {
        device.device: int(((device.start_ns >= first) & (device.start_ns < last)).sum())
        for device in all_reduce.devices
    }
    agree = all(abs(count - steps) <= 0.05 * steps for count in counts.values())
    listed = ", ".join(f"{count} on {labels[device]}" for device, count in counts.items())
    sizes = sorted({device.size for device in all_reduce.devices})
    size = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    verdict = "validated" if agree else "disagreement"
    return agree, (
        f"{verdict}: {plural(steps, 'marked step')}; groups of all-reduces, {size} per GPU "
        f"({all_reduce.total} in all): {listed}"
    )


def _median_period(start: I64, lane: I32) -> int:
    same = lane[1:] == lane[:-1]
    periods = np.diff(start)[same]
    return int(np.median(periods)) if len(periods) else 0
