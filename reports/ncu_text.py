"""What Nsight Compute measured of a kernel, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..analyzers.kernel_roofline import measured_points
from ..analyzers.kernel_samples import of_ncu
from ..analyzers.ncu_figures import figures
from . import format as fmt
from .roofline_text import measured_sentence
from .source_map import SourceMap
from .stall_text import stall_text
from .text_table import paragraph

if TYPE_CHECKING:
    from ..ingest.ncu import NcuKernel

_LISTED = 8


def ncu_text(
    kernel: NcuKernel, same_shape: bool | None, width: int, sources: SourceMap
) -> Iterator[str]:
    """Figures, stalls with what they mean, the lines that wait most, and the tool's own advice."""
    shape = f", grid {fmt.dim3(kernel.grid)}, block {fmt.dim3(kernel.block)}" if kernel.grid else ""
    other = "; the trace has no launch of this shape" if same_shape is False else ""
    yield from paragraph(f"Measured by Nsight Compute{shape}{other}:", width)
    for text in figure_texts(kernel):
        yield f"  {text}"
    for point in measured_points(kernel):
        yield from paragraph(measured_sentence(point), width, "  ")
    samples = of_ncu(kernel)
    yield ""
    if samples is None:
        yield from paragraph(
            "Stalls: n/a, this page of the export has no samples. Export the raw or the source "
            "page: ncu --import REPORT.ncu-rep --page source --csv > kernel.csv",
            width,
            "  ",
        )
    else:
        yield from stall_text(samples, width, sources)
    advice = [rule for rule in kernel.rules if rule.speedup_percent is not None]
    for rule in sorted(advice, key=lambda rule: -(rule.speedup_percent or 0)):
        text = f"{rule.name} (estimates up to {fmt.number(rule.speedup_percent)} %): {rule.text}"
        yield from ("", *paragraph(text, width, "  "))


def figure_texts(kernel: NcuKernel) -> list[str]:
    """`achieved occupancy: 96.26 %`."""
    return [
        f"{figure.label}: {fmt.number(value, 2)} {figure.unit}".rstrip()
        for figure, value in figures(kernel)
    ]


def not_measured(kernels: Sequence[NcuKernel]) -> str:
    """That none of the profiled kernels is the one asked for, and which there are."""
    names = list(dict.fromkeys(fmt.clean(kernel.name) for kernel in kernels))
    more = f"; and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"What --ncu gives has no launch of it. It has: {'; '.join(names[:_LISTED])}{more}."
