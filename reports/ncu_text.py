"""What Nsight Compute measured of a kernel, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzers.ncu_figures import figures
from ..analyzers.quantities import plural
from ..analyzers.stall_reasons import REASONS, Stall, hot_lines, stalls_of, words
from ..ingest.stall_names import SELECTED
from . import format as fmt
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..ingest.ncu import NcuKernel

_BAR = 20


def ncu_text(kernel: NcuKernel, same_shape: bool | None, width: int) -> Iterator[str]:
    """Figures, stalls with what they mean, the lines that wait most, and the tool's own advice."""
    shape = f", grid {fmt.dim3(kernel.grid)}, block {fmt.dim3(kernel.block)}" if kernel.grid else ""
    other = "; the trace has no launch of this shape" if same_shape is False else ""
    yield from paragraph(f"Measured by Nsight Compute{shape}{other}:", width)
    for text in figure_texts(kernel):
        yield f"  {text}"
    _, stalls = stalls_of(kernel.stalls)
    yield ""
    if not stalls:
        yield from paragraph(
            "Stalls: n/a, this page of the export has no samples. Export the raw or the source "
            "page: ncu --import REPORT.ncu-rep --page source --csv > kernel.csv",
            width,
            "  ",
        )
    else:
        yield from paragraph(issued_sentence(kernel), width, "  ")
        yield from _reasons(stalls, width)
        yield from _hot_lines(kernel, sum(one.samples for one in stalls), width)
    advice = [rule for rule in kernel.rules if rule.speedup_percent is not None]
    for rule in sorted(advice, key=lambda rule: -(rule.speedup_percent or 0)):
        text = f"{rule.name} (estimates up to {fmt.number(rule.speedup_percent)} %): {rule.text}"
        yield from ("", *paragraph(text, width, "  "))


def _reasons(stalls: tuple[Stall, ...], width: int) -> Iterator[str]:
    for stall in stalls:
        bar = "█" * max(1, round(stall.share * _BAR))
        yield f"  {words(stall.reason):<20} {bar:<{_BAR}} {fmt.share(stall.share):>7}"
        known = REASONS.get(stall.reason)
        if known is not None and stall.share >= 0.05:
            yield from paragraph(f"    {known.means}. Helps: {known.helps}.", width, "    ")


def figure_texts(kernel: NcuKernel) -> list[str]:
    """`achieved occupancy: 96.26 %`."""
    return [
        f"{figure.label}: {fmt.number(value, 2)} {figure.unit}".rstrip()
        for figure, value in figures(kernel)
    ]


def issued_sentence(kernel: NcuKernel) -> str:
    """How many samples there are, and how many of them do not wait."""
    samples, _ = stalls_of(kernel.stalls)
    issued = kernel.stalls.get(SELECTED, 0) / samples
    return (
        f"{plural(samples, 'sample')}, {fmt.share(issued)} of them issue an instruction. "
        "The others wait, as shares of these."
    )


def _hot_lines(kernel: NcuKernel, stalled: int, width: int) -> Iterator[str]:
    rows = [
        (fmt.share(samples / stalled), words(reason), line.address, line.text)
        for line, samples, reason in hot_lines(kernel)
    ]
    if rows:
        yield ""
        yield from table(
            ("stalled", "top reason", "at", "instruction"), rows, width, left=(1, 2), name=3
        )
