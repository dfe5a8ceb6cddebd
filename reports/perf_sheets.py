"""The sheets of what operators compute and move: all together, and by family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..analyzers.perf_summary import PerfSummary, families, parameter_sets, summarise
from .kernel_sheets import kernel_details
from .op_columns import argument_columns, ids, label, one_name, shares
from .overlap_columns import NAMES, overlap_columns, overlap_split, row_overlaps
from .perf_columns import (
    FAMILIES,
    added,
    bound,
    parameters,
    perf_params,
    rates,
    roofline,
    work,
)
from .sheet_context import ARGUMENTS, Context, as_us
from .sheets import Column
from .splits import KERNELS, MODULE, RECOMPUTE, split_columns, splits
from .stack_columns import stack_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.perf_table import PerfTable

_OURS: Final = frozenset({"Triton"})


def unified(context: Context) -> list[Column]:
    """Each piece of work but communication in one row."""
    perf = context.device.exclusive
    table = perf.table
    member = np.arange(len(table.host), dtype=np.int64)
    keys = [table.name, table.category]
    keys += [context.arguments(table.host, field) for _, field in ARGUMENTS]
    lane = context.lane(table.host)
    if context.options.rules.by_thread:
        keys.append(lane)
    # Calls with equal arguments differ where the serving step around them tells their lengths.
    if not context.options.tracelens:
        keys.append(perf.step)
    apart = splits(context, table.host, table.count)
    beside = row_overlaps(context, perf.below, table.direct_ns) if context.overlap else None
    apart += overlap_split(context, beside)
    found = _summary(context, perf, member, [*keys, *(s.ids for s in apart)])
    groups, first = found.groups, found.row
    kernel, host = found.kernel_ns, found.host_ns
    return [
        Column("name", [table.names[i] for i in table.name[first].tolist()]),
        *split_columns(apart, first, NAMES),
        Column("op category", [table.categories[i] for i in table.category[first].tolist()]),
        *split_columns(apart, first, MODULE),
        Column("process_name", one_name(groups, lane, context.process)),
        *label(context, len(first)),
        Column("thread_name", one_name(groups, lane, context.thread)),
        *argument_columns(context, table.host[first]),
        *split_columns(apart, first, KERNELS, RECOMPUTE),
        Column("ex_UID", ids(table.host[first])),
        Column("operation_count", groups.count.tolist()),
        Column("total_duration_us", as_us(found.host_total_ns), "µs"),
        Column("mean_duration_us", as_us(host.mean), "µs"),
        Column("std_duration_us", as_us(host.std), "µs"),
        *work(found, ""),
        *bound(context, found, ""),
        *rates("TB/s", found.tbytes, ("mean", "std")),
        *rates("TFLOPS/s", found.tflops, ("mean", "std")),
        Column("Kernel Time (µs)_mean", as_us(kernel.mean), "µs"),
        Column("Kernel Time (µs)_std", as_us(kernel.std), "µs"),
        Column("Kernel Time (µs)_sum", as_us(kernel.total), "µs"),
        Column("duration_us_median", as_us(host.median), "µs"),
        Column("duration_us_min", as_us(host.low), "µs"),
        Column("duration_us_max", as_us(host.high), "µs"),
        *rates("TB/s", found.tbytes, ("median", "min", "max")),
        *rates("TFLOPS/s", found.tflops, ("median", "min", "max")),
        *roofline(context, found),
        Column("Kernel Time (µs)_median", as_us(kernel.median), "µs"),
        Column("Kernel Time (µs)_min", as_us(kernel.low), "µs"),
        Column("Kernel Time (µs)_max", as_us(kernel.high), "µs"),
        *kernel_details(context, groups, perf.below),
        *overlap_columns(context, groups, beside, perf.below, member),
        Column("perf_params", [perf_params(f) for f in found.figures]),
        Column("has_perf_model", [f is not None for f in found.figures]),
        *stack_columns(context, table.host[first], perf.below, first),
        *shares(kernel.total),
        *added(context, found),
    ]


def family(context: Context, name: str) -> list[Column]:
    """The operators of one family by their parameters."""
    perf = _family_table(context)
    table = perf.table
    member = families(perf).get(name, np.zeros(0, np.int64))
    if context.options.tracelens:
        # A model that fails takes its operator out of the sheet.
        told = np.array([bool(f.params) for f in perf.figures] + [False])
        member = member[told[perf.figure[member]]]
    told_name = np.where(perf.forward >= 0, perf.forward, table.host)[member]
    name_id = np.append(context.report.host.name, np.int32(-1))[told_name]
    apart = splits(context, table.host, table.count)
    beside = row_overlaps(context, perf.below, table.direct_ns) if context.overlap else None
    apart += overlap_split(context, beside)
    below = _of_members(perf, member)
    keys = [name_id, parameter_sets(perf)[member], *(s.ids[member] for s in apart)]
    found = _summary(context, perf, member, keys)
    groups, first = found.groups, found.row
    host = np.where(perf.forward >= 0, perf.forward, table.host)[first].astype(np.int32)
    lane, kernel = context.lane(host), found.kernel_ns
    return [
        Column("name", [context.text(i) for i in name_id[groups.first].tolist()]),
        *split_columns(apart, first, NAMES, tail="_first"),
        *parameters(name, found),
        *split_columns(apart, first, MODULE, KERNELS, RECOMPUTE),
        *work(found, "_first"),
        *rates("TB/s", found.tbytes, ("mean", "median", "std", "min", "max")),
        *rates("TFLOPS/s", found.tflops, ("mean", "median", "std", "min", "max")),
        Column("process_name_first", [context.process(i) for i in lane.tolist()]),
        *label(context, len(first), "_first"),
        Column("thread_name_first", [context.thread(i) for i in lane.tolist()]),
        Column("Compute Spec", [f.spec if f else None for f in found.figures]),
        *roofline(context, found, with_bound=True),
        *kernel_details(context, groups, below, _DETAILS),
        *overlap_columns(context, groups, beside, below, member),
        *argument_columns(context, host, "_first"),
        *rates("Kernel Time (µs)", kernel, ("mean", "median", "std", "min", "max"), 1000),
        Column("Kernel Time (µs)_sum", as_us(kernel.total), "µs"),
        Column("name_count", groups.count.tolist()),
        Column("UID_first", ids(host)),
        *added(context, found),
    ]


_DETAILS: Final = ("kernel_details__summarize_kernel_stats", "trunc_kernel_details")


def _of_members(
    perf: PerfTable, member: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Pieces of the work of some rows, by their place among these."""
    place = np.full(len(perf.table.host), -1, np.int32)
    place[member] = np.arange(len(member), dtype=np.int32)
    rows, pieces = perf.below
    kept = place[rows] >= 0
    return place[rows][kept], pieces[kept]


def family_names(context: Context) -> list[str]:
    """The families that this device has, those with a fixed place first."""
    found = families(_family_table(context))
    known = [name for name in FAMILIES if name in found]
    return [n for n in [*known, *sorted(found.keys() - FAMILIES.keys())]
            if not (context.options.tracelens and n in _OURS)]  # fmt: skip


def architecture_text(context: Context) -> str:
    """What the rooflines of a device rest on, and why there are none."""
    device, found = context.device, context.architecture
    label = f"device {device.device}"
    if found is None:
        name = device.name or "its name is not recorded"
        return f"{label}: not known ({name}); no rooflines. --arch names one"
    chosen = context.options.architecture is not None
    why = "asked for" if chosen else f"by the name {device.name}"
    source = f"; {found.source}" if found.source else ""
    return f"{label}: {found.name}, {why}; {found.bandwidth_gbps:g} GB/s{source}"


def _family_table(context: Context) -> PerfTable:
    every = context.options.rules.all_instances
    return context.device.instances if every else context.device.exclusive


def _summary(
    context: Context,
    perf: PerfTable,
    member: NDArray[np.int64],
    keys: list[NDArray[np.int32]],
) -> PerfSummary:
    architecture = context.architecture
    return summarise(
        perf, member, keys, context.report.host, architecture, compat=context.options.rules.compat
    )
