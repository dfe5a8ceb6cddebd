"""GPU time by category, operator and unique arguments, with rooflines: the rows of a view.

Every piece of work but communication is in exactly one row, so each level sums to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .kernel_slots import kernel_slots, pieces
from .perf_models.call import parse_list
from .perf_summary import PerfSummary, summarise

if TYPE_CHECKING:
    from typing import Any

    from .architecture import Architecture
    from .op_report import DeviceReport, OpReport
    from .perf_figures import Figures
    from .roofline import Roofline

ARGUMENTS = ("shapes", "types", "strides", "concrete")


@dataclass(frozen=True, slots=True)
class UniqueCall:
    """An operator with one set of arguments. None: not known."""

    group: int
    """Number of the row: what `instances` and `kernels` ask by."""
    name: str
    category: str
    shapes: tuple[Any, ...]
    """By argument, as recorded, as in the next three; empty where not recorded."""
    types: tuple[Any, ...]
    strides: tuple[Any, ...]
    concrete: tuple[Any, ...]
    count: int
    gpu_ns: int
    """Union of the work of each instance, summed."""
    mean_ns: float
    min_ns: int
    max_ns: int
    example: int
    """`host_event.id` of the first instance; -1: its launch is not in the trace."""
    figures: Figures | None
    """What one call computes and moves; None without a model."""
    roofline: Roofline | None
    tflops: float | None
    """All operations over all time, 10^12/s."""
    tbytes: float | None
    """All bytes over all time, 10^12/s."""
    percent: float | None
    """Of the roofline: its least time over the time spent, of all instances together."""
    note: str

    @property
    def intensity(self) -> float | None:
        """Operations a byte: the x of a roofline plot; `tflops` is its y."""
        of = self.figures
        return of.flops / of.bytes if of and of.flops is not None and of.bytes else None


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of a category, with its calls, most GPU time first."""

    name: str
    category: str
    calls: Sequence[UniqueCall]
    count: int
    gpu_ns: int
    percent: float | None
    """Of the roofline, over the calls that have one."""


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of operators, most GPU time first."""

    name: str
    operators: Sequence[Operator]
    count: int
    gpu_ns: int
    percent: float | None


@dataclass(frozen=True, slots=True)
class Instance:
    """One call."""

    host: int
    """`host_event.id`; -1: its launch is not in the trace."""
    start_ns: int | None
    """On the host, as the next; None where that is not in the trace."""
    host_ns: int | None
    gpu_ns: int


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A kernel that calls of a row launch; the n-th launch of a name is a row of its own."""

    name: int
    """`string.id` of the full name, of the short one where that is all there is."""
    text: str
    count: int
    total_ns: int
    mean_ns: float


@dataclass(frozen=True, slots=True, eq=False)
class OpHierarchy:
    """Of one device."""

    categories: Sequence[Category]
    gpu_ns: int
    architecture: Architecture | None
    _report: OpReport
    _device: DeviceReport
    _summary: PerfSummary

    @property
    def calls(self) -> list[UniqueCall]:
        """All rows, most GPU time first."""
        found = [c for category in self.categories for op in category.operators for c in op.calls]
        return sorted(found, key=lambda call: call.group)

    def instances(self, call: UniqueCall) -> list[Instance]:
        """The calls of a row in the order of their work."""
        summary, table, host = self._summary, self._device.exclusive.table, self._report.host
        rows = summary.member[summary.groups.of_row == call.group]
        found: list[Instance] = []
        for row in rows.tolist():
            at = int(table.host[row])
            start, length = (host.start_ns[at], host.dur_ns[at]) if at >= 0 else (None, None)
            found.append(
                Instance(
                    at,
                    None if start is None else int(start),
                    None if length is None else int(length),
                    int(table.direct_ns[row]),
                )
            )
        return found

    def kernels(self, call: UniqueCall) -> list[KernelUse]:
        """What the calls of a row launch, in the order of the launches."""
        table = self._device.exclusive.table
        of_group = np.append(self._summary.groups.of_row == call.group, False)[table.row]
        row = np.where(of_group, table.row, -1).astype(np.int32)
        slots = kernel_slots(self._device.source.work, pieces(row), self._summary.groups)
        return [
            KernelUse(name, self._report.texts[name], count, total, mean)
            for name, count, total, mean in zip(
                slots.name.tolist(),
                slots.count.tolist(),
                slots.dur_ns.total.tolist(),
                slots.dur_ns.mean.tolist(),
                strict=True,
            )
        ]


def op_hierarchy(
    report: OpReport, device: DeviceReport, architecture: Architecture | None
) -> OpHierarchy:
    """The rows of a device. Costs what the sheets cost: call it from a worker."""
    perf = device.exclusive
    table = perf.table
    args = np.append(report.host.args, np.int32(-1))[table.host]
    lists = {f: np.append(getattr(report.arguments, f), np.int32(-1))[args] for f in ARGUMENTS}
    member = np.arange(len(table.host), dtype=np.int64)
    keys = [table.name, table.category, *lists.values(), perf.step]
    summary = summarise(perf, member, keys, report.host, architecture)
    calls: dict[str, dict[str, list[UniqueCall]]] = {}
    for group, row in enumerate(summary.row.tolist()):
        texts = {f: report.texts.get(int(column[row])) for f, column in lists.items()}
        name = table.names[int(table.name[row])]
        category = table.categories[int(table.category[row])]
        parsed = [parse_list(texts[f]) for f in ARGUMENTS]
        call = _call(summary, group, int(table.host[row]), name, category, parsed)
        calls.setdefault(category, {}).setdefault(name, []).append(call)
    categories = [
        _category(name, [_operator(of, name, found) for of, found in operators.items()])
        for name, operators in calls.items()
    ]
    return OpHierarchy(
        sorted(categories, key=lambda c: -c.gpu_ns),
        sum(c.gpu_ns for c in categories),
        architecture,
        report,
        device,
        summary,
    )


def _call(
    of: PerfSummary, group: int, host: int, name: str, category: str, parsed: list[tuple[Any, ...]]
) -> UniqueCall:
    time, count = of.kernel_ns, int(of.groups.count[group])
    total, line = int(time.total[group]), of.rooflines[group]
    shapes, types, strides, concrete = parsed
    return UniqueCall(
        group=group,
        name=name,
        category=category,
        shapes=shapes,
        types=types,
        strides=strides,
        concrete=concrete,
        count=count,
        gpu_ns=total,
        mean_ns=float(time.mean[group]),
        min_ns=int(time.low[group]),
        max_ns=int(time.high[group]),
        example=host,
        figures=of.figures[group],
        roofline=line,
        tflops=_known(float(of.tflops_total[group])),
        tbytes=_known(float(of.tbytes_total[group])),
        percent=100 * line.time_us * 1000 * count / total if line and total else None,
        note=of.notes[group],
    )


def _known(value: float) -> float | None:
    return None if value != value else value


def _percent(calls: list[UniqueCall]) -> float | None:
    """The least time of the calls with a roofline over the time spent in them."""
    told = [c for c in calls if c.roofline is not None and c.gpu_ns]
    spent = sum(c.gpu_ns for c in told)
    least = sum(c.roofline.time_us * 1000 * c.count for c in told if c.roofline is not None)
    return 100 * least / spent if spent else None


def _operator(name: str, category: str, calls: list[UniqueCall]) -> Operator:
    spent = sum(c.gpu_ns for c in calls)
    return Operator(name, category, calls, sum(c.count for c in calls), spent, _percent(calls))


def _category(name: str, operators: list[Operator]) -> Category:
    calls = [call for op in operators for call in op.calls]
    return Category(
        name,
        sorted(operators, key=lambda op: -op.gpu_ns),
        sum(op.count for op in operators),
        sum(op.gpu_ns for op in operators),
        _percent(calls),
    )
