"""What the sheets of a report show, device by device."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import GpuKind, HostKind
from ..queries.lanes import lanes, processes
from ..queries.report_events import Arguments, Host, Work, arguments, host, stream_ids, work
from ..queries.step_events import texts as texts_of
from .gpu_timeline import GpuTimeline, gpu_timeline
from .op_table import OpTable, launchers, op_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.lanes import Lane, Process
    from ..queries.trace import Trace
    from .report_rules import Rules

    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """The work of one device. `ops` is over `counted`, the rest over `work`."""

    device: int
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


def op_report(trace: Trace, rules: Rules, micro_idle_ns: int = 0) -> OpReport:
    """The work of each device by operators. Reads events."""
    all_work, of_host, of_args = work(trace), host(trace), arguments(trace)
    if rules.linked_only and not rules.all_kernels:
        all_work = _subset(all_work, _linked(all_work))
    is_op = of_host.kind == HostKind.OP
    used = np.zeros(len(of_host.kind), bool)
    for column in (all_work.op, all_work.launch):
        used[column[column >= 0]] = True
    ids = [all_work.name, of_host.name[used | is_op]]
    ids += [getattr(of_args, field.name) for field in fields(of_args)]
    texts = texts_of(trace, (int(i) for i in np.unique(np.concatenate(ids)) if i >= 0))
    names = np.unique(all_work.name[all_work.kind == GpuKind.KERNEL])
    comm_names = [int(i) for i in names if rules.is_communication(texts[int(i)])]
    devices = [
        _device(
            int(device),
            _subset(all_work, all_work.device == device),
            of_host,
            texts,
            comm_names,
            rules,
            micro_idle_ns,
        )
        for device in np.unique(all_work.device)
    ]
    return OpReport(
        devices,
        of_host,
        of_args,
        texts,
        lanes(trace),
        processes(trace),
        stream_ids(trace),
        bool(is_op.any()),
    )


def _device(
    device: int,
    on_device: Work,
    of_host: Host,
    texts: dict[int, str],
    comm_names: list[int],
    rules: Rules,
    micro_idle_ns: int,
) -> DeviceReport:
    comm = np.isin(on_device.name, comm_names) & (on_device.kind == GpuKind.KERNEL)
    linked = _linked(on_device)
    counted = np.flatnonzero(linked | (not rules.linked_only))
    part, part_comm = _subset(on_device, counted), comm[counted]
    return DeviceReport(
        device=device,
        work=on_device,
        launcher=launchers(on_device, of_host, texts),
        linked=linked,
        counted=counted,
        timeline=gpu_timeline(part, part_comm, micro_idle_ns),
        linked_timeline=None
        if rules.linked_only or linked.all()
        else gpu_timeline(_subset(on_device, linked), comm[linked], micro_idle_ns),
        ops=op_table(part, of_host, part_comm, texts, rules),
    )


def _linked(work: Work) -> Mask:
    return (work.launch >= 0) | (work.op >= 0)


def _subset(of: Work, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Work:
    return Work(**{field.name: getattr(of, field.name)[rows] for field in fields(of)})
