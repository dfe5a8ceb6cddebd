"""What the panel of one kernel reads: launch shapes by device, and its slowest launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .kernels import OpSelection
from .trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Triple = tuple[int, int, int]

_FENCE = 3.0
_LEAST_RATIO = 1.5


@dataclass(frozen=True, slots=True)
class Shape:
    """Launches of one shape on one device. None: not recorded."""

    device: int | None
    grid: Triple | None
    block: Triple | None
    registers: int | None
    """Per thread."""
    shared_bytes: int | None
    """Per block: static and dynamic."""
    recorded_occupancy: float | None
    """Share, as the profiler estimated it."""
    count: int
    sum_ns: int
    unseen: int = 0
    """Launches among them that were summed up with the first of their context, whose shape this is;
    their own was not recorded."""


@dataclass(frozen=True, slots=True)
class PanelDevice:
    """A device. None: not recorded."""

    label: str
    name: str
    multiprocessors: int | None
    compute: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class SlowLaunch:
    """One launch that took unusually long."""

    start_ns: int
    dur_ns: int
    device: int | None
    stream: str
    node: int | None


@dataclass(frozen=True, slots=True)
class Outliers:
    """Launches slower than `above_ns`: beyond the third quartile by three times the distance of
    the quartiles (Tukey's outer fence), and beyond one and a half medians."""

    launches: int
    """All that the outliers are of."""
    median_ns: float
    above_ns: float
    count: int
    excess_ns: int
    """What the outliers took beyond the median each."""
    slowest: tuple[SlowLaunch, ...]


def shapes(trace: Trace, selection: OpSelection, limit: int) -> list[Shape]:
    """Most time first. Reads events: NotReadyError while they are being loaded."""
    rows = trace.event_rows("kernel_panel.shapes", {**selection.parameters(), "limit": limit})
    return [
        Shape(
            device,
            _triple(row[:3]),
            _triple(row[3:6]),
            row[6],
            row[7],
            None if row[8] is None else row[8] / 100,
            row[9],
            row[10],
            row[11],
        )
        for device, *row in rows
    ]


def panel_devices(trace: Trace) -> dict[int, PanelDevice]:
    """By id."""
    return {
        device: PanelDevice(
            label, name, sms, None if major is None or minor is None else (major, minor)
        )
        for device, label, name, sms, major, minor in trace.rows("kernel_panel.devices")
    }


@dataclass(frozen=True, slots=True)
class LaunchCounter:
    """A hardware counter over the launches that it was read for."""

    name: str
    launches: int
    mean: float
    least: float
    most: float


def launch_counters(trace: Trace, selection: OpSelection) -> list[LaunchCounter]:
    """By name; empty where the recording counts nothing by launch. Reads events: NotReadyError
    while they are being loaded."""
    rows = trace.event_rows("kernel_panel.counters", selection.parameters())
    return [LaunchCounter(*row) for row in rows]


def launch_ids(trace: Trace, selection: OpSelection) -> NDArray[np.int32]:
    """`gpu_op.id` of each. Reads events: NotReadyError while they are being loaded."""
    return trace.event_arrays("kernel_panel.launches", selection.parameters())["id"]


def outliers(trace: Trace, selection: OpSelection, limit: int) -> Outliers | None:
    """None where there is no launch. Reads events: NotReadyError while they are being loaded."""
    parameters = selection.parameters()
    [(launches, low, median, high)] = trace.event_rows("kernel_panel.quartiles", parameters)
    if not launches:
        return None
    above = max(high + _FENCE * (high - low), _LEAST_RATIO * median)
    rows = trace.event_rows("kernel_panel.slow", {**parameters, "above": above, "limit": limit})
    count, total = (rows[0][5], rows[0][6]) if rows else (0, 0)
    slowest = tuple(SlowLaunch(*row[:5]) for row in rows)
    return Outliers(launches, median, above, count, round(total - count * median), slowest)


def _triple(values: list[int | None]) -> Triple | None:
    x, y, z = values
    return None if x is None or y is None or z is None else (x, y, z)
