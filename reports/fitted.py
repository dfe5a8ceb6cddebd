"""Sheets as text that fits a width: the columns that tell most, and which others there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from ..analyzers.quantities import plural
from .format import clean, shorten_middle
from .kernel_label import kernel_label
from .sheets import Column, Sheet, cell_text, is_numeric, titles
from .text_table import paragraph

_GAP: Final = 2
_HEADING: Final = 12
"""Titles of columns are broken into lines of this length, where their words allow."""
_LEAST_TEXT, _MOST_TEXT = 16, 44
"""Cells of texts; the first text column of a sheet takes what the others leave."""
_NAME_SHARE: Final = 0.35
"""Of the width at least, where the first column is as long: what all figures are of."""
_KIND: Final = " (Synthetic Op)"
_WORK: Final = frozenset({"name", "Kernel name", "before", "after"})
"""Columns of names of kernels, and of operators that are called after theirs."""
_PROSE: Final = frozenset({"value", "explanation"})
"""Columns of sentences: they go on in the next line, where names give way in the middle."""
_IMPORTANCE: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(total_direct_kernel_time_ms|Percentage \(%\)|percent|time ms|dur_sum|value|explanation"
        r"|Kernel Time \(µs\)_sum|total_direct_kernel_time(_sum)?|Total comm latency \(ms\)"
        r"|total_wait_time_us|comm_latency|affected_us|self_gpu_time_us|gpu_time_ms|length_us"
        r"|(Kernel|Short Kernel) duration \(µs\)[ _]sum|Percent of kernels time.*|Kernel name)$"
        r"|__.*_pct$",
        r"^(Count|count|operation_count|name_count|direct_kernel_count|cause|severity|num_collectives"
        r"|(Kernel|Short Kernel) duration \(µs\)_?count|Short Kernel count|Pct Roofline_mean)$"
        r"|::.*_(sum|ms)$",
        r"^(op category|Collective name|Parent cpu_op|rank|device)$"
        r"|_diff$",
        r"^(TFLOPS/s_agg|TB/s_agg|bus bw.*mean|module path|Input Dims(_first)?|dtype|Group size"
        r"|times_arrived_last)$|^param: (?!.*(stride|dtype|dropout|bias))",
        r"_mean$|^linked |^(Roofline Bound(_first)?|Compute Spec|Input type(_first)?|phase)$",
    )
)
_LAST: Final = re.compile(
    r"_(std|median|min|max)$|^(process_|thread_)|[Ss]trides|Concrete|details|UID|Cumulative|_first$"
    r"|^perf_params$|^call_stack"
)


@dataclass(frozen=True, slots=True)
class _Shown:
    heading: list[str]
    cells: list[str]
    width: int
    right: bool
    prose: bool
    work: bool


def fitted(sheet: Sheet, rows: Sequence[Sequence[object]], width: int) -> Iterator[str]:
    """Lines of at most `width` characters for some rows of a sheet, as far as the first column
    and a figure allow; last, which columns found no room. Columns stay in their order."""
    shown = [
        _column(title, column, [row[i] for row in rows])
        for i, (title, column) in enumerate(zip(titles(sheet), sheet.columns, strict=True))
    ]
    names = sheet.headings
    blank = [not any(part.cells) for part in shown]
    # A figure that is there in ms too is not shown in µs beside it.
    twice = {f"{name.removesuffix('_ms')}_sum" for name in names if name.endswith("_ms")}
    places = [i for i, name in enumerate(names) if name not in twice]
    order = sorted(places, key=lambda i: (i > 0, blank[i], importance(names[i]), i))
    kept: list[int] = []
    used = 0
    least = {0: round(_NAME_SHARE * width)}
    for i in order:
        size = _least(shown[i], least.get(i, 0)) + (_GAP if kept else 0)
        if used + size <= width or not kept:
            kept.append(i)
            used += size
    kept.sort()
    yield from _lines(_widened([shown[i] for i in kept], width, least.get(kept[0], 0)))
    left_out = [name for i, name in enumerate(names) if i not in kept]
    if left_out:
        more = plural(len(left_out), "more column")
        text = f"{more} (--wide, or a file): {', '.join(short_list(left_out))}"
        yield ""
        yield from _at_most(paragraph(text, width, "  "), 3)


def importance(name: str) -> int:
    """Of a column, by its name: the lowest ones are shown first."""
    for rank, pattern in enumerate(_IMPORTANCE):
        if pattern.search(name):
            return rank
    return len(_IMPORTANCE) + bool(_LAST.search(name))


def short_list(names: Iterable[str]) -> list[str]:
    """Names of which the statistics of one figure are told together: `TB/s_{mean,min}`."""
    groups: dict[str, list[str]] = {}
    for name in names:
        stem, mark, word = name.rpartition("_")
        told = mark and word in ("mean", "median", "std", "min", "max", "sum", "first", "agg")
        groups.setdefault(stem if told else name, []).append(word if told else "")
    return [
        stem if words == [""] else f"{stem}_{words[0]}" if len(words) == 1
        else f"{stem}_{{{','.join(words)}}}"
        for stem, words in groups.items()
    ]  # fmt: skip


def _column(title: str, column: Column, values: Sequence[object]) -> _Shown:
    cells = [clean(cell_text(value, column)) for value in values]
    right = is_numeric(column)
    longest = max(map(len, cells), default=0)
    heading = _broken(clean(title), max(_HEADING, min(longest, _MOST_TEXT)))
    width = max(longest, *map(len, heading))
    return _Shown(heading, cells, width, right, column.name in _PROSE, column.name in _WORK)


def _broken(title: str, width: int) -> list[str]:
    """The title in lines, broken behind `_`, `/` and spaces only."""
    lines = [""]
    for piece in re.findall(r"[^_/ ]*[_/ ]?", title):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _least(part: _Shown, wanted: int = 0) -> int:
    """A figure is never cut, a text is."""
    if part.right:
        return part.width
    return min(part.width, max(_LEAST_TEXT, wanted, *map(len, part.heading)))


def _widened(parts: list[_Shown], width: int, first: int) -> list[_Shown]:
    """Texts take the room that is left, the first ones first; the first part has `first` at
    least."""
    least = [_least(part, first if i == 0 else 0) for i, part in enumerate(parts)]
    room = width - sum(size + _GAP for size in least) + _GAP
    found: list[_Shown] = []
    for part, size in zip(parts, least, strict=True):
        more = min(part.width - size, max(room, 0))
        room -= more
        found.append(replace(part, width=size + more))
    return found


def _lines(parts: list[_Shown]) -> Iterator[str]:
    height = max(len(part.heading) for part in parts)
    for level in range(height):
        words = [[""] * (height - len(part.heading)) + part.heading for part in parts]
        yield _line(parts, [lines[level] for lines in words])
    yield _line(parts, ["─" * part.width for part in parts])
    for row in zip(*(part.cells for part in parts), strict=True):
        cells = [
            paragraph(text, part.width) if part.prose else [text]
            for text, part in zip(row, parts, strict=True)
        ]
        for texts in zip_longest(*cells, fillvalue=""):
            yield _line(parts, texts)


def _line(parts: list[_Shown], texts: Sequence[str]) -> str:
    cells = (
        text.rjust(part.width) if part.right else _shortened(text, part).ljust(part.width)
        for part, text in zip(parts, texts, strict=True)
    )
    return (" " * _GAP).join(cells).rstrip()


def _shortened(text: str, part: _Shown) -> str:
    """What tells names apart: what all of a kind end with goes first, then what kernels do not
    compute, at last the middle."""
    if len(text) > part.width and part.work:
        text = text.removesuffix(_KIND)
        launcher, arrow, kernel = text.rpartition("->") if " -> " not in text else ("", "", text)
        if "<" in kernel or "(" in kernel:
            text = launcher + arrow + kernel_label(kernel)
    return shorten_middle(text, part.width)


def _at_most(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][:-2]} …"]
