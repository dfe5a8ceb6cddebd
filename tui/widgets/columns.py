"""Which columns fit, where they stand, and the line of their headings."""

from collections.abc import Sequence
from dataclasses import dataclass

from .fit import clean, fit
from .glyphs import Glyphs
from .sources import ColumnSpec

GAP = 1


@dataclass(frozen=True, slots=True)
class Placed:
    """A column that is shown: its place among all columns, and its cells on the line."""

    spec: ColumnSpec
    index: int
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns shown, left to right, in a line of `width` cells after the mark."""

    placed: tuple[Placed, ...]
    width: int
    hidden_left: bool = False
    hidden_right: bool = False

    def at(self, x: int) -> Placed | None:
        """The column at a cell of the line."""
        for column in self.placed:
            if column.x <= x < column.x + column.width + GAP:
                return column
        return None


def place_by_rank(columns: Sequence[ColumnSpec], width: int, keep: str) -> Layout:
    """Leave out columns, highest rank first, until the flexible one has its least width.

    Columns of rank 0 and the column `keep` (the sorted one) stay."""
    shown = list(range(len(columns)))
    droppable = sorted(
        (i for i in shown if columns[i].rank and columns[i].key != keep),
        key=lambda i: (columns[i].rank, i),
    )
    while droppable and _needed(columns, shown) > width:
        shown.remove(droppable.pop())
    return _place(columns, shown, width)


def place_from(columns: Sequence[ColumnSpec], width: int, first: int) -> Layout:
    """Show the columns from `first` on that fit; the flexible one is always among them."""
    fixed = [i for i, column in enumerate(columns) if not column.flexible]
    flexible = [i for i, column in enumerate(columns) if column.flexible]
    if _needed(columns, range(len(columns))) <= width:
        return _place(columns, list(range(len(columns))), width)
    first = min(first, max(0, len(fixed) - 1))
    shown = [*flexible]
    taken = 0
    for index in fixed[first:]:
        if taken and _needed(columns, [*shown, index]) > width:
            break
        shown.append(index)
        taken += 1
    layout = _place(columns, sorted(shown), width)
    return Layout(layout.placed, width, first > 0, first + taken < len(fixed))


def _needed(columns: Sequence[ColumnSpec], shown: Sequence[int]) -> int:
    return sum(columns[i].width + GAP for i in shown) - GAP if shown else 0


def _place(columns: Sequence[ColumnSpec], shown: Sequence[int], width: int) -> Layout:
    spare = width - _needed(columns, shown)
    placed: list[Placed] = []
    x = 0
    for index in shown:
        spec = columns[index]
        cells = max(1, spec.width + spare) if spec.flexible else spec.width
        cells = min(cells, width - x)
        if cells <= 0:
            break
        placed.append(Placed(spec, index, x, cells))
        x += cells + GAP
    return Layout(tuple(placed), width)


def sort_letters(columns: Sequence[ColumnSpec]) -> dict[str, int]:
    """A letter for each sortable column, from its heading where free, else from the alphabet.

    `s` is left out: it goes on to the next column."""
    letters: dict[str, int] = {}
    for index, column in enumerate(columns):
        if not column.sortable:
            continue
        for letter in column.header.lower() + "abcdefghijklmnopqrtuvwxyz":
            if letter != "s" and letter.isascii() and letter.isalpha() and letter not in letters:
                letters[letter] = index
                break
    return letters


def letter_choices(columns: Sequence[ColumnSpec]) -> str:
    """Which letters choose which columns, in a sentence."""
    choices = [f"{letter} {columns[at].header}" for letter, at in sort_letters(columns).items()]
    return f"Sort by {', '.join(choices)}, or s for the next column."


def header_line(
    layout: Layout, order: tuple[str, bool], glyphs: Glyphs, letters: dict[str, int] | None
) -> str:
    """The headings, with the arrow of the order, or with each column's letter while choosing."""
    line = ""
    by_index = {index: letter for letter, index in (letters or {}).items()}
    for column in layout.placed:
        text = clean(column.spec.header)
        if column.index in by_index:
            text = _with_letter(text, by_index[column.index], column.width)
        elif letters is None and column.spec.key == order[0]:
            arrow = glyphs.descending if order[1] else glyphs.ascending
            if column.spec.align == "right":
                text = arrow + fit(text, column.width - 1, "right", glyphs.ellipsis).lstrip()
            else:
                text = f"{text} {arrow}"
        line = line.ljust(column.x) + fit(text, column.width, column.spec.align, glyphs.ellipsis)
    line = line.ljust(layout.width)
    if layout.hidden_right:
        line = line[:-1] + glyphs.more_right
    return line


def _with_letter(text: str, letter: str, width: int) -> str:
    at = text.lower().find(letter)
    marked = f"{text[:at]}[{text[at]}]{text[at + 1 :]}" if at >= 0 else f"[{letter}]{text}"
    return marked if len(marked) <= width else f"[{letter}]{text}"[:width]
