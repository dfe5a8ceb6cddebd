"""Texts made to fit a number of terminal cells, whatever they contain."""

from rich.cells import cell_len, chop_cells, set_cell_size

from ...reports.format import clean, clean_lines

__all__ = ["bar", "cells", "clean", "clean_lines", "fit", "shorten", "skip", "whole_parts", "wrap"]

_BETWEEN = " · "


def cells(text: str) -> int:
    """Width of a text in terminal cells."""
    # Names are ASCII but for our own ellipsis; measuring anything else is slow.
    return len(text) if text.replace("…", "").isascii() else cell_len(text)


def fit(text: str, width: int, align: str = "left", ellipsis: str = "…") -> str:
    """The text in exactly `width` cells; when too long its end gives way to the ellipsis."""
    if text.isascii():
        length = len(text)
        if length <= width:
            return text.rjust(width) if align == "right" else text.ljust(width)
        return (text[: width - 1] + ellipsis) if width > 1 else text[:width]
    length = cells(text)
    if length > width:
        return (
            set_cell_size(text, width - 1) + ellipsis if width > 1 else set_cell_size(text, width)
        )
    padding = " " * (width - length)
    return padding + text if align == "right" else text + padding


def shorten(text: str, width: int, ellipsis: str = "…") -> str:
    """At most `width` cells: a long text loses its middle, for both ends tell names apart."""
    if cells(text) <= width:
        return text
    if width <= 4:
        return set_cell_size(text, max(width, 0))
    tail = (width - 1) * 2 // 5
    if text.isascii():
        return text[: width - 1 - tail] + ellipsis + text[len(text) - tail :]
    head = set_cell_size(text, width - 1 - tail).rstrip()
    return head + ellipsis + _last_cells(text, width - 1 - cell_len(head))


def whole_parts(text: str, width: int) -> str:
    """The first of the figures between dots, as many as fit: one cut within would be another."""
    parts = clean(text).split(_BETWEEN)
    while len(parts) > 1 and cells(_BETWEEN.join(parts)) > width:
        parts.pop()
    return _BETWEEN.join(parts)


def skip(text: str, cells: int) -> str:
    """The text without its first `cells` cells."""
    if text.isascii():
        return text[cells:]
    if cell_len(text) <= cells:
        return ""
    return _last_cells(text, cell_len(text) - cells)


def bar(share: float | None, width: int, blocks: str) -> str:
    """A horizontal bar for a share of 0 to 1, `width` cells in all. None is blank.

    A share above zero shows at least the thinnest mark."""
    if share is None or share <= 0:
        return " " * width
    steps = len(blocks)
    filled = min(width * steps, max(1, round(share * width * steps)))
    whole, part = divmod(filled, steps)
    return (blocks[-1] * whole + (blocks[part - 1] if part else "")).ljust(width)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells, broken between words; longer words are broken too."""
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        line = ""
        for word in clean(paragraph).split():
            joined = f"{line} {word}" if line else word
            if cell_len(joined) <= width:
                line = joined
                continue
            if line:
                lines.append(line)
            *full, line = chop_cells(word, width) or [""]
            lines += full
        lines.append(line)
    return lines


def _last_cells(text: str, width: int) -> str:
    start = len(text)
    used = 0
    while start > 0:
        used += cell_len(text[start - 1])
        if used > width:
            break
        start -= 1
    return text[start:]
