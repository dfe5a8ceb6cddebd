"""Sheets beside those of operators and kernels: communication, pauses, and what to trust."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..analyzers.collective_signatures import exposed_ns, signatures
from ..analyzers.collectives import collectives, recorded_names
from ..analyzers.comm_moved import moved_ns
from ..analyzers.data_quality import Grade, data_quality
from ..analyzers.distinct import distinct
from ..analyzers.gpu_timeline import gpu_timeline
from ..analyzers.idle_gaps import Cause, gaps_within, idle_gaps
from ..analyzers.range_table import range_table
from ..ingest.model import HostKind
from ..queries.capture import capture
from ..queries.capture import devices as devices_of
from ..queries.report_events import work
from ..queries.step_events import texts as texts_of
from .collective_columns import signature_columns
from .op_sheets import timeline_columns
from .perf_sheets import architecture_text
from .report_info import info_sheet
from .sheet_context import Context, SheetOptions, as_ms, as_percent, as_us
from .sheets import Column, Sheet, stacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.op_report import DeviceReport, OpReport
    from ..queries.trace import Trace

COLLECTIVES: Final = "coll_analysis"
GAPS: Final = "idle_gaps"
QUALITY: Final = "data_quality"
INFO: Final = "report_info"
RANGES: Final = "annotation_summary"
EXTRA_SHEETS: Final = (RANGES, COLLECTIVES, GAPS, QUALITY, INFO)


def collective_analysis(trace: Trace, report: OpReport, options: SheetOptions) -> Sheet | None:
    """Collectives by what they were called with; None where there are none."""
    only = None
    if options.scope is not None:
        only = np.concatenate([part.work.id for part in report.devices])
    found = collectives(trace, options.rules, only)
    if not len(found):
        return None
    if "D33" in options.rules.compat:
        found = recorded_names(found)
    by = signatures(found, exposed_ns(trace, found, options.rules))
    columns = signature_columns(found, by, options.rules.compat)
    return Sheet(COLLECTIVES, [c for c in columns if not (options.tracelens and c.ours)])


def empty_timeline(trace: Trace, options: SheetOptions) -> Sheet:
    """Of a trace without GPU work: no time, and no shares of it."""
    times = gpu_timeline(work(trace), np.zeros(0, bool))
    return Sheet("gpu_timeline", timeline_columns(times, split=options.micro_idle_ns > 0))


def range_sheet(report: OpReport) -> Sheet | None:
    """GPU time by annotation; None where no work was launched below any."""
    parts: list[Sheet] = []
    for device in report.devices:
        of = device.source
        found = range_table(of.work, of.host, of.comm)
        columns = [
            Column("range", [report.texts[i] for i in found.name.tolist()]),
            Column("count", found.ranges.tolist()),
            Column("host_time_ms", as_ms(found.host_ns), "ms"),
            Column("gpu_time_ms", as_ms(found.gpu_ns), "ms"),
            Column("direct_gpu_time_ms", as_ms(found.direct_ns), "ms"),
            Column("comm_time_ms", as_ms(found.comm_ns), "ms"),
            Column("gpu_ops", found.events.tolist()),
            Column(
                "Percent of busy time (%)", as_percent(found.gpu_ns, device.timeline.busy_ns), "%"
            ),
        ]
        if len(report.devices) > 1:
            columns.append(Column("device", [device.device] * len(found.name)))
        parts.append(Sheet(RANGES, columns))
    if not any(map(len, parts)):
        return None
    return parts[0] if len(parts) == 1 else stacked(parts)


def gap_sheet(trace: Trace, report: OpReport) -> Sheet:
    """The pauses of each GPU, by start."""
    host = report.host
    calls = (host.kind == HostKind.RUNTIME) | (host.kind == HostKind.DRIVER)
    names = texts_of(trace, map(int, distinct(host.name[calls])))
    parts = [_gaps_of(trace, report, device, names) for device in report.devices]
    return parts[0] if len(parts) == 1 else stacked(parts)


def _gaps_of(trace: Trace, report: OpReport, device: DeviceReport, names: dict[int, str]) -> Sheet:
    on_device, host = device.recorded, report.host
    windows = device.windows
    span = (windows[0][0], windows[-1][1]) if windows else None
    found = idle_gaps(on_device, host, names, span)
    if windows is not None:
        found = gaps_within(found, windows)
    around = np.concatenate([found.op, found.frame])
    ids = distinct(host.name[around[around >= 0]])
    texts = texts_of(trace, map(int, ids))

    def name(event: int) -> str | None:
        return None if event < 0 else texts[int(host.name[event])]

    def work_name(at: NDArray[np.int64]) -> list[str | None]:
        names_of = np.append(on_device.name, -1)[at].tolist()
        return [None if i < 0 else report.texts[i] for i in names_of]

    columns = [
        Column("start_ns", found.start_ns.tolist(), "ns"),
        Column("length_us", as_us(found.length_ns), "µs"),
        Column("cause", [Cause(cause).name.lower() for cause in found.cause.tolist()]),
        Column("cpu_op", [name(event) for event in found.op.tolist()]),
        Column("python_frame", [name(event) for event in found.frame.tolist()]),
        Column("before", work_name(found.before)),
        Column("after", work_name(found.after)),
    ]
    if len(report.devices) > 1:
        columns.append(Column("device", [device.device] * len(found.start_ns), ours=True))
    return Sheet(GAPS, columns)


def quality_sheet(trace: Trace, sheets: Sequence[Sheet]) -> Sheet:
    """What makes figures less than they seem, those of `sheets` among them; the gravest first."""
    roofline = [
        value
        for sheet in sheets
        for column in sheet.columns
        if column.name == "Pct Roofline_max" and sheet.name == "unified_perf_summary"
        for value in column.values
    ]
    found = data_quality(trace, [value for value in roofline if value is not None])
    found.sort(key=lambda check: -[*Grade].index(check.grade))
    return Sheet(
        QUALITY,
        [
            Column("check", [check.name for check in found]),
            Column("severity", [check.grade.value for check in found]),
            Column("count", [check.count for check in found]),
            Column(
                "affected_us",
                [None if c.affected_ns is None else c.affected_ns / 1000 for c in found],
                "µs",
            ),
            Column("explanation", [check.explanation for check in found]),
        ],
    )


def information(
    trace: Trace,
    report: OpReport,
    options: SheetOptions,
    sheets: Sequence[Sheet],
    missing: dict[str, str],
) -> Sheet:
    """What the report is about, and how it was counted."""
    rules = options.rules
    ranks = sorted({p.rank for p in report.processes.values() if p.rank is not None})
    rows = [("rank", ", ".join(map(str, ranks)) or "not known")]
    rows += [("device", f"{d.device}: {d.label}, {d.name}") for d in devices_of(trace)]
    rows.append(
        ("scope", "work with a launch in the trace" if rules.linked_only else "all GPU work")
    )
    if options.scope is not None:
        rows.append(("part", f"{options.scope.label}: work launched in it; the timeline is cut"))
        rows.append(("data_quality", "of the whole recording, not only of the part"))
    if report.grafted is not None:
        fit = report.grafted
        rows.append(
            (
                "captures",
                f"{fit.replays} replays of graphs under the operators of their capture, "
                f"{fit.unmatched} without one of as many launches",
            )
        )
    if rules.clip_overrun:
        rows.append(("overruns", "cut where the next work on the stream begins"))
    if options.micro_idle_ns:
        rows.append(("micro_idle_us", f"{options.micro_idle_ns / 1000:g}"))
    rows.append(("short_us", f"{options.short_ns / 1000:g}"))
    for device in report.devices:
        rows.append(("architecture", architecture_text(Context(report, device, options))))
        if device.linked_timeline is not None:
            whole, linked = device.timeline, device.linked_timeline
            rows.append(
                (
                    "unlinked",
                    f"device {device.device}: busy {whole.busy_ns / 1e6:.6f} ms, of it "
                    f"{linked.busy_ns / 1e6:.6f} ms with a launch in the trace",
                )
            )
        moved = 0 if options.tracelens else moved_ns(device.work, report.texts)
        if moved:
            rows.append(
                (
                    "communication",
                    f"device {device.device}: {moved / 1e6:.6f} ms of kernels count as "
                    "communication here, as computation in TraceLens",
                )
            )
    if not report.devices and "gpu_timeline" not in missing:
        rows.append(("note", "the trace holds no GPU work: times are 0, shares are blank"))
    return info_sheet(capture(trace), rows, sheets, missing, workbook=options.workbook)
