"""What the sheets of a report show, device by device."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ..ingest.model import GpuKind, HostKind
from ..queries.capture import devices as devices_of
from ..queries.lanes import lanes, processes
from ..queries.report_events import (
    Arguments,
    Host,
    ModuleNode,
    Work,
    arguments,
    context_names,
    host,
    module_gpu_ns,
    modules,
    stream_ids,
    work,
)
from ..queries.step_events import texts as texts_of
from .distinct import distinct
from .gpu_timeline import GpuTimeline, gpu_timeline
from .graph_capture import Grafted, graft
from .module_range import gpu_ns_within, modules_within
from .op_table import OpTable, launchers, op_table
from .overrun import clipped_ends
from .perf_table import PerfTable, Source, exclusive_table, instances_table
from .range_timeline import device_windows, timeline_within
from .report_rules import INFERENCE_APART

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.lanes import Lane, Process
    from ..queries.scope import TimeScope
    from ..queries.trace import Trace
    from .report_rules import Rules

    Mask = NDArray[np.bool_]

MOST_DEVICES: Final = 1_024
"""Each costs sheets of its own; files that are damaged or made up hold any number of them."""


@dataclass(frozen=True, eq=False)
class DeviceReport:
    """The work of one device. `ops` and the tables of performance are over `counted`, the rest
    over `work`."""

    device: int
    name: str
    """As the trace records it; empty where it does not."""
    recorded: Work
    """All of it, whatever the report is limited to."""
    windows: list[tuple[int, int]] | None
    """When the device is looked at; None: all the time."""
    work: Work
    """In a part of the trace: what was launched in it, whole."""
    launcher: NDArray[np.int32]
    """Of each event of `work`, as in `op_table.launchers`."""
    linked: Mask
    counted: NDArray[np.int64]
    """The events that the rules count: indexes into `work`."""
    timeline: GpuTimeline
    linked_timeline: GpuTimeline | None
    """Of the linked work alone; None where that is all there is, or where only it counts."""
    ops: OpTable
    source: Source

    @cached_property
    def exclusive(self) -> PerfTable:
        """Each piece of work but communication in one row, with what is computed and moved."""
        return exclusive_table(self.source)

    @cached_property
    def instances(self) -> PerfTable:
        """All operators with a model, those within others too: work may count several times."""
        return instances_table(self.source)


@dataclass(frozen=True, slots=True)
class OpReport:
    """All devices, and what their columns refer to."""

    devices: list[DeviceReport]
    host: Host
    arguments: Arguments
    texts: dict[int, str]
    """By `string.id`: names of work and of host events, and arguments."""
    lanes: list[Lane]
    processes: dict[int, Process]
    streams: dict[int, int]
    has_ops: bool
    """The trace records operators."""
    context_names: dict[int, str]
    """Of what tells the phase, step or module of the events within."""
    modules: list[ModuleNode]
    module_gpu_ns: dict[int, dict[int, int]]
    """GPU time of the work below each module, by device and path node."""
    device_count: int
    """Devices with work; of them only the first `MOST_DEVICES` are told."""
    grafted: Grafted | None = None
    """How the captures of graphs fit; None: none were given."""


def op_report(
    trace: Trace,
    rules: Rules,
    micro_idle_ns: int = 0,
    scope: TimeScope | None = None,
    *,
    frames: bool = False,
    capture: Trace | None = None,
) -> OpReport:
    """The work of each device by operators. Reads events.

    `scope`: of the work that was launched in it (without a known launch: that began in it); the
    timelines are those of its windows. `frames`: names of Python functions are kept too.
    `capture`: a trace of the capture of graphs, whose operators their kernels get."""
    all_work, of_host, of_args = work(trace), host(trace), arguments(trace)
    if rules.clip_overrun:
        all_work = replace(all_work, end_ns=clipped_ends(trace, all_work.id, all_work.end_ns))
    if capture is not None and rules.compat:
        rules = replace(rules, apart=INFERENCE_APART)
    is_op = of_host.kind == HostKind.OP
    used = np.zeros(len(of_host.kind), bool)
    for column in (all_work.op, all_work.launch):
        used[column[column >= 0]] = True
    used |= is_op | (of_host.kind == HostKind.ANNOTATION)
    if frames:
        used |= of_host.kind == HostKind.PYTHON
    ids = [all_work.name, of_host.name[used]]
    ids += [getattr(of_args, field.name) for field in fields(of_args)]
    texts = texts_of(trace, (int(i) for i in distinct(np.concatenate(ids)) if i >= 0))
    linked = _linked(all_work, of_host, texts, rules)
    contexts, grafted = context_names(trace), None
    if capture is not None:
        grafted = graft(all_work, of_host, of_args, texts, capture, frames=frames)
        all_work, of_host, of_args = grafted.work, grafted.host, grafted.arguments
        texts, contexts = grafted.texts, contexts | grafted.context_names
        is_op = of_host.kind == HostKind.OP
    if rules.linked_only and not rules.all_kernels:
        all_work, linked = _subset(all_work, linked), linked[linked]
    names = distinct(all_work.name[all_work.kind == GpuKind.KERNEL])
    comm_names = [int(i) for i in names if rules.is_communication(texts[int(i)])]
    every_lane = lanes(trace)
    chosen = np.ones(len(all_work.id), bool)
    if scope is not None:
        from ..queries.scope import inside  # brings the tree along

        launched = np.append(of_host.start_ns, 0)[all_work.launch]
        at_ns = np.where(all_work.launch >= 0, launched, all_work.start_ns)
        chosen = inside(trace, scope, all_work.lane, at_ns)
    labels = {device.device: device.name for device in devices_of(trace)}
    parts: list[DeviceReport] = []
    found_devices = distinct(all_work.device)
    told = found_devices[:MOST_DEVICES]
    ends = np.searchsorted(all_work.device, told, "right")
    begin = 0
    for device, end in zip(told.tolist(), ends.tolist(), strict=True):
        here, begin = slice(begin, end), end  # the work of a device is in one place
        on_device = _subset(all_work, here)
        comm = np.isin(on_device.name, comm_names) & (on_device.kind == GpuKind.KERNEL)
        source = Source(on_device, of_host, comm, of_args, texts, rules)
        windows = None if scope is None else device_windows(scope, every_lane, device)
        part = _Part(device, labels.get(device, ""), source, linked[here], chosen[here], windows)
        parts.append(_device(part, micro_idle_ns))
    found_modules = modules_within(trace, modules(trace), scope)
    whole = scope is None and not rules.clip_overrun
    return OpReport(
        parts,
        of_host,
        of_args,
        texts,
        every_lane,
        processes(trace),
        stream_ids(trace),
        bool(is_op.any()),
        contexts,
        found_modules,
        {
            part.device: module_gpu_ns(trace, part.device)
            if whole
            else gpu_ns_within(trace, found_modules, part.work)
            for part in parts
            if found_modules
        },
        len(found_devices),
        grafted,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A device, all of its work, and which of it is linked and looked at."""

    device: int
    name: str
    of: Source
    linked: Mask
    chosen: Mask
    windows: list[tuple[int, int]] | None


def _device(part: _Part, micro_idle_ns: int) -> DeviceReport:
    of, linked = part.of, part.linked
    told = linked | (not of.rules.linked_only)

    def timeline(rows: Mask) -> GpuTimeline:
        work, comm = _subset(part.of.work, rows), part.of.comm[rows]
        if part.windows is None:
            return gpu_timeline(work, comm, micro_idle_ns)
        return timeline_within(work, comm, micro_idle_ns, part.windows)

    only_linked = of.rules.linked_only or bool(linked[part.chosen].all())
    work, linked_here = of.work, linked
    if part.windows is not None:
        work, linked_here = _subset(of.work, part.chosen), linked[part.chosen]
        of = replace(of, work=work, comm=of.comm[part.chosen])
    counted = np.flatnonzero(linked_here | (not of.rules.linked_only))
    counted_work, counted_comm = _subset(work, counted), of.comm[counted]
    return DeviceReport(
        device=part.device,
        name=part.name,
        recorded=part.of.work,
        windows=part.windows,
        work=work,
        launcher=launchers(work, of.host, of.texts),
        linked=linked_here,
        counted=counted,
        timeline=timeline(told),
        linked_timeline=None if only_linked else timeline(linked),
        ops=op_table(counted_work, of.host, counted_comm, of.texts, of.rules),
        source=replace(of, work=counted_work, comm=counted_comm),
    )


def _linked(work: Work, of_host: Host, texts: dict[int, str], rules: Rules) -> Mask:
    known = (work.launch >= 0) | (work.op >= 0)
    # Some recordings keep arrows under numbers of their own: then none is known to lead anywhere.
    if not rules.flows or not work.flow.any():
        return known
    name = np.append(of_host.name, np.int32(-1))[work.launch]
    graphs = [i for i in distinct(name).tolist() if "graphlaunch" in texts.get(i, "").lower()]
    return known & (work.flow | np.isin(name, graphs))


def _subset(of: Work, rows: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Work:
    return Work(**{field.name: getattr(of, field.name)[rows] for field in fields(of)})
