"""The arrow from a launch to the work it started, over the rows between them."""

from collections.abc import Iterator
from dataclasses import dataclass

from .glyphs import Glyphs


@dataclass(frozen=True, slots=True)
class Arrow:
    """Rows drawn and columns of its ends: the call and the work. They may lie outside the
    picture."""

    from_row: int
    from_column: int
    to_row: int
    to_column: int

    def cells(self, row: int, columns: int, glyphs: Glyphs) -> Iterator[tuple[int, str, bool]]:
        """What of it lies in a row: columns, signs, and whether they cover what is there: it
        goes along the row of the work only where that is empty."""
        for column, sign, covers in self._all(row, columns, glyphs):
            if 0 <= column < columns:
                yield column, sign, covers

    def _all(self, row: int, columns: int, glyphs: Glyphs) -> Iterator[tuple[int, str, bool]]:
        start, end = self.from_column, self.to_column
        down = self.to_row > self.from_row
        if row == self.from_row:
            yield start, glyphs.mark, True
        elif row == self.to_row:
            if start == end:
                yield end, glyphs.descending if down else glyphs.ascending, True
                return
            right = end > start
            yield start, glyphs.corners[0 if down else 1][right], False
            first, last = (start + 1, end) if right else (end + 1, start)
            for column in range(max(first, 0), min(last, columns)):
                yield column, glyphs.rule, False
            yield end, glyphs.heads[right], True
        elif min(self.from_row, self.to_row) < row < max(self.from_row, self.to_row):
            yield start, glyphs.upright, True
