"""The panel of one kernel as text: the words of the application and of `dctx kernel`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..analyzers.quantities import plural
from . import format as fmt
from .ncu_text import ncu_text
from .roofline_text import roofline_sentence
from .source_map import SourceMap
from .stall_text import stall_text
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.kernel_panel import KernelPanel, ShapeUse
    from ..analyzers.kernel_roofline import RooflinePoint
    from ..analyzers.occupancy import Occupancy, Waves
    from ..ingest.ncu import NcuKernel
    from ..queries.kernel_panel import LaunchCounter, Outliers, SlowLaunch

SHAPE_HEADINGS = ("grid, block", "count", "time", "regs", "shared", "occupancy", "waves", "tail")
COUNTER_HEADINGS = ("mean", "least", "most", "launches", "counter")
SLOW_HEADINGS = ("start ms", "duration", "medians", "GPU", "stream")
_HELP = {
    "registers": "fewer registers a thread (__launch_bounds__, smaller tiles) would fit more",
    "shared memory": "less shared memory a block (smaller tiles, fewer stages) would fit more",
    "warps": "the multiprocessor is full",
    "block slots": "larger blocks would fill the multiprocessor",
}
TAIL_NOTE = 0.10
"""A larger share of empty slots in the last wave is worth a sentence."""


def facts_text(panel: KernelPanel) -> str:
    """How often, how long and how much of all GPU work."""
    op = panel.op
    parts = [plural(op.count, "launch", "launches"), f"total {fmt.duration(op.sum_ns)}"]
    if op.share is not None:
        parts.append(f"{fmt.share(op.share)} of GPU work")
    parts.append(f"mean {fmt.duration(op.mean_ns)}")
    if op.min_ns is not None and op.max_ns is not None:
        parts.append(f"{fmt.duration(op.min_ns)} to {fmt.duration(op.max_ns)}")
    return " · ".join(parts)


def occupancy_sentence(use: ShapeUse) -> str:
    """Of one shape: what limits it, and what would change that; or why it is not known."""
    found = use.occupancy
    if found is None:
        recorded = use.shape.recorded_occupancy
        told = "" if recorded is None else f" The profiler estimated {fmt.share(recorded)}."
        return f"Occupancy: n/a, {use.no_occupancy}.{told}"
    limiters = limited_by(found)
    fits = plural(found.blocks, "block fits", "blocks fit")
    help_text = _HELP[found.limiters[0]]
    if found.share < 1 and found.limiters[0] == "warps":
        help_text = "blocks of another size would fill the rest"
    elif len(found.limiters) > 1 and "warps" not in found.limiters:
        help_text = "more would fit only where none of them limits"
    return (
        f"Occupancy at most {fmt.share(found.share)}, limited by {limiters}: {fits} on a "
        f"multiprocessor, {found.warps} of {found.most_warps} warps; {help_text}."
    )


def limited_by(found: Occupancy) -> str:
    """`registers and warps`."""
    return " and ".join(found.limiters)


def waves_sentence(use: ShapeUse) -> str:
    """How the grid fills the device."""
    found = use.waves
    if found is None:
        return f"Waves: n/a, {use.no_waves}."
    blocks = plural(found.blocks, "block")
    text = f"{blocks} on {found.slots:,} places: {waves_text(found)} waves."
    if found.rounds == 1:
        if found.idle_share >= TAIL_NOTE:
            text += (
                f" The grid leaves {fmt.share(found.idle_share)} of the places empty: more "
                "blocks, or smaller ones, would use them."
            )
    elif found.idle_share >= TAIL_NOTE:
        text += (
            f" The last wave has {found.last_blocks:,}: up to {fmt.share(found.idle_share)} of "
            "the time goes to the tail where blocks take equally long. Another block size, or "
            "blocks that take several parts each, would even it out."
        )
    return text


def waves_text(found: Waves) -> str:
    """`6.40`."""
    return fmt.number(found.waves, 2)


def unseen_sentence(panel: KernelPanel) -> str:
    """Of how many launches the shape is that of another; empty where each told its own."""
    unseen = sum(use.shape.unseen for use in panel.shapes)
    if not unseen:
        return ""
    return (
        f"The recording keeps the shape of the first launch of each context: "
        f"{plural(unseen, 'further launch is', 'further launches are')} counted with it."
    )


def outliers_sentence(found: Outliers | None) -> str:
    """How many launches are unusually slow, and what they cost."""
    if found is None:
        return "Durations: n/a, no single launch was recorded."
    if not found.count:
        return (
            f"No outliers: no launch took more than {fmt.duration(found.above_ns)} "
            f"(median {fmt.duration(found.median_ns)})."
        )
    return (
        f"{fmt.count(found.count)} of {plural(found.launches, 'launch', 'launches')} took more "
        f"than {fmt.duration(found.above_ns)} (median {fmt.duration(found.median_ns)}): "
        f"{fmt.duration(found.excess_ns)} beyond the median in all."
    )


def shape_cells(use: ShapeUse, panel: KernelPanel) -> tuple[str, ...]:
    """Under `SHAPE_HEADINGS`; of several GPUs the row says whose it is."""
    shape = use.shape
    occupancy, waves = use.occupancy, use.waves
    several = len({one.shape.device for one in panel.shapes}) > 1
    whose = f"{use.device.label} " if several and use.device is not None else ""
    return (
        f"{whose}{fmt.dim3(shape.grid)}, {fmt.dim3(shape.block)}",
        fmt.count_short(shape.count),
        fmt.duration(shape.sum_ns),
        fmt.NA if shape.registers is None else str(shape.registers),
        fmt.size(shape.shared_bytes),
        fmt.NA if occupancy is None else fmt.share(occupancy.share),
        fmt.NA if waves is None else waves_text(waves),
        fmt.NA if waves is None else fmt.share(waves.idle_share),
    )


def slow_cells(launch: SlowLaunch, panel: KernelPanel) -> tuple[str, ...]:
    """Under `SLOW_HEADINGS`."""
    assert panel.outliers is not None
    median = panel.outliers.median_ns
    device = None if launch.device is None else panel.devices.get(launch.device)
    return (
        f"{launch.start_ns / 1e6:.4f}",
        fmt.duration(launch.dur_ns),
        fmt.NA if not median else fmt.number(launch.dur_ns / median),
        fmt.NA if device is None else device.label,
        launch.stream,
    )


def counter_cells(counter: LaunchCounter) -> tuple[str, ...]:
    """Under `COUNTER_HEADINGS`."""
    figures = (counter.mean, counter.least, counter.most)
    return (
        *(fmt.evidence_number(figure) for figure in figures),
        fmt.count_short(counter.launches),
        fmt.clean(counter.name),
    )


def no_stalls(panel: KernelPanel) -> str:
    """Why nothing is known of what the kernel waits for."""
    return f"Stalls: n/a, {panel.no_samples}."


def kernel_panel_text(
    panel: KernelPanel,
    measured: Sequence[tuple[NcuKernel, bool | None]] = (),
    *,
    width: int = 80,
    sources: SourceMap | None = None,
    roofline: RooflinePoint | str = "",
) -> str:
    """Lines of at most `width` characters, but for the command, which is one line to copy."""
    lines = [*paragraph(panel.op.name, width), *paragraph(facts_text(panel), width, "  "), ""]
    lines += paragraph(outliers_sentence(panel.outliers), width, "  ")
    histogram = panel.histogram
    if histogram is not None:
        lines += paragraph(
            f"Durations: p50 {fmt.duration(histogram.p50_ns)}, p99 {fmt.duration(histogram.p99_ns)}"
            f", max {fmt.duration(histogram.max_ns)}.",
            width,
            "  ",
        )
    if panel.outliers is not None and panel.outliers.slowest:
        rows = [slow_cells(launch, panel) for launch in panel.outliers.slowest]
        lines += ["", *table(SLOW_HEADINGS, rows, width, left=(3,), name=4)]
    lines += ["", *_shapes(panel, width)]
    if roofline:
        lines += paragraph(roofline_sentence(roofline), width, "  ")
    if panel.counters:
        rows = [counter_cells(counter) for counter in panel.counters]
        lines += ["", *table(COUNTER_HEADINGS, rows, width, name=4)]
    if panel.callers:
        rows = [
            (
                fmt.share(caller.share),
                fmt.duration(caller.gpu_ns),
                fmt.count_short(caller.count),
                fmt.path([fmt.clean(name) for name in caller.names], width - 32),
            )
            for caller in panel.callers
        ]
        lines += ["", *table(("share", "time", "count", "called from"), rows, width, name=3)]
    lines.append("")
    where = sources or SourceMap()
    if panel.samples is not None:
        lines += paragraph("Sampled while the trace was recorded:", width)
        lines += [*stall_text(panel.samples, width, where), ""]
    for kernel, same_shape in measured:
        lines += [*ncu_text(kernel, same_shape, width, where), ""]
    if measured or panel.samples is not None:
        lines.pop()
    elif panel.collect:
        text = f"{no_stalls(panel)} Collect them, with your program in place of PROGRAM:"
        lines += [*paragraph(text, width, "  "), "", f"  {fmt.clean(panel.collect)}"]
    else:
        lines += paragraph(no_stalls(panel), width, "  ")
    return "\n".join(lines) + "\n"


def _shapes(panel: KernelPanel, width: int) -> Iterator[str]:
    if not panel.shapes:
        yield from paragraph("Launch shapes: n/a, the trace does not tell them.", width, "  ")
        return
    yield from table(
        SHAPE_HEADINGS, [shape_cells(use, panel) for use in panel.shapes], width, name=0
    )
    first = panel.shapes[0]
    yield ""
    if len(panel.shapes) > 1:
        yield from paragraph("Of the shape that takes most time:", width)
    yield from paragraph(occupancy_sentence(first), width, "  ")
    yield from paragraph(waves_sentence(first), width, "  ")
    if unseen := unseen_sentence(panel):
        yield from paragraph(unseen, width, "  ")
