"""All sheets of `dctx report` of one trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.op_report import op_report
from .called_sheet import CALLED, called_sheet, has_gpu_sums
from .extra_sheets import (
    COLLECTIVES,
    EXTRA_SHEETS,
    GAPS,
    INFO,
    QUALITY,
    RANGES,
    collective_analysis,
    empty_timeline,
    gap_sheet,
    information,
    quality_sheet,
    range_sheet,
)
from .failures import UserError
from .op_sheets import known_names, missing_sheets, sheet, sheet_names

if TYPE_CHECKING:
    from ..analyzers.graph_capture import Grafted
    from ..analyzers.op_report import OpReport
    from ..queries.trace import Trace
    from .sheet_context import SheetOptions
    from .sheets import Sheet

TIMELINE = "gpu_timeline"


def all_names() -> tuple[str, ...]:
    """The sheets that can be asked for, without models of the user's own."""
    return (*known_names(), CALLED, *EXTRA_SHEETS)


def report_sheets(
    trace: Trace,
    options: SheetOptions,
    names: tuple[str, ...] = (),
    *,
    gaps: bool = False,
    collectives: bool = True,
) -> tuple[list[Sheet], dict[str, str]]:
    """The sheets asked for, or all; and why some of them cannot be made, by name. Reads events.

    Without a name `gaps` and `collectives` decide about these two. UserError for a sheet asked for
    that cannot be made."""
    report = op_report(
        trace,
        options.rules,
        options.micro_idle_ns,
        options.scope,
        frames=options.stacks,
        capture=options.capture,
    )
    if report.grafted is not None:
        _check(report.grafted)
    wanted = tuple(n for n in names if n not in (CALLED, *EXTRA_SHEETS))
    wanted = wanted if names else sheet_names(report, options)
    missing = missing_sheets(report, wanted, options)
    made = [sheet(report, name, options) for name in wanted if name not in missing]
    sums_only = not report.devices and has_gpu_sums(trace)  # then zeros would be wrong
    if TIMELINE in missing and not options.tracelens and not sums_only:
        del missing[TIMELINE]
        made.insert(0, empty_timeline(trace, options))
    ours = not names and not options.tracelens
    if CALLED in names or (ours and not report.devices):
        called = None if report.devices or options.scope else called_sheet(trace, options)
        if called is not None:
            made.append(called)
        elif names:
            missing[CALLED] = _no_calls(report, options)
    if RANGES in names or ours:
        ranges = range_sheet(report)
        if ranges is not None:
            made.append(ranges)
        elif names:
            missing[RANGES] = "no GPU work was launched within annotations (NVTX, record_function)."
    if COLLECTIVES in names or (not names and collectives):
        found = collective_analysis(trace, report, options)
        if found is not None:
            made.append(found)
        elif names:  # most traces have none: nothing to wonder about
            missing[COLLECTIVES] = "the trace holds no communication kernels."
    if GAPS in names or (ours and gaps):
        if report.devices:
            made.append(gap_sheet(trace, report))
        else:
            missing[GAPS] = "the trace holds no GPU events."
    if names and missing:
        name, reason = next(iter(missing.items()))
        raise UserError(f"{name} cannot be made: {reason}")
    if len(report.devices) < report.device_count:
        beyond = f"GPUs beyond the first {len(report.devices):,}"
        missing[beyond] = f"a report tells no more of the {report.device_count:,} in the trace."
    if QUALITY in names or ours:
        made.insert(0, quality_sheet(trace, made))
    if INFO in names or ours:
        made.insert(0, information(trace, report, options, made, missing))
    return made, missing


def _no_calls(report: OpReport, options: SheetOptions) -> str:
    """Why there are no operators by arguments alone."""
    if report.devices:
        return "the trace has GPU work by operators: ops_unique_args tells it."
    if options.scope is not None:
        return "calls are summed up over the whole trace: leave out the part of it."
    return (
        "no arguments of operators are recorded: dctx record --shapes, or torch.profiler with "
        "record_shapes=True."
    )


def _check(found: Grafted) -> None:
    """UserError for a capture that tells nothing."""
    if not found.sizes:
        raise UserError(
            "the trace that --capture names holds no capture of a graph (StreamBeginCapture to "
            "StreamEndCapture): record the warm-up of the program, where graphs are captured."
        )
    if not found.replays:
        sizes = ", ".join(map(str, found.sizes[:16]))
        raise UserError(
            "no replay of a graph has as many kernels as a capture has launches (launches of "
            f"captures: {sizes}): the capture is of another run or batch size."
        )
