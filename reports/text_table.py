"""Tables of figures by name for plain text: the name gives way, a figure never breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from .format import clean, shorten_middle

_UNIT = re.compile(r"([\d)±+>≤≥<→-]) (?=[\d(+-]|(?:%|[nµm]?s|x|[KMGT]i?B|steps?|ranks?)\b|%)")
"""The space between a figure and its unit, or a sign and its figure."""
_NUMBERED = re.compile(r"\bGPU (?=\d)")
_LONGEST = 1_000
_NAME = 16
"""Below this width of its column a name gets a line of its own."""


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    left: Sequence[int] = (),
    name: int = 0,
    indent: str = "  ",
) -> Iterator[str]:
    """Lines of at most `width` characters, as far as the figures allow.

    Column `name` takes what the others leave, shortened in the middle; the columns `left` and the
    name are aligned to the left. With too little room each name stands above its figures.
    """
    cells = [[clean(cell) for cell in row] for row in rows]
    sizes = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    fixed = len(indent) + sum(size + 1 for i, size in enumerate(sizes) if i != name)
    folded = width - fixed < min(_NAME, sizes[name])
    room = width - len(indent) if folded else min(sizes[name], width - fixed)

    def line(row: Sequence[str]) -> str:
        parts: list[str] = []
        for i, cell in enumerate(row):
            if i == name:
                if not folded:
                    parts.append(shorten_middle(cell, room).ljust(room))
            else:
                parts.append(cell.ljust(sizes[i]) if i in left else cell.rjust(sizes[i]))
        return (indent + " ".join(parts)).rstrip()

    yield line(headings)
    for row in cells:
        if folded:
            yield indent + shorten_middle(row[name], room)
        yield line(row)


def paragraph(text: str, width: int, indent: str = "") -> list[str]:
    """The text in lines, those after the first indented. A figure stays with its unit. A name from
    a trace may make a text of any length: the middle of such a one gives way."""
    text = shorten_middle(clean(text), _LONGEST)
    tied = _NUMBERED.sub("GPU\u00a0", _UNIT.sub("\\1\u00a0", text))
    lines = wrap(tied, width, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines] or [""]
