"""What the detail panes say, made from the answers of the store."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...ingest.model import GpuKind
from ...queries.allocated import Allocated
from ...queries.instances import OpRow
from ...queries.kernels import Caller, Histogram, LaunchShape, OpStat
from ...queries.node_detail import HostStat, Measure, NamedCount, NodeDetail
from ...queries.operations import CompiledOperation
from ...queries.operators import Arguments
from ...reports import format as fmt
from ...reports.arguments import arguments_text
from ..widgets.detail_pane import Section
from ..widgets.histogram import Distribution
from ..widgets.row_list import Row
from .leads import CALLER_HEADING, OP_HEADING, caller_rows, op_rows

HOST_HEADING = f"{'own time':>9} {'calls':>7}  name"
ARGUMENT_HEADING = f"{'GPU':>9} {'host':>9} {'calls':>7}  types, shapes, values"
COUNT_HEADING = f"{'time':>9} {'count':>7}"
PART_HEADING = f"{'operation':>20}  source"
SHAPE_HEADING = f"{'time':>9} {'count':>7} {'regs':>4} {'shared':>9}  {'grid':<16} block"


@dataclass(frozen=True, slots=True)
class Detail:
    """What a detail pane shows."""

    heading: str
    histogram: Distribution | None
    lists: list[Section]
    shapes: Section | None


LOADING = Row("reading the events …", tone="dim")


def of_node(detail: NodeDetail) -> Detail:
    """A calling context: path, cost, what runs below it."""
    lines = [fmt.clean(" > ".join(detail.names)) or "the whole trace"]
    facts: list[str] = []
    if detail.file is not None:
        facts.append(detail.file if detail.line is None else f"{detail.file}:{detail.line}")
    if detail.gpu_ns is not None:
        facts.append(f"GPU {fmt.duration(detail.gpu_ns)}")
    calls = detail.calls
    if calls is not None:
        facts.append("1 call" if calls.count == 1 else f"{fmt.count(calls.count)} calls")
        facts.append(
            f"host {fmt.duration(calls.mean_ns)} mean, {fmt.duration(calls.min_ns)} to "
            f"{fmt.duration(calls.max_ns)}"
        )
    lines.append(" · ".join(facts))
    lines += [allocated_line(one) for one in detail.allocated]
    lines.append(" · ".join(measure_text(measure) for measure in detail.measures))
    if detail.origin is not None:
        made = f"compiled from {detail.origin.operators} · nodes {detail.origin.nodes}"
        lines.append(fmt.clean(made))
    sections: list[Section] = []
    if detail.operation is not None:
        facts = [detail.operation.opcode, detail.operation.op_name]
        lines.append(fmt.clean(" · ".join(fact for fact in facts if fact)))
        if detail.operation.parts:
            sections.append(Section("Fused from", part_rows(detail.operation), PART_HEADING))
    if detail.arguments:
        rows = argument_rows(detail.arguments)
        sections.append(Section("Called with", rows, ARGUMENT_HEADING))
    if detail.ops:
        sections.append(Section("GPU work below", op_rows(detail.ops), OP_HEADING))
    if detail.host:
        sections.append(Section("Host time below", host_rows(detail.host), HOST_HEADING))
    if detail.captured_from:
        rows = caller_rows(detail.captured_from)
        sections.append(Section("Graph work captured at", rows, CALLER_HEADING))
    if detail.captured_here:
        rows = counted_rows(detail.captured_here)
        sections.append(Section("Captured here, replayed by graphs", rows, COUNT_HEADING))
    if detail.payloads:
        sections.append(Section("Payloads", counted_rows(detail.payloads), COUNT_HEADING))
    if any(named.text != detail.names[-1] for named in detail.full_names):
        sections.append(Section("Full names", counted_rows(detail.full_names), COUNT_HEADING))
    heading = "\n".join(line for line in lines if line)
    shapes = _shapes(detail.shapes)
    return Detail(heading, distribution(detail.histogram), sections, shapes)


def memory_of(device: int | None) -> str:
    """What memory is called whose device a recording tells by its number."""
    return "host memory" if device is None else f"memory of GPU {device}"


def allocated_line(found: Allocated) -> str:
    """`host memory: 12 MiB in 40 allocations, 10 MiB given back; allocator at most 90 MiB`."""
    return (
        f"{memory_of(found.device)}: {fmt.size(found.bytes)} in "
        f"{fmt.count(found.allocations)} allocations, "
        f"{fmt.size(found.freed_bytes)} given back; allocator at most {fmt.size(found.peak_bytes)}"
    )


def measure_text(measure: Measure) -> str:
    """`thread CPU 71 ms`, `page faults 229`."""
    name = fmt.clean(measure.name)
    if name.endswith(" ns"):
        return f"{name.removesuffix(' ns')} {fmt.duration(measure.value)}"
    return f"{name} {fmt.count(round(measure.value))}"


def part_rows(operation: CompiledOperation) -> list[Row]:
    """Under `PART_HEADING`."""
    rows = [
        Row(part.source or part.op_name or part.name, f"{part.opcode:>20}  ")
        for part in operation.parts
    ]
    if operation.more_parts:
        rows.append(Row(f"{operation.more_parts} more", tone="dim"))
    return rows


def of_op(
    op: OpStat,
    callers: Sequence[Caller],
    histogram: Histogram | None,
    shapes: Sequence[LaunchShape] | None,
) -> Detail:
    """A kernel, copy or memset by name: statistics and who launches it."""
    facts = [
        f"{fmt.count(op.count)} {'launches' if op.kind is GpuKind.KERNEL else 'times'}",
        f"total {fmt.duration(op.sum_ns)}",
        f"mean {fmt.duration(op.mean_ns)}"
        + ("" if op.stddev_ns is None else f" ± {fmt.duration(op.stddev_ns)}"),
    ]
    if op.min_ns is not None and op.max_ns is not None:
        facts.append(f"{fmt.duration(op.min_ns)} to {fmt.duration(op.max_ns)}")
    if op.share is not None:
        facts.insert(2, f"{fmt.share(op.share)} of GPU work")
    if op.bytes is not None:
        facts.append(fmt.size(op.bytes))
    if op.comm:
        facts.append("communication")
    sections = [Section("Called from", caller_rows(callers), CALLER_HEADING)] if callers else []
    heading = f"{fmt.clean(op.name)}\n{' · '.join(facts)}"
    return Detail(heading, distribution(histogram), sections, _shapes(shapes))


def _shapes(shapes: Sequence[LaunchShape] | None) -> Section | None:
    """None: the events that tell them are still being read."""
    if shapes is None:
        return Section("Launch shapes", [LOADING])
    return Section("Launch shapes", shape_rows(shapes), SHAPE_HEADING) if shapes else None


def distribution(histogram: Histogram | None) -> Distribution | None:
    if histogram is None:
        return None
    return Distribution(
        counts=histogram.counts,
        first_edge=fmt.duration(histogram.edges_ns[0]),
        last_edge=fmt.duration(histogram.edges_ns[-1]),
        most=fmt.count(max(histogram.counts)),
        figures=(
            f"min {fmt.duration(histogram.min_ns)} · p50 {fmt.duration(histogram.p50_ns)} · "
            f"p99 {fmt.duration(histogram.p99_ns)} · max {fmt.duration(histogram.max_ns)}"
        ),
    )


def host_rows(host: Sequence[HostStat]) -> list[Row]:
    """Under `HOST_HEADING`."""
    return [
        Row(stat.name, f"{fmt.duration(stat.self_ns):>9} {fmt.count_short(stat.calls):>7}  ")
        for stat in host
    ]


def counted_rows(texts: Sequence[NamedCount]) -> list[Row]:
    """Under `COUNT_HEADING`."""
    return [
        Row(named.text, f"{fmt.duration(named.sum_ns):>9} {fmt.count_short(named.count):>7}  ")
        for named in texts
    ]


def argument_rows(arguments: Sequence[Arguments]) -> list[Row]:
    """Under `ARGUMENT_HEADING`."""
    return [
        Row(
            arguments_text(one) or ("others" if one.further else "no arguments"),
            f"{fmt.duration(one.gpu_ns):>9} {fmt.duration(one.host_ns):>9} "
            f"{fmt.count_short(one.calls):>7}  ",
        )
        for one in arguments
    ]


def shape_rows(shapes: Sequence[LaunchShape]) -> list[Row]:
    """Under `SHAPE_HEADING`."""
    return [
        Row(
            f"{fmt.dim3(shape.grid):<16} {fmt.dim3(shape.block)}",
            f"{fmt.duration(shape.sum_ns):>9} {fmt.count_short(shape.count):>7} "
            f"{fmt.NA if shape.registers is None else shape.registers:>4} "
            f"{fmt.size(shape.shared_bytes):>9}  ",
        )
        for shape in shapes
    ]


def shared_memory(shape: OpRow) -> str:
    """Static and dynamic shared memory of a block together."""
    if shape.static_shared_bytes is None and shape.dynamic_shared_bytes is None:
        return fmt.NA
    return fmt.size((shape.static_shared_bytes or 0) + (shape.dynamic_shared_bytes or 0))
