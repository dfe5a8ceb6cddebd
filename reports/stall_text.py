"""What the warps of a kernel wait for, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzers.kernel_samples import hot_lines, hot_places
from ..analyzers.quantities import plural
from ..analyzers.stall_reasons import REASONS, stalls_of, words
from . import format as fmt
from .source_lines import SourceLines, source_lines
from .source_map import SourceMap
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.kernel_samples import Hot, KernelSamples, Place

_BAR = 20


def stall_text(samples: KernelSamples, width: int, sources: SourceMap) -> Iterator[str]:
    """Reasons with what they mean, then the source lines and the instructions that wait most."""
    yield from paragraph(samples_sentence(samples), width, "  ")
    _, stalls = stalls_of(samples.stalls)
    for stall in stalls:
        bar = "█" * max(1, round(stall.share * _BAR))
        yield f"  {words(stall.reason):<20} {bar:<{_BAR}} {fmt.share(stall.share):>7}"
        known = REASONS.get(stall.reason)
        if known is not None and stall.share >= 0.05:
            yield from paragraph(f"    {known.means}. Helps: {known.helps}.", width, "    ")
    if lines := hot_lines(samples):
        rows = [(*_figures(hot), place_text(hot.place), source(hot, sources)) for hot in lines]
        headings = ("stalled", "top reason", "line", "source")
        yield ""
        yield from table(headings, rows, width, left=(1, 2), name=3)
    if places := hot_places(samples):
        rows = [(*_figures(hot), hot.place.at, fmt.clean(hot.place.text)) for hot in places]
        headings = ("stalled", "top reason", "at", "instruction")
        yield ""
        yield from table(headings, rows, width, left=(1, 2), name=3)


def _figures(hot: Hot) -> tuple[str, str]:
    return fmt.share(hot.share), reason_text(hot)


def reason_text(hot: Hot) -> str:
    """Of most of its samples; `n/a` where none tells any."""
    return words(hot.reason) if hot.reason else fmt.NA


def place_text(place: Place) -> str:
    """`gemm.py:12`; empty where the line is not known."""
    if place.file is None or place.line is None:
        return ""
    return f"{fmt.clean(place.file.rpartition('/')[2])}:{place.line}"


def source(hot: Hot, sources: SourceMap) -> str:
    """The text of a source line: as the measurement brings it along, else as the file has it here;
    else why it cannot be shown, in brackets."""
    place = hot.place
    if place.source is not None:
        return fmt.clean(place.source.strip())
    if place.file is None:
        return ""
    found = source_lines(sources.local(place.file), place.line, around=0)
    if isinstance(found, SourceLines):
        return fmt.clean(found.lines[0].strip())
    return f"({found})"


def samples_sentence(samples: KernelSamples) -> str:
    """How many samples there are, how many of them do not wait, and what is special about them."""
    text = plural(samples.total, "sample")
    if not samples.stalls:
        text += (
            " without reasons: they tell where the kernel spends its time, not what it waits for."
        )
    else:
        text += f", {fmt.share(samples.issued_share)} of them issue an instruction. "
        text += "The others wait, as shares of these."
        if samples.unexplained:
            text += f" {fmt.count(samples.unexplained)} were recorded without a reason."
    if samples.not_issued is not None:
        idle = samples.not_issued / samples.total
        text += f" In {fmt.share(idle)} of all, the scheduler issued nothing, of any warp."
    if samples.spread:
        text += (
            " They are of the kernel in all its contexts, shared out by GPU time: the recording "
            "does not tell whose they are."
        )
    return text
