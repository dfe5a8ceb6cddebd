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
from .op_table import OpTable, launchers, op_table
from .perf_table import PerfTable, Source, exclusive_table, instances_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.lanes import Lane, Process
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
    work: Work
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


def op_report(trace: Trace, rules: Rules, micro_idle_ns: int = 0) -> OpReport:
    """The work of each device by operators. Reads events."""
    all_work, of_host, of_args = work(trace), host(trace), arguments(trace)
    is_op = of_host.kind == HostKind.OP
    used = np.zeros(len(of_host.kind), bool)
    for column in (all_work.op, all_work.launch):
        used[column[column >= 0]] = True
    used |= is_op | (of_host.kind == HostKind.ANNOTATION)
    ids = [all_work.name, of_host.name[used]]
    ids += [getattr(of_args, field.name) for field in fields(of_args)]
    texts = texts_of(trace, (int(i) for i in distinct(np.concatenate(ids)) if i >= 0))
    linked = _linked(all_work, of_host, texts, rules)
    if rules.linked_only and not rules.all_kernels:
        all_work, linked = _subset(all_work, linked), linked[linked]
    names = distinct(all_work.name[all_work.kind == GpuKind.KERNEL])
    comm_names = [int(i) for i in names if rules.is_communication(texts[int(i)])]
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
        parts.append(_device(device, labels.get(device, ""), source, linked[here], micro_idle_ns))
    found_modules = modules(trace)
    return OpReport(
        parts,
        of_host,
        of_args,
        texts,
        lanes(trace),
        processes(trace),
        stream_ids(trace),
        bool(is_op.any()),
        context_names(trace),
        found_modules,
        {part.device: module_gpu_ns(trace, part.device) for part in parts if found_modules},
        len(found_devices),
    )


def _device(device: int, name: str, of: Source, linked: Mask, micro_idle_ns: int) -> DeviceReport:
    counted = np.flatnonzero(linked | (not of.rules.linked_only))
    part, part_comm = _subset(of.work, counted), of.comm[counted]
    return DeviceReport(
        device=device,
        name=name,
        work=of.work,
        launcher=launchers(of.work, of.host, of.texts),
        linked=linked,
        counted=counted,
        timeline=gpu_timeline(part, part_comm, micro_idle_ns),
        linked_timeline=None
        if of.rules.linked_only or linked.all()
        else gpu_timeline(_subset(of.work, linked), of.comm[linked], micro_idle_ns),
        ops=op_table(part, of.host, part_comm, of.texts, of.rules),
        source=replace(of, work=part, comm=part_comm),
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
