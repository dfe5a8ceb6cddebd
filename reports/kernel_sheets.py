"""The sheets of kernels, and the kernels of an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..analyzers.kernel_slots import kernel_slots
from ..analyzers.kernel_table import histogram, kernel_groups, parent_categories
from .sheet_context import Context, as_percent, as_us
from .sheets import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.op_groups import Groups


def kernels(context: Context) -> list[Column]:
    """By operator, name and stream, most time first."""
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
    blank = context.options.rules.all_kernels
    parents: list[str | None] = [context.text(i) for i in parent_name[at].tolist()]
    categories: list[str] = [names[i] for i in category[at].tolist()]
    total = device.timeline.total_ns
    if blank and "D36" not in context.options.rules.compat and device.windows is None and len(at):
        total = int(work.end_ns.max() - work.start_ns.min())  # of all, as the kernels listed are
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
        Column("Kernel duration (µs)_sum", as_us(dur.total), "µs"),
        Column("Kernel duration (µs)_count", found.groups.count.tolist()),
        Column("Kernel duration (µs)_mean", as_us(dur.mean), "µs"),
        Column("Kernel duration (µs)_min", as_us(dur.low), "µs"),
        Column("Kernel duration (µs)_max", as_us(dur.high), "µs"),
        Column("Percent of kernels time (%)", as_percent(dur.total, int(dur.total.sum())), "%"),
        Column("Percent of total time (%)", as_percent(dur.total, total), "%"),
        Column("Kernel duration (µs)_median", as_us(dur.median), "µs", True),
        Column("Kernel duration (µs)_std", as_us(dur.std), "µs", True),
    ]


def short_histogram(context: Context) -> list[Column]:
    """Durations of the short kernels, in equal bins."""
    edges, counts = histogram(context.device.work, context.options.short_ns)
    return [
        Column("bin_start", edges[:-1].tolist(), "µs"),
        Column("bin_end", edges[1:].tolist(), "µs"),
        Column("count", counts.tolist()),
    ]


def short_kernels(context: Context) -> list[Column]:
    """The short kernels by operator, arguments and name, most time first."""
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
    kept = kept[: context.options.top_short]
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
        Column("Short Kernel duration (µs) sum", as_us(total), "µs"),
        Column("Short Kernel count", found.groups.count[kept].tolist()),
        Column("Short Kernel duration (µs) mean", as_us(found.dur_ns.mean[kept]), "µs"),
        Column(
            "Short Kernel duration (µs) percent of total time",
            as_percent(total, device.timeline.total_ns),
            "%",
        ),
    ]


_SHORT_NAME: Final = 64


DETAILS: Final = ("kernel_details_summary", "trunc_kernel_details")


def kernel_details(
    context: Context,
    groups: Groups,
    below: tuple[NDArray[np.int32], NDArray[np.int64]],
    titles: tuple[str, str] = DETAILS,
) -> list[Column]:
    """The kernels of each group in the order of their launches, as literals: lists of dicts.

    `below`: pairs of a row that the groups are over and a counted piece of its work.
    """
    report = context.report
    theirs = "D38" in context.options.rules.compat
    slots = kernel_slots(context.device.source.work, below, groups, by_position=theirs)
    dur = slots.dur_ns
    std = np.nan_to_num(dur.std) * np.sqrt(1 - 1 / slots.count) if theirs else dur.std
    whole: list[list[dict[str, Any]]] = [[] for _ in range(len(groups.first))]
    short: list[list[dict[str, Any]]] = [[] for _ in range(len(groups.first))]
    group: list[int] = slots.group.tolist()
    names: list[int] = slots.name.tolist()
    lanes: list[int] = slots.lane.tolist()
    counts: list[int] = slots.count.tolist()
    times = zip(*map(as_us, (dur.total, dur.mean, dur.median, std, dur.low, dur.high)), strict=True)
    for at, of_name, lane, count, (total, mean, median, deviation, low, high) in zip(
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
                "std_dev_duration_us": deviation,
                "min_duration_us": low,
                "max_duration_us": high,
            }
        )
        cut = name if len(name) <= _SHORT_NAME else name[:_SHORT_NAME] + "..."
        short[at].append({"name": cut, "stream": stream, "mean_duration_us": round(mean or 0.0, 2)})
    return [
        Column(titles[0], [repr(found) for found in whole]),
        Column(titles[1], [repr(found) for found in short]),
    ]
