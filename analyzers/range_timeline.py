"""The timeline of a device in windows of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .gpu_timeline import GpuTimeline, added, gpu_timeline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..queries.lanes import Lane
    from ..queries.report_events import Work
    from ..queries.scope import TimeScope

    Windows = list[tuple[int, int]]


def device_windows(scope: TimeScope, lanes: Sequence[Lane], device: int) -> Windows:
    """When a device is looked at: in the windows of the processes that work on it."""
    owners = {lane.process for lane in lanes if lane.device == device}
    known = [
        (start, end)
        for owner, start, end in scope.windows
        if owner is None or owner in owners or owners <= {None}
    ]
    return merged(known)


def timeline_within(
    work: Work, comm: NDArray[np.bool_], micro_idle_ns: int, windows: Windows
) -> GpuTimeline:
    """The split of the windows: work is cut at their edges, and what is left of them is idle."""
    parts: list[GpuTimeline] = []
    for start, end in windows:
        inside = (work.end_ns > start) & (work.start_ns < end)
        parts.append(gpu_timeline(work, comm, micro_idle_ns, within=(start, end), rows=inside))
    return added(parts)


def merged(spans: Windows) -> Windows:
    """Spans with length, ascending; those that touch are one."""
    found: Windows = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found
