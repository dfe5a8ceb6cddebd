"""The sheets of a report: names and units of columns as teams exchange them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ..analyzers.kernel_slots import kernel_slots
from ..analyzers.kernel_table import histogram, kernel_groups, parent_categories
from ..analyzers.op_groups import Groups, group_rows, spread, sums
from ..native import intern_rows
from .sheets import Column, Sheet, stacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.gpu_timeline import GpuTimeline
    from ..analyzers.op_report import DeviceReport, OpReport
    from ..analyzers.report_rules import Rules

_NO_OPS: Final = "the trace records no operators; torch.profiler does."
_NO_WORK: Final = "the trace holds no GPU events: none were recorded, or only their sums."


@dataclass(frozen=True, slots=True)
class SheetOptions:
    """What the sheets leave open."""

    rules: Rules
    tracelens: bool = False
    """Leave out the columns that TraceLens does not have."""
    micro_idle_ns: int = 0
    """Tell gaps shorter than this apart; 0: do not."""
    short_ns: int = 10_000
    """Kernels shorter than this are short."""


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """One device of a report."""

    report: OpReport
    device: DeviceReport
    options: SheetOptions

    def text(self, string: int) -> str | None:
        return None if string < 0 else self.report.texts[string]

    @cache  # noqa: B019 (a context lives as long as its report)
    def literal(self, string: int) -> str | None:
        """Arguments as a Python literal: nested tuples."""
        text = self.text(string)
        return None if text is None else repr(_tuples(json.loads(text)))

    def arguments(self, launcher: NDArray[np.int32], field: str) -> NDArray[np.int32]:
        """`string.id` of an argument list by launcher, -1 where it is missing."""
        args = np.append(self.report.host.args, np.int32(-1))[launcher]
        return np.append(getattr(self.report.arguments, field), np.int32(-1))[args]

    def lane(self, launcher: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.append(self.report.host.lane, np.int32(-1))[launcher]

    def thread(self, lane: int) -> str | None:
        return None if lane < 0 else self.report.lanes[lane].name

    def process(self, lane: int) -> str | None:
        process = None if lane < 0 else self.report.lanes[lane].process
        return None if process is None else self.report.processes[process].name


def _tuples(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return tuple(map(_tuples, cast("list[object]", value)))


_ARGUMENTS: Final = (
    ("Input Dims", "shapes"),
    ("Input type", "types"),
    ("Input Strides", "strides"),
    ("Concrete Inputs", "concrete"),
)


def _us(values: NDArray[Any]) -> list[float | None]:
    """Microseconds of ns; NaN is blank."""
    return [None if v != v else v / 1000 for v in values.tolist()]


def _ms(values: NDArray[Any]) -> list[float]:
    return [v / 1_000_000 for v in values.tolist()]


def _percent(values: NDArray[np.int64], whole: int) -> list[float | None]:
    return [100 * v / whole if whole else None for v in values.tolist()]


def _shares(total: NDArray[np.int64]) -> list[Column]:
    whole = int(total.sum())
    return [
        Column("Percentage (%)", _percent(total, whole), "%"),
        Column("Cumulative Percentage (%)", _percent(np.cumsum(total), whole), "%"),
    ]


def _timeline(context: Context) -> list[Column]:
    device = context.device
    split = context.options.micro_idle_ns > 0

    def rows(times: GpuTimeline) -> dict[str, int]:
        idle = (
            {"micro_idle_time": times.micro_idle_ns, "macro_idle_time": times.macro_idle_ns}
            if split
            else {"idle_time": times.idle_ns}
        )
        return {
            "computation_time": times.computation_ns,
            "exposed_comm_time": times.exposed_comm_ns,
            "exposed_memcpy_time": times.exposed_memcpy_ns,
            "busy_time": times.busy_ns,
            **idle,
            "total_time": times.total_ns,
            "total_comm_time": times.comm_ns,
            "total_memcpy_time": times.memcpy_ns,
        }

    def columns(times: GpuTimeline, word: str) -> list[Column]:
        values = np.array(list(rows(times).values()), np.int64)
        ours = bool(word)
        return [
            Column(f"{word}time ms", _ms(values), "ms", ours),
            Column(f"{word}percent", _percent(values, times.total_ns), "%", ours),
        ]

    found = [Column("type", list(rows(device.timeline))), *columns(device.timeline, "")]
    if device.linked_timeline is not None:
        found += columns(device.linked_timeline, "linked ")
    return found


def _ops(context: Context) -> list[Column]:
    ops, host = context.device.ops, context.report.host
    lane = context.lane(ops.host).tolist()
    sequence = np.append(host.sequence, -1)[ops.host].tolist()
    known = ops.host >= 0
    return [
        Column("name", [ops.names[i] for i in ops.name.tolist()]),
        Column("op category", [ops.categories[i] for i in ops.category.tolist()]),
        Column("UID", _ids(ops.host)),
        Column("total_direct_kernel_time", _us(ops.direct_ns), "µs"),
        Column("total_subtree_kernel_time", _us(ops.subtree_ns), "µs"),
        Column("direct_kernel_count", ops.count.tolist()),
        *_argument_columns(context, ops.host),
        Column("process_name", [context.process(i) for i in lane]),
        *_label(context, len(lane)),
        Column("thread_name", [context.thread(i) for i in lane]),
        Column("ts_ns", _known(np.append(host.start_ns, 0)[ops.host], known), "ns", True),
        Column(
            "cpu_dur_us",
            [
                v if v is None else v / 1000
                for v in _known(np.append(host.dur_ns, 0)[ops.host], known)
            ],
            "µs",
            True,
        ),
        Column("sequence_number", [None if i < 0 else i for i in sequence], ours=True),
    ]


def _known(values: NDArray[np.int64], known: NDArray[np.bool_]) -> list[Any]:
    return [v if k else None for v, k in zip(values.tolist(), known.tolist(), strict=True)]


def _ids(ids: NDArray[np.int32]) -> list[int | None]:
    return [None if i < 0 else i for i in ids.tolist()]


def _argument_columns(context: Context, launcher: NDArray[np.int32]) -> list[Column]:
    return [
        Column(name, [context.literal(i) for i in context.arguments(launcher, field).tolist()])
        for name, field in _ARGUMENTS
    ]


def _label(context: Context, rows: int) -> list[Column]:
    """Labels of processes are not read: the column keeps its place for what expects it."""
    return [Column("process_label", [None] * rows)] if context.options.tracelens else []


def _by_category(context: Context) -> list[Column]:
    ops = context.device.ops
    groups = group_rows([ops.category], ops.direct_ns)
    return [
        Column("op category", [ops.categories[i] for i in ops.category[groups.first].tolist()]),
        Column("Count", groups.count.tolist()),
        Column("total_direct_kernel_time_ms", _ms(groups.total), "ms"),
        *_shares(groups.total),
    ]


def _by_name(context: Context) -> list[Column]:
    ops = context.device.ops
    groups = group_rows([ops.name], ops.direct_ns)
    below = sums(groups.of_row, ops.subtree_ns, len(groups.first))
    categories: list[set[str]] = [set() for _ in range(len(groups.first))]
    for group, number in _pairs(groups.of_row, ops.category):
        categories[group].add(ops.categories[number])
    return [
        Column("name", [ops.names[i] for i in ops.name[groups.first].tolist()]),
        Column("total_direct_kernel_time_sum", _us(groups.total), "µs"),
        Column("total_subtree_kernel_time_sum", _us(below), "µs"),
        Column("total_direct_kernel_time_ms", _ms(groups.total), "ms"),
        Column("total_subtree_kernel_time_ms", _ms(below), "ms"),
        Column("Count", groups.count.tolist()),
        Column("Categories", [repr(sorted(found)) for found in categories]),
        *_shares(groups.total),
    ]


def _unique_args(context: Context) -> list[Column]:
    ops = context.device.ops
    keys = [ops.name, ops.category]
    keys += [context.arguments(ops.host, field) for _, field in _ARGUMENTS]
    lane = context.lane(ops.host)
    if context.options.rules.by_thread:
        keys.append(lane)
    groups = group_rows(keys, ops.direct_ns)
    first = groups.first
    direct, below = spread(groups, ops.direct_ns), spread(groups, ops.subtree_ns)
    statistics = [
        Column(f"total_{scope}_kernel_time_{word}", _us(getattr(values, field)), "µs")
        for word, field in (
            ("mean", "mean"),
            ("median", "median"),
            ("std", "std"),
            ("min", "low"),
            ("max", "high"),
            ("sum", "total"),
        )
        for scope, values in (("direct", direct), ("subtree", below))
    ]
    return [
        Column("name", [ops.names[i] for i in ops.name[first].tolist()]),
        Column("op category", [ops.categories[i] for i in ops.category[first].tolist()]),
        Column("process_name", _one(groups, lane, context.process)),
        *_label(context, len(first)),
        Column("thread_name", _one(groups, lane, context.thread)),
        *_argument_columns(context, ops.host[first]),
        Column("operation_count", groups.count.tolist()),
        *statistics,
        Column("ex_UID", _ids(ops.host[first])),
        *_kernel_details(context, groups),
        *_shares(groups.total),
    ]


_SHORT_NAME: Final = 64


def _kernel_details(context: Context, groups: Groups) -> list[Column]:
    """The kernels of each group in the order of their launches, as literals: lists of dicts."""
    device, report = context.device, context.report
    row = np.full(len(device.work.id), -1, np.int32)
    row[device.counted] = device.ops.row
    slots = kernel_slots(device.work, row, groups)
    dur = slots.dur_ns
    whole: list[list[dict[str, Any]]] = [[] for _ in range(len(groups.first))]
    short: list[list[dict[str, Any]]] = [[] for _ in range(len(groups.first))]
    group: list[int] = slots.group.tolist()
    names: list[int] = slots.name.tolist()
    lanes: list[int] = slots.lane.tolist()
    counts: list[int] = slots.count.tolist()
    times = zip(
        *map(_us, (dur.total, dur.mean, dur.median, dur.std, dur.low, dur.high)), strict=True
    )
    for at, of_name, lane, count, (total, mean, median, std, low, high) in zip(
        group, names, lanes, counts, times, strict=True
    ):
        name, stream = report.texts[of_name], report.streams.get(lane)
        whole[at].append(
            {
                "name": name,
                "stream": stream,
                "count": count,
                "total_duration_us": total,
                "mean_duration_us": mean,
                "median_duration_us": median,
                "std_dev_duration_us": std,
                "min_duration_us": low,
                "max_duration_us": high,
            }
        )
        cut = name if len(name) <= _SHORT_NAME else name[:_SHORT_NAME] + "..."
        short[at].append({"name": cut, "stream": stream, "mean_duration_us": round(mean or 0.0, 2)})
    return [
        Column("kernel_details_summary", [repr(found) for found in whole]),
        Column("trunc_kernel_details", [repr(found) for found in short]),
    ]


def _pairs(group: NDArray[np.int32], other: NDArray[np.int32]) -> list[tuple[int, int]]:
    """The distinct pairs of two columns."""
    _, first = intern_rows([group, other])
    return list(zip(group[first].tolist(), other[first].tolist(), strict=True))


def _one(
    groups: Groups, lane: NDArray[np.int32], name: Callable[[int], str | None]
) -> list[str | None]:
    """The one name of the lanes of each group, or how many there are."""
    found: list[set[str | None]] = [set() for _ in range(len(groups.first))]
    for group, of_lane in _pairs(groups.of_row, lane):
        found[group].add(name(of_lane))
    return [names.pop() if len(names) == 1 else f"({len(names)})" for names in found]


def _kernels(context: Context) -> list[Column]:
    device, report = context.device, context.report
    work, ops = device.work, device.ops
    parent = device.launcher
    op_category = np.full(len(work.id), -1, np.int32)
    op_category[device.counted] = np.append(ops.category, np.int32(-1))[ops.row]
    category, names = parent_categories(
        work, parent, op_category, ops.categories, report.host, report.texts
    )
    parent_name = np.append(report.host.name, np.int32(-1))[parent]
    found = kernel_groups(work, [category, parent_name, work.name, work.lane])
    at, dur = found.event, found.dur_ns
    blank = context.options.rules.linked_only
    parents: list[str | None] = [context.text(i) for i in parent_name[at].tolist()]
    categories: list[str] = [names[i] for i in category[at].tolist()]
    total = device.timeline.total_ns
    columns = [
        Column(
            "Parent op category",
            [None if blank and p is None else c for c, p in zip(categories, parents, strict=True)],
        )
    ]
    if report.has_ops:
        columns.append(Column("Parent cpu_op", parents))
    return [
        *columns,
        Column("Kernel name", [context.text(i) for i in work.name[at].tolist()]),
        Column("Kernel stream", [report.streams.get(i) for i in work.lane[at].tolist()]),
        Column("Kernel duration (µs)_sum", _us(dur.total), "µs"),
        Column("Kernel duration (µs)_count", found.groups.count.tolist()),
        Column("Kernel duration (µs)_mean", _us(dur.mean), "µs"),
        Column("Kernel duration (µs)_min", _us(dur.low), "µs"),
        Column("Kernel duration (µs)_max", _us(dur.high), "µs"),
        Column("Percent of kernels time (%)", _percent(dur.total, int(dur.total.sum())), "%"),
        Column("Percent of total time (%)", _percent(dur.total, total), "%"),
        Column("Kernel duration (µs)_median", _us(dur.median), "µs", True),
        Column("Kernel duration (µs)_std", _us(dur.std), "µs", True),
    ]


def _short_histogram(context: Context) -> list[Column]:
    edges, counts = histogram(context.device.work, context.options.short_ns)
    return [
        Column("bin_start", edges[:-1].tolist(), "µs"),
        Column("bin_end", edges[1:].tolist(), "µs"),
        Column("count", counts.tolist()),
    ]


def _short_kernels(context: Context) -> list[Column]:
    device, report = context.device, context.report
    work, parent = device.work, device.launcher
    shapes, strides, concrete = (
        context.arguments(parent, field) for field in ("shapes", "strides", "concrete")
    )
    parent_name = np.append(report.host.name, np.int32(-1))[parent]
    keys = [work.name, parent_name, shapes, strides, concrete]
    found = kernel_groups(work, keys if report.has_ops else keys[:1], context.options.short_ns)
    kept = np.arange(len(found.event))
    if report.has_ops and context.options.rules.shapes_only:
        told = (shapes >= 0) & (strides >= 0) & (concrete >= 0)
        kept = kept[told[found.event]]
    at, total = found.event[kept], found.dur_ns.total[kept]
    own = [
        Column("Parent cpu_op", [context.text(i) for i in parent_name[at].tolist()]),
        Column("Input dims", [context.literal(i) for i in shapes[at].tolist()]),
        Column("Input strides", [context.literal(i) for i in strides[at].tolist()]),
        Column("Concrete Inputs", [context.literal(i) for i in concrete[at].tolist()]),
    ]
    return [
        *(own if report.has_ops else []),
        Column("Kernel name", [context.text(i) for i in work.name[at].tolist()]),
        Column("Short Kernel duration (µs) sum", _us(total), "µs"),
        Column("Short Kernel count", found.groups.count[kept].tolist()),
        Column("Short Kernel duration (µs) mean", _us(found.dur_ns.mean[kept]), "µs"),
        Column(
            "Short Kernel duration (µs) percent of total time",
            _percent(total, device.timeline.total_ns),
            "%",
        ),
    ]


_SHEETS: Final[dict[str, Callable[[Context], list[Column]]]] = {
    "gpu_timeline": _timeline,
    "ops_summary_by_category": _by_category,
    "ops_summary": _by_name,
    "ops_unique_args": _unique_args,
    "ops": _ops,
    "kernel_summary": _kernels,
    "short_kernel_histogram": _short_histogram,
    "short_kernels_summary": _short_kernels,
}
_NEED_OPS: Final = frozenset({"ops_summary_by_category", "ops_summary", "ops_unique_args", "ops"})
SHEET_NAMES: Final = tuple(_SHEETS)


def missing_sheets(report: OpReport, names: tuple[str, ...]) -> dict[str, str]:
    """Why sheets cannot be made of this trace, by name."""
    if not report.devices:
        return dict.fromkeys(names, _NO_WORK)
    return {name: _NO_OPS for name in names if name in _NEED_OPS and not report.has_ops}


def sheet(report: OpReport, name: str, options: SheetOptions) -> Sheet:
    """A sheet that is not missing; of several devices one below the other, with a column that
    tells them apart."""
    parts: list[Sheet] = []
    for device in report.devices:
        columns = _SHEETS[name](Context(report, device, options))
        if options.tracelens:
            columns = [column for column in columns if not column.ours]
        part = Sheet(name, columns)
        if len(report.devices) > 1:
            mark = Column("device", [device.device] * len(part), ours=True)
            part = replace(part, columns=[*columns, mark])
        parts.append(part)
    return parts[0] if len(parts) == 1 else stacked(parts)
