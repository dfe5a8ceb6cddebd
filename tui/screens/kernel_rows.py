"""What the panel of one kernel shows: its lists and their figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...analyzers.kernel_panel import KernelPanel
from ...analyzers.kernel_roofline import measured_points
from ...analyzers.kernel_samples import Hot, KernelSamples, hot_lines, hot_places, of_ncu
from ...analyzers.stall_reasons import REASONS, stalls_of, words
from ...ingest.ncu import NcuKernel
from ...reports import format as fmt
from ...reports.kernel_panel import (
    counter_cells,
    facts_text,
    no_stalls,
    occupancy_sentence,
    outliers_sentence,
    shape_cells,
    slow_cells,
    unseen_sentence,
    waves_sentence,
)
from ...reports.ncu_text import figure_texts
from ...reports.roofline_text import measured_sentence
from ...reports.source_map import SourceMap
from ...reports.stall_text import place_text, reason_text, samples_sentence, source
from ..export import Table
from ..looking import Target
from ..widgets.detail_pane import Section
from ..widgets.row_list import Row
from .details import Detail, distribution
from .leads import CALLER_HEADING, caller_rows

_SHAPE_HEADING = (
    f"{'time':>9} {'count':>6} {'regs':>4} {'shared':>8} {'occup.':>7} {'waves':>6} "
    f"{'tail':>6}  grid, block"
)
_BAR = 12
_STALL_HEADING = f"{'share':>7} {'':<{_BAR}} {'stall':<19}what it means"
_LINE_HEADING = f"{'stalled':>7} {'top reason':<19} source"
_PLACE_HEADING = f"{'stalled':>7} {'top reason':<19} {'at':>8}  instruction"
_COUNTER_HEADING = f"{'mean':>16} {'least':>16} {'most':>16} {'count':>6}  counter"
_SLOW_HEADING = f"{'start ms':>14} {'duration':>9} {'medians':>8}  GPU, stream"


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A line of a source, as the samples name it."""

    file: str
    line: int


def panel_detail(
    panel: KernelPanel, measured: Sequence[NcuKernel] = (), sources: SourceMap | None = None
) -> Detail:
    """Everything of the panel; measured: launches of it that Nsight Compute profiled, whose
    samples go first. Reads source lines: for a worker."""
    lines = [fmt.clean(panel.op.name), facts_text(panel)]
    first = next(iter(panel.shapes), None)
    if first is not None:
        if len(panel.shapes) > 1:
            lines.append("Of the launch shape that takes most time:")
        lines += [occupancy_sentence(first), waves_sentence(first)]
        if unseen := unseen_sentence(panel):
            lines.append(unseen)
        sections = [Section("Launch shapes", shape_rows(panel), _SHAPE_HEADING)]
    else:
        sections = [
            Section("Launch shapes", [Row("n/a: the trace does not tell them", tone="dim")])
        ]
    lines.append(outliers_sentence(panel.outliers))
    sampled = filter(None, (of_ncu(kernel) for kernel in measured))
    known = next(sampled, panel.samples)
    told = {text: None for kernel in measured for text in figure_texts(kernel)}
    if told:
        lines.append(f"Nsight Compute: {' · '.join(told)}")
    lines += [measured_sentence(one) for kernel in measured for one in measured_points(kernel)]
    if known is not None:
        lines.append(samples_sentence(known))
        sections += stall_sections(known, sources or SourceMap())
    if panel.counters:
        sections.append(Section("Counters by launch", counter_rows(panel), _COUNTER_HEADING))
    if panel.callers:
        sections.append(Section("Called from", caller_rows(panel.callers), CALLER_HEADING))
    if panel.outliers is not None and panel.outliers.slowest:
        sections.append(Section("Slowest launches", slow_rows(panel), _SLOW_HEADING))
    if panel.collect and known is None:
        lines.append(f"{no_stalls(panel)} y copies the command that collects them.")
        sections.append(Section("To collect its stalls", [Row(panel.collect)]))
    return Detail("\n".join(lines), distribution(panel.histogram), sections, None)


def shape_rows(panel: KernelPanel) -> list[Row]:
    """Under the heading of the launch shapes."""
    rows: list[Row] = []
    for use in panel.shapes:
        text, count, time, registers, shared, occupancy, waves, tail = shape_cells(use, panel)
        rows.append(
            Row(
                text,
                f"{time:>9} {count:>6} {registers:>4} {shared:>8} {occupancy:>7} {waves:>6} "
                f"{tail:>6}  ",
            )
        )
    return rows


def stall_sections(samples: KernelSamples, sources: SourceMap) -> list[Section]:
    """Reasons, source lines and instructions: those that there are."""
    sections: list[Section] = []
    if rows := stall_rows(samples):
        sections.append(Section("What it waits for", rows, _STALL_HEADING))
    if lines := hot_lines(samples):
        rows = [_line_row(hot, sources) for hot in lines]
        sections.append(Section("By source line", rows, _LINE_HEADING))
    if places := hot_places(samples):
        sections.append(Section("By instruction", list(map(_place_row, places)), _PLACE_HEADING))
    return sections


def stall_rows(samples: KernelSamples) -> list[Row]:
    """Under the heading of the stalls."""
    _, stalls = stalls_of(samples.stalls)
    rows: list[Row] = []
    for stall in stalls:
        reason = REASONS.get(stall.reason)
        text = "" if reason is None else f"{reason.means}; helps: {reason.helps}"
        bar = "█" * max(1, round(stall.share * _BAR))
        rows.append(
            Row(text, f"{fmt.share(stall.share):>7} {bar:<{_BAR}} {words(stall.reason):<19}")
        )
    return rows


def _line_row(hot: Hot, sources: SourceMap) -> Row:
    """Opens its line in the editor."""
    place = hot.place
    assert place.file is not None
    assert place.line is not None
    return Row(
        f"{place_text(place)}  {source(hot, sources)}",
        f"{fmt.share(hot.share):>7} {reason_text(hot):<19} ",
        target=SourcePlace(place.file, place.line),
    )


def _place_row(hot: Hot) -> Row:
    """Opens its source line, where that is known."""
    place = hot.place
    where = place_text(place)
    target = None
    if place.file is not None and place.line is not None:
        target = SourcePlace(place.file, place.line)
    return Row(
        f"{place.text}  {where}" if where else place.text,
        f"{fmt.share(hot.share):>7} {reason_text(hot):<19} {place.at:>8}  ",
        target=target,
    )


def counter_rows(panel: KernelPanel) -> list[Row]:
    """Under the heading of the counters."""
    rows: list[Row] = []
    for mean, least, most, count, name in map(counter_cells, panel.counters):
        rows.append(Row(name, f"{mean:>16} {least:>16} {most:>16} {count:>6}  "))
    return rows


def slow_rows(panel: KernelPanel) -> list[Row]:
    """Under the heading of the slow launches; each leads to its call path where that is known."""
    assert panel.outliers is not None
    rows: list[Row] = []
    for launch in panel.outliers.slowest:
        start, duration, ratio, device, stream = slow_cells(launch, panel)
        target = None if launch.node is None else Target(node=launch.node)
        figures = f"{start:>14} {duration:>9} {ratio:>8}  "
        rows.append(Row(f"{device}, {stream}", figures, target=target))
    return rows


def shape_table(panel: KernelPanel) -> Table:
    """Raw values of the launch shapes, for a file."""
    columns = (
        *("name", "device", "grid", "block", "registers_per_thread", "shared_bytes", "count"),
        *("sum_ns", "occupancy", "limited_by", "no_occupancy", "waves", "tail_share"),
    )
    return Table(
        columns,
        [
            (
                panel.op.name,
                use.shape.device,
                fmt.dim3(use.shape.grid),
                fmt.dim3(use.shape.block),
                use.shape.registers,
                use.shape.shared_bytes,
                use.shape.count,
                use.shape.sum_ns,
                None if use.occupancy is None else use.occupancy.share,
                "" if use.occupancy is None else ", ".join(use.occupancy.limiters),
                use.no_occupancy,
                None if use.waves is None else use.waves.waves,
                None if use.waves is None else use.waves.idle_share,
            )
            for use in panel.shapes
        ],
    )
