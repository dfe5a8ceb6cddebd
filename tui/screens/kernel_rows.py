"""What the panel of one kernel shows: its lists and their figures."""

from ...analyzers.kernel_panel import KernelPanel
from ...reports import format as fmt
from ...reports.kernel_panel import (
    facts_text,
    no_stalls,
    occupancy_sentence,
    outliers_sentence,
    shape_cells,
    slow_cells,
    waves_sentence,
)
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
_SLOW_HEADING = f"{'start ms':>14} {'duration':>9} {'medians':>8}  GPU, stream"


def panel_detail(panel: KernelPanel) -> Detail:
    """Everything of the panel."""
    lines = [fmt.clean(panel.op.name), facts_text(panel)]
    first = next(iter(panel.shapes), None)
    if first is not None:
        if len(panel.shapes) > 1:
            lines.append("Of the launch shape that takes most time:")
        lines += [occupancy_sentence(first), waves_sentence(first)]
        sections = [Section("Launch shapes", shape_rows(panel), _SHAPE_HEADING)]
    else:
        sections = [
            Section("Launch shapes", [Row("n/a: the trace does not tell them", tone="dim")])
        ]
    lines.append(outliers_sentence(panel.outliers))
    if panel.callers:
        sections.append(Section("Called from", caller_rows(panel.callers), CALLER_HEADING))
    if panel.outliers is not None and panel.outliers.slowest:
        sections.append(Section("Slowest launches", slow_rows(panel), _SLOW_HEADING))
    if panel.collect:
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
