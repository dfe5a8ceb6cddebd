"""The sheets of a report: names and units of columns as teams exchange them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..analyzers.gpu_timeline import recompute_times
from ..analyzers.module_table import module_times
from ..analyzers.op_groups import group_rows, sums
from ..analyzers.op_phase import Phase, contexts
from .kernel_sheets import kernels, short_histogram, short_kernels
from .op_columns import argument_columns, ids, label, pairs, shares
from .perf_columns import FAMILIES
from .perf_sheets import family, family_names, unified
from .sheet_context import Context, SheetOptions, as_ms, as_percent, as_us
from .sheets import Column, Sheet, stacked
from .splits import KERNELS, MODULE, RECOMPUTE, module_name, split_columns, splits
from .unique_args import unique_args

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.gpu_timeline import GpuTimeline
    from ..analyzers.op_report import OpReport

_NO_OPS: Final = "the trace records no operators; torch.profiler does."
_NO_MODULES: Final = (
    "the trace records no calls of modules; torch.profiler does with with_stack=True."
)
_NO_FAMILY: Final = "no operator of this family has a performance model in this trace."
_NO_WORK: Final = "the trace holds no GPU events: none were recorded, or only their sums."


def timeline_columns(times: GpuTimeline, word: str = "", *, split: bool) -> list[Column]:
    """Classes, their times and shares; `split`: tell short pauses from long ones."""
    idle = (
        {"micro_idle_time": times.micro_idle_ns, "macro_idle_time": times.macro_idle_ns}
        if split
        else {"idle_time": times.idle_ns}
    )
    rows = {
        "computation_time": times.computation_ns,
        "exposed_comm_time": times.exposed_comm_ns,
        "exposed_memcpy_time": times.exposed_memcpy_ns,
        "busy_time": times.busy_ns,
        **idle,
        "total_time": times.total_ns,
        "total_comm_time": times.comm_ns,
        "total_memcpy_time": times.memcpy_ns,
    }
    values = np.array(list(rows.values()), np.int64)
    ours = bool(word)
    return [
        Column("type", list(rows)),
        Column(f"{word}time ms", as_ms(values), "ms", ours),
        Column(f"{word}percent", as_percent(values, times.total_ns), "%", ours),
    ]


def _timeline(context: Context) -> list[Column]:
    device = context.device
    split = context.options.micro_idle_ns > 0
    found = timeline_columns(device.timeline, split=split)
    if device.linked_timeline is not None:
        found += timeline_columns(device.linked_timeline, "linked ", split=split)[1:]
    if context.options.recompute:
        found.append(_recompute(context, found[0]))
    return found


def _recompute(context: Context, classes: Column) -> Column:
    """What of each class only recomputation explains; idle time and the total are of neither."""
    device, report = context.device, context.report
    launcher = device.launcher[device.counted]
    of = contexts(report.host, launcher, report.context_names)
    source = device.source
    part = recompute_times(source.work, source.comm, of.phase == Phase.RECOMPUTE)
    values = {
        "computation_time": part.computation_ns,
        "exposed_comm_time": part.exposed_comm_ns,
        "exposed_memcpy_time": part.exposed_memcpy_ns,
        "busy_time": part.busy_ns,
        "total_comm_time": part.comm_ns,
        "total_memcpy_time": part.memcpy_ns,
    }
    told = [values.get(name) for name in classes.values]
    return Column("recompute ms", [None if v is None else v / 1e6 for v in told], "ms", True)


def _ops(context: Context) -> list[Column]:
    ops, host = context.device.ops, context.report.host
    lane = context.lane(ops.host).tolist()
    sequence = np.append(host.sequence, -1)[ops.host].tolist()
    known = ops.host >= 0
    names = context.report.context_names
    of = contexts(host, ops.host, names)
    return [
        Column("name", [ops.names[i] for i in ops.name.tolist()]),
        Column("op category", [ops.categories[i] for i in ops.category.tolist()]),
        Column("UID", ids(ops.host)),
        Column("total_direct_kernel_time", as_us(ops.direct_ns), "µs"),
        Column("total_subtree_kernel_time", as_us(ops.subtree_ns), "µs"),
        Column("direct_kernel_count", ops.count.tolist()),
        *argument_columns(context, ops.host),
        Column("process_name", [context.process(i) for i in lane]),
        *label(context, len(lane)),
        Column("thread_name", [context.thread(i) for i in lane]),
        *split_columns(splits(context, ops.host, ops.count), np.arange(len(lane)), RECOMPUTE),
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
        Column("phase", [Phase(code).name.lower() for code in of.phase.tolist()], "", True),
        Column("step", _named(of.step, names), "", True),
        Column("parent_module", [module_name(name) for name in _named(of.module, names)], "", True),
        Column("sequence_number", [None if i < 0 else i for i in sequence], ours=True),
    ]


def _named(of: NDArray[np.int32], names: dict[int, str]) -> list[str | None]:
    return [names.get(i) for i in of.tolist()]


def _modules(context: Context) -> list[Column]:
    report = context.report
    found = module_times(report.modules, report.module_gpu_ns.get(context.device.device, {}))
    own = np.array([m.self_gpu_ns for m in found], np.int64)
    return [
        Column("module", [m.path[-1] for m in found]),
        Column("module path", ["/".join(m.path) for m in found]),
        Column("depth", [len(m.path) - 1 for m in found]),
        Column("Count", [m.calls for m in found]),
        Column("host_time_us", [m.host_ns / 1000 for m in found], "µs"),
        Column("gpu_time_us", [m.gpu_ns / 1000 for m in found], "µs"),
        Column("self_gpu_time_us", [m.self_gpu_ns / 1000 for m in found], "µs"),
        Column("Percentage (%)", as_percent(own, int(own.sum())), "%"),
    ]


def _known(values: NDArray[np.int64], known: NDArray[np.bool_]) -> list[Any]:
    return [v if k else None for v, k in zip(values.tolist(), known.tolist(), strict=True)]


def _by_category(context: Context) -> list[Column]:
    ops = context.device.ops
    apart = splits(context, ops.host, ops.count)
    groups = group_rows([ops.category, *(s.ids for s in apart if s.name != KERNELS)], ops.direct_ns)
    return [
        Column("op category", [ops.categories[i] for i in ops.category[groups.first].tolist()]),
        *split_columns(apart, groups.first, MODULE, RECOMPUTE),
        Column("Count", groups.count.tolist()),
        Column("total_direct_kernel_time_ms", as_ms(groups.total), "ms"),
        *shares(groups.total),
    ]


def _by_name(context: Context) -> list[Column]:
    ops = context.device.ops
    apart = splits(context, ops.host, ops.count)
    groups = group_rows([ops.name, *(s.ids for s in apart if s.name != KERNELS)], ops.direct_ns)
    below = sums(groups.of_row, ops.subtree_ns, len(groups.first))
    categories: list[set[str]] = [set() for _ in range(len(groups.first))]
    for group, number in pairs(groups.of_row, ops.category):
        categories[group].add(ops.categories[number])
    counts = groups.count.tolist()
    # TraceLens' report with captures counts there, and has no second time in ms.
    captured = context.options.tracelens and context.report.grafted is not None
    counted = [Column("total_subtree_kernel_time_count", counts)]
    below_ms = [Column("total_subtree_kernel_time_ms", as_ms(below), "ms")]
    return [
        Column("name", [ops.names[i] for i in ops.name[groups.first].tolist()]),
        *split_columns(apart, groups.first, MODULE, RECOMPUTE),
        Column("total_direct_kernel_time_sum", as_us(groups.total), "µs"),
        Column("total_subtree_kernel_time_sum", as_us(below), "µs"),
        *(counted if captured else []),
        Column("total_direct_kernel_time_ms", as_ms(groups.total), "ms"),
        *([] if captured else below_ms),
        Column("Count", counts),
        Column("Categories", [repr(sorted(found)) for found in categories]),
        *shares(groups.total),
    ]


_SHEETS: Final[dict[str, Callable[[Context], list[Column]]]] = {
    "gpu_timeline": _timeline,
    "ops_summary_by_category": _by_category,
    "ops_summary": _by_name,
    "ops_unique_args": unique_args,
    "unified_perf_summary": unified,
    "ops": _ops,
    "nn_modules": _modules,
    "kernel_summary": kernels,
    "short_kernel_histogram": short_histogram,
    "short_kernels_summary": short_kernels,
}
_NEED_OPS: Final = frozenset(
    {"ops_summary_by_category", "ops_summary", "ops_unique_args", "unified_perf_summary", "ops"}
)
_OURS: Final = frozenset({"nn_modules"})
"""Sheets that TraceLens does not have."""
OVERLAP: Final = "_kl_overlap"
"""Ends the name of a sheet whose rows are told apart by what ran beside them."""
_BY_OVERLAP: Final = ("ops_unique_args", "unified_perf_summary")
SHEET_NAMES: Final = tuple(_SHEETS)
"""The sheets that do not depend on what operators there are."""


def sheet_names(report: OpReport, options: SheetOptions) -> tuple[str, ...]:
    """The sheets that are made unless some are asked for: all but those of families of operators
    that the trace does not have."""
    own = [n for n in SHEET_NAMES if n not in _OURS or (report.modules and not options.tracelens)]
    found = _families(report, options) if report.has_ops else []
    by_overlap = [*_BY_OVERLAP, *found] if options.overlap and report.has_ops else []
    return (*own, *found, *(f"{name}{OVERLAP}" for name in by_overlap))


def known_names() -> tuple[str, ...]:
    """All sheets that there are without models of the user's own."""
    return (*SHEET_NAMES, *FAMILIES, *(f"{name}{OVERLAP}" for name in (*_BY_OVERLAP, *FAMILIES)))


def missing_sheets(
    report: OpReport, names: tuple[str, ...], options: SheetOptions
) -> dict[str, str]:
    """Why sheets cannot be made of this trace, by name."""
    if not report.devices:
        return dict.fromkeys(names, _NO_WORK)
    base = {name: name.removesuffix(OVERLAP) for name in names}
    lacking = {n: _NO_MODULES for n in names if n == "nn_modules" and not report.modules}
    if not report.has_ops:
        return lacking | {
            n: _NO_OPS for n in names if base[n] in _NEED_OPS or base[n] not in _SHEETS
        }
    asked = [name for name in names if base[name] not in _SHEETS]
    found = _families(report, options) if asked else []
    return lacking | {name: _NO_FAMILY for name in asked if base[name] not in found}


def _families(report: OpReport, options: SheetOptions) -> list[str]:
    found: dict[str, None] = {}
    for device in report.devices:
        found |= dict.fromkeys(family_names(Context(report, device, options)))
    return [name for name in FAMILIES if name in found] + [n for n in found if n not in FAMILIES]


def sheet(report: OpReport, name: str, options: SheetOptions) -> Sheet:
    """A sheet that is not missing; of several devices one below the other, with a column that
    tells them apart."""
    parts: list[Sheet] = []
    for device in report.devices:
        base = name.removesuffix(OVERLAP)
        context = Context(report, device, options, overlap=base != name)
        columns = _SHEETS[base](context) if base in _SHEETS else family(context, base)
        if options.tracelens:
            columns = [column for column in columns if not column.ours]
        part = Sheet(name, columns)
        if len(report.devices) > 1:
            mark = Column("device", [device.device] * len(part), ours=True)
            part = replace(part, columns=[*columns, mark])
        parts.append(part)
    return parts[0] if len(parts) == 1 else stacked(parts)
