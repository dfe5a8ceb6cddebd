"""The last look at a line before it is drawn."""

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter


class ControlFilter(LineFilter):
    """Takes out what could drive the terminal, whichever widget let it through: also the file
    names of the file picker and the error messages of libraries. Widths stay as they are."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [
            Segment(
                "".join(c if c.isprintable() else " " * cell_len(c) for c in segment.text),
                segment.style,
                segment.control,
            )
            for segment in segments
        ]
