"""What the analyzers of findings share: contexts and their cost, GPU work, and when GPUs idle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...native import IntervalSets, intern_rows
from ...queries.capture import devices
from ...queries.findings import Hardware, hardware, host_nodes, ran_once, work_places
from ...queries.lanes import process_devices
from ...queries.metric import Metric
from ..architecture import Architecture, detected
from ..findings import Gain
from ..op_report import DeviceReport, OpReport, op_report
from ..report_rules import DCTX, Rules
from ..roofline import Roofline, roofline
from .contexts import Contexts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...ingest.ncu import NcuKernel
    from ...queries.trace import Trace

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    F64 = NDArray[np.float64]
    Mask = NDArray[np.bool_]


def _shipped(device: str) -> Architecture | None:
    return detected(device, [])


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The work of one device in order of its starts. Columns of one length."""

    report: DeviceReport
    node: I32
    """Path node, -1 where it is not known."""
    row: I32
    """Context, -1 where it is not known."""
    in_graph: Mask
    gap_ns: I64
    """Idle time of the device right before each piece: they sum to its idle time exactly."""
    idle: IntervalSets
    """One set: when nothing ran, between the first start and the last end."""
    lane: I32
    """Thread that launched each piece, -1 where it is not known."""


class Facts(Contexts):
    """Of one trace. Reads events. For one thread at a time."""

    def __init__(
        self,
        trace: Trace,
        report: OpReport | None = None,
        architecture: Callable[[str], Architecture | None] | None = None,
        rules: Callable[[Rules], Rules] | None = None,
        measured: Sequence[NcuKernel] = (),
    ) -> None:
        """report: all GPU work by operators, where it is known; architecture: limits of a device
        by its name, those that come with dctx by default; rules: what the user adds to ours;
        measured: kernels that Nsight Compute profiled."""
        super().__init__(trace)
        self.rules = DCTX if rules is None else rules(DCTX)
        self._report = report
        self.measured = measured
        self._architecture = architecture or _shipped

    def is_communication(self, name: str) -> bool:
        """A kernel that moves data between GPUs, as we or the user's files know it."""
        return self.rules.is_communication(name)

    # ---------------------------------------------------------------- cost --

    @cached_property
    def on_gpu(self) -> bool:
        """The trace has GPU work; without it host time stands in for it."""
        gpu = self.tree.own.get(Metric.GPU)
        return gpu is not None and bool(gpu.any())

    @property
    def cost_name(self) -> str:
        return "GPU time" if self.on_gpu else "host time (the trace has no GPU work)"

    @cached_property
    def own_cost(self) -> I64:
        """ns of GPU work, else of host time, by row."""
        return self.own(Metric.GPU if self.on_gpu else Metric.HOST)

    @cached_property
    def ran_once(self) -> I64:
        """The part of `own_cost` that the program spent once: imports, set-up, first calls. Zeros
        where GPU time counts, where nothing tells, and where all of it ran once."""
        once = np.zeros(len(self.own_cost), np.int64)
        if self.on_gpu:
            return once
        found = ran_once(self.trace)
        rows = self.place[found["node"]]
        np.add.at(once, rows[rows >= 0], found["ns"][rows >= 0])
        return once if int(once.sum()) < self.total_ns else np.zeros_like(once)

    @cached_property
    def cost(self) -> I64:
        """The same with all below."""
        return self.sum_below(self.own_cost)

    @cached_property
    def total_ns(self) -> int:
        """All of it."""
        return int(self.own_cost.sum())

    @cached_property
    def window_ns(self) -> int:
        """Σ over the devices from the first start of work to the last end; the cost of everything
        where no work has times."""
        windows = sum(device.report.timeline.total_ns for device in self.devices)
        return windows or self.total_ns

    def gain(self, ns: float, basis: str) -> Gain:
        """At most `ns`, which never is more than what the devices had."""
        most = max(0, min(round(ns), self.window_ns))
        return Gain(most, most / self.window_ns if self.window_ns else 0.0, basis)

    # ------------------------------------------------------------- GPU work --

    @cached_property
    def report(self) -> OpReport:
        """All GPU work by operators."""
        return op_report(self.trace, self.rules) if self._report is None else self._report

    @cached_property
    def devices(self) -> tuple[DeviceFacts, ...]:
        """Devices with work whose times are known."""
        places = work_places(self.trace)
        found: list[DeviceFacts] = []
        begin = 0
        for part in self.report.devices:
            here = slice(begin, begin + len(part.work.id))
            begin = here.stop
            start, end = part.work.start_ns, part.work.end_ns
            reached = np.maximum.accumulate(end)
            gap = np.zeros(len(start), np.int64)
            gap[1:] = np.maximum(start[1:] - reached[:-1], 0)
            before = gap > 0
            idle = IntervalSets(
                np.zeros(int(before.sum()), np.int32), start[before] - gap[before], start[before], 1
            )
            node = places.node[here]
            lane = np.append(self.report.host.lane, -1)[part.work.launch].astype(np.int32)
            found.append(
                DeviceFacts(part, node, self.place[node], places.in_graph[here], gap, idle, lane)
            )
        return tuple(found)

    def gap_own(self, longest_ns: int | None = None) -> I64:
        """Idle time right before the work of each row: in gaps up to a length, or in all."""
        total = np.zeros(len(self.tree.table), np.int64)
        for device in self.devices:
            kept = (device.row >= 0) & (device.gap_ns > 0) & ~device.in_graph
            if longest_ns is not None:
                kept &= device.gap_ns <= longest_ns
            np.add.at(total, device.row[kept], device.gap_ns[kept])
        return total

    @cached_property
    def labels(self) -> dict[int, str]:
        """What each device is called."""
        return {device.device: device.label for device in devices(self.trace)}

    @cached_property
    def hardware(self) -> dict[int, Hardware]:
        """By device."""
        return hardware(self.trace)

    def limits_of(self, device: str) -> Architecture | None:
        """What a device of this name can do at most; None where it is not known."""
        return self._architecture(device)

    def roofline_ns(self, device: DeviceReport) -> F64:
        """Least time of each row of the device's table of operators; NaN where it is not known."""
        table = device.exclusive
        limits = self.limits_of(device.name)
        least = [
            r.time_us * 1000
            if limits is not None and isinstance(r := roofline(f, limits), Roofline)
            else np.nan
            for f in table.figures
        ]
        return np.array([*least, np.nan])[table.figure]

    # ----------------------------------------------------------- host events --

    @cached_property
    def host_row(self) -> I32:
        """Context of each host event by id; -1 for none."""
        return self.place[host_nodes(self.trace)]

    @cached_property
    def _lane_devices(self) -> dict[int, tuple[int, ...]]:
        owned = process_devices(self.report.lanes)
        every = tuple(device.report.device for device in self.devices)
        return {
            lane.lane: owned.get(lane.process, ()) if lane.process is not None else every
            for lane in self.report.lanes
        }

    def events_of(self, rows: Mask) -> I32:
        """Host events in these contexts themselves, by id."""
        return np.flatnonzero(np.append(rows, False)[self.host_row]).astype(np.int32)

    def idle_within(self, events: I32, group: I32, groups: int, besides: I32 | None = None) -> I64:
        """Idle time, summed over the devices, while any of the events of a group ran on the thread
        that launched what ended the idle time: the other threads hold nothing up. `besides`: not
        while one of these events ran."""
        host = self.report.host
        start, length = host.start_ns[events], np.maximum(host.dur_ns[events], 0)
        lane = host.lane[events]
        lanes = len(self.report.lanes)
        ids, first = intern_rows([group, lane])
        place, of_group = lane[first].astype(np.int32), group[first]
        sets = IntervalSets(ids, start, start + length, len(first))
        found = np.zeros(groups, np.int64)
        for device in self.devices:
            before = device.gap_ns > 0
            end = device.report.work.start_ns[before]
            idle = IntervalSets(device.lane[before], end - device.gap_ns[before], end, lanes)
            if besides is not None and len(besides):
                begin = host.start_ns[besides]
                end = begin + np.maximum(host.dur_ns[besides], 0)
                idle = idle - IntervalSets(host.lane[besides], begin, end, lanes)
            np.add.at(found, of_group, sets.overlap(idle.take(place)))
        return found

    def idle_in_spans(self, lane: I32, start: I64, end: I64, group: I32, groups: int) -> I64:
        """Idle time while any of the spans of a group ran, on whatever thread of the process."""
        found = np.zeros(groups, np.int64)
        zeros = np.zeros(groups, np.int32)
        for device in self.devices:
            counted = np.where(self._serves(lane, device), group, -1).astype(np.int32)
            sets = IntervalSets(counted, start, end, groups)
            found += sets.overlap(device.idle.take(zeros))
        return found

    def _serves(self, lane: I32, device: DeviceFacts) -> Mask:
        """Threads of a process that works on the device."""
        number = device.report.device
        mine = [known for known, used in self._lane_devices.items() if number in used]
        found: Mask = np.isin(lane, mine)
        return found

    def gaps_after(self, events: I32, group: I32, groups: int) -> I64:
        """Idle time, summed over the devices, of the gaps in which events of a group end; of each
        gap no more than these events took: who had not waited were earlier by so much."""
        host = self.report.host
        found = np.zeros(groups, np.int64)
        length = np.maximum(host.dur_ns[events], 0)
        lanes, ends = host.lane[events], host.start_ns[events] + length
        for device in self.devices:
            idle = device.idle
            if not idle.count:
                continue
            at = np.searchsorted(idle.start, ends, side="right") - 1
            inside = (at >= 0) & (ends <= idle.end[at]) & self._serves(lanes, device)
            gap, took = at[inside], length[inside].astype(np.float64)
            waited = np.bincount(gap, took, minlength=idle.count)
            room = np.minimum((idle.end - idle.start).astype(np.float64), waited)
            part = np.divide(took, waited[gap], out=np.zeros(len(gap)), where=waited[gap] > 0)
            lost = np.bincount(group[inside], part * room[gap], minlength=groups)
            found += np.floor(lost).astype(np.int64)
        return found
