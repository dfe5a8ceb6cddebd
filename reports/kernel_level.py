"""Gaps of the GPUs, use of CUDA graphs and repeating kernels as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzers.kernel_level import eager_groups, part_of, pattern_parts
from . import format as fmt
from .idle_causes import IDLE_TITLES, UNNAMED, gap_length
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.gaps import Gap, Gaps
    from ..analyzers.graph_coverage import GraphCoverage
    from ..analyzers.kernel_level import KernelLevel
    from ..analyzers.kernel_pattern import KernelPattern
    from ..analyzers.straggler import Straggler

_LONGEST = 5
_WORTH_NS = 1_000
"""Shorter pauses are how the GPU dispatches, nothing to look at."""
_EAGER = 8
_POSITIONS = 8
_CAUSES = 3
_CAUSE = 48
"""Characters of its name."""


def kernel_level_text(level: KernelLevel, width: int) -> Iterator[str]:
    """Lines of at most `width` characters."""
    yield from pauses_text(level.pauses, width)
    yield from longest_text(level, width)
    yield ""
    yield from graphs_text(level, width)
    if level.pattern is not None:
        yield ""
        yield from pattern_text(level, level.pattern, width)


def pauses_text(pauses: Gaps, width: int) -> Iterator[str]:
    """How many pauses of which length, over all GPUs; with the edges they are all idle time."""
    window = pauses.window
    idle = sum(pauses.idle_ns.values())
    where = "the GPU" if len(pauses.devices) == 1 else f"{len(pauses.devices)} GPUs"
    span = fmt.span(window.start_ns, window.end_ns)
    yield from paragraph(f"Idle gaps of {where} (no kernel or graph running) in {span}", width)
    rows: list[tuple[str, ...]] = []
    between = 0
    for place, bucket in enumerate(pauses.devices[0].buckets if pauses.devices else ()):
        same = [table_.buckets[place] for table_ in pauses.devices]
        count, total = sum(b.count for b in same), sum(b.total_ns for b in same)
        between += total
        if count:
            rows.append((gap_length(bucket), fmt.count(count), *_idle(total, idle),
                         bucket.typical_cause))  # fmt: skip
    if idle - between:
        rows.append(("window edges", "", *_idle(idle - between, idle), ""))
    if not rows:
        yield "  none"
        return
    headings = ("length", "count", "total", "of idle", "typical cause")
    yield from table(headings, rows, width, left=(4,))


def longest_text(level: KernelLevel, width: int) -> Iterator[str]:
    """The longest pauses, what ran around them and what the host did in them."""
    shown = [gap for gap in level.pauses.largest if gap.length_ns >= _WORTH_NS][:_LONGEST]
    if shown:
        yield "Longest idle gaps, from the end of one kernel to the start of the next"
    for gap in shown:
        lines = [
            f"{fmt.duration(gap.length_ns)} on {level.labels[gap.device]} at "
            f"{gap.start_ns / 1e9:.6f} s: {_causes(gap)}",
            *([f"  from  {fmt.shorten_middle(gap.before.name, width - 12)}"]
              if gap.before is not None else []),
            *([f"  to    {fmt.shorten_middle(gap.after.name, width - 12)}"]
              if gap.after is not None else []),
        ]  # fmt: skip
        way = () if gap.after is None else _way(level, gap.after.launch_node)
        if way:
            lines.append(f"  in    {fmt.path(way, width - 12)}")
        yield from (f"  {line}" for line in paragraph(lines[0], width - 2, indent="  "))
        yield from (f"  {fmt.clean(line)}" for line in lines[1:])


def graphs_text(level: KernelLevel, width: int) -> Iterator[str]:
    """Share of CUDA graphs, and what is launched one by one beside them."""
    coverage = level.coverage
    yield from paragraph(f"CUDA graphs: {_coverage(coverage)}", width, indent="  ")
    if coverage.basis == "none" or not coverage.eager:
        return
    marks = " (* of a kind that graphs usually hold)" if coverage.mostly_graphs else ""
    yield f"Launched one by one{marks}"
    groups = eager_groups(level)
    rows = [
        (
            group.name,
            "*" if group.capturable else "",
            fmt.count(group.launches),
            fmt.duration(group.gpu_ns),
            fmt.shorten_middle(group.operation, 24),
        )
        for group in groups[:_EAGER]
    ]
    yield from table(("kernel", "", "launches", "GPU time", "in"), rows, width, left=(4,))
    if len(groups) > _EAGER:
        yield f"  … and {len(groups) - _EAGER:,} more"


def pattern_text(level: KernelLevel, pattern: KernelPattern, width: int) -> Iterator[str]:
    """The kernels of a layer, those with most pause before them first."""
    number = f" {pattern.step_number}" if pattern.step_number >= 0 else ""
    yield from paragraph(
        f"Repeating kernels of {level.labels[pattern.device]}, typical step{number}: "
        f"{len(pattern.positions):,} kernels x {pattern.repeats:,} repeats, "
        f"{fmt.share(pattern.coverage)} of the step's kernels; gaps before them "
        f"{fmt.duration(pattern.gap_ns)} per step",
        width,
        indent="  ",
    )
    repeats = pattern.repeats
    rows = [
        (
            position.name,
            part_of(level, position),
            fmt.number(position.kernel_ns / 1000 / repeats),
            fmt.number(position.gap_ns / 1000 / repeats),
            fmt.number(position.gap_ns / 1000),
        )
        for position in pattern.by_gap()[:_POSITIONS]
    ]
    headings = ("kernel", "part", "µs", "gap, µs", f"x {repeats:,}, µs")
    yield from table(headings, rows, width, left=(1,))
    if len(pattern.positions) > _POSITIONS:
        yield f"  … and {len(pattern.positions) - _POSITIONS:,} more with shorter gaps"
    parts = pattern_parts(level, pattern)
    if len(parts) > 1:
        yield from table(
            ("part of the layer", "kernels", "µs", "gap, µs", f"x {repeats:,}, µs"),
            [
                (
                    part.part,
                    fmt.count(part.positions),
                    fmt.number(part.kernel_ns / 1000 / repeats),
                    fmt.number(part.gap_ns / 1000 / repeats),
                    fmt.number(part.gap_ns / 1000),
                )
                for part in parts
            ],
            width,
        )


def straggler_text(found: Straggler | None, width: int) -> list[str]:
    """Who comes last to the collectives, also where it does not matter."""
    if found is None:
        return []
    return paragraph(
        f"Collectives: {found.label} comes last to {100 * found.last_share:.0f} % of "
        f"{found.collectives:,}, by {fmt.duration(found.late_ns)} in the median"
        f"{'' if found.matters else ': no straggler'}.",
        width,
    )


def _idle(ns: int, idle: int) -> tuple[str, str]:
    return fmt.duration(ns), fmt.share(ns / idle if idle else None)


def _causes(gap: Gap) -> str:
    """`cudaStreamSynchronize (waiting call) 80.1 %, …` of the length of the pause."""
    parts = [
        f"{fmt.shorten_middle(text, _CAUSE) or UNNAMED.get(kind, '-')}"
        f"{f' ({IDLE_TITLES[kind]})' if text else ''} {fmt.share(ns / gap.length_ns)}"
        for kind, text, ns in gap.causes[:_CAUSES]
    ]
    rest = len(gap.causes) - len(parts)
    return ", ".join(parts) + (f", {rest} more" if rest else "")


def _coverage(coverage: GraphCoverage) -> str:
    if coverage.basis == "none":
        return "none ran in the window"
    if coverage.basis in ("kernels", "launches"):
        return (
            f"{fmt.share(coverage.coverage)} of the kernels run in graphs "
            f"({fmt.count(coverage.graph_kernels)} of {fmt.count(coverage.kernels)})"
        )
    return (
        f"{fmt.share(coverage.coverage)} of the GPU's busy time is graph replay "
        f"({fmt.count(coverage.replays)} replays; the kernels inside them were not recorded)"
    )


def _way(level: KernelLevel, node: int | None) -> tuple[str, ...]:
    return () if node is None else level.way.get(node, ())
