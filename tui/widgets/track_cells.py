"""Lines of single cells: of texts, into segments, and what of a line has changed."""

from collections.abc import Sequence
from itertools import takewhile

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


def cells_of(text: str, room: int) -> list[str]:
    """A text by cells: wide characters take two, the second of which is empty."""
    if text.isascii():
        return list(text)
    cells: list[str] = []
    for sign in text:
        wide = cell_len(sign)
        if wide == 0 and cells:
            cells[-1] += sign
        else:
            cells += [sign, *[""] * (wide - 1)]
    return (cells + [" "] * room)[:room]


def joined(cells: Sequence[tuple[str, Style]]) -> list[Segment]:
    """Neighbours of one style are one segment."""
    segments: list[Segment] = []
    run: list[str] = []
    now: Style | None = None
    for sign, style in cells:
        if style is not now and style != now:
            if run and now is not None:
                segments.append(Segment("".join(run), now))
            run, now = [], style
        run.append(sign)
    if run and now is not None:
        segments.append(Segment("".join(run), now))
    return segments


def changed(old: Strip, new: Strip) -> tuple[int, int] | None:
    """First cell and number of cells in which two lines differ; None: in none."""
    if old.cell_length != new.cell_length:
        return 0, new.cell_length
    before, after = list(old), list(new)
    first = _same(before, after)
    if first == new.cell_length:
        return None
    last = _same([_turned(s) for s in reversed(before)], [_turned(s) for s in reversed(after)])
    return first, new.cell_length - first - last


def _turned(segment: Segment) -> Segment:
    return Segment(segment.text[::-1], segment.style)


def _same(before: Sequence[Segment], after: Sequence[Segment]) -> int:
    """Cells from the beginning on in which both are alike. Segments in which a character is not a
    cell are alike as a whole or not at all."""
    pairs = list(zip(before, after, strict=False))
    alike = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    cells = sum(segment.cell_length for segment in before[:alike])
    if alike < len(pairs):
        (one, style, _), (other, other_style, _) = pairs[alike]
        if style == other_style and all(cell_len(text) == len(text) for text in (one, other)):
            characters = zip(one, other, strict=False)
            cells += sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], characters))
    return cells
