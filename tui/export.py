"""Writing what a view shows to a file of the user's choice."""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..reports.format import clean

FORMATS = (".csv", ".txt", ".svg")
"""Endings of what every view can be written as."""

Writer = Callable[[Path], None]
"""Writes to a file that takes the place of the chosen one once it is whole."""


class NotWrittenError(Exception):
    """A view cannot be written, wherever to; the text is for the user."""


Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Raw values under machine-readable headings (units in the names)."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Cell]]

    def csv(self) -> str:
        import csv

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def text(self) -> str:
        """Columns aligned, numbers to the right; each row is one line."""
        rows = [[_shown(cell) for cell in row] for row in self.rows]
        right = [
            bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(self.columns))
        ]
        widths = [max(map(len, column)) for column in zip(self.columns, *rows, strict=True)]
        lines = [
            "  ".join(
                text.rjust(width) if number else text.ljust(width)
                for text, width, number in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in (self.columns, *rows)
        ]
        return "\n".join(lines) + "\n"


def _shown(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return "" if cell is None else clean(str(cell))


def _same_file(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False  # one of them is not there


def _is_number(text: str) -> bool:
    return not text or text.replace(".", "", 1).replace("-", "", 1).isdecimal()


@dataclass(slots=True)
class TargetCheck:
    """Accepts a file name for the export; an existing file only when it is confirmed, and never
    one of `protected` (the trace and its store), under whatever name."""

    directory: Path
    protected: Sequence[Path] = ()
    endings: Sequence[str] = FORMATS
    _confirmed: str = field(default="", init=False)

    def __call__(self, name: str) -> str:
        path = self.directory / name
        if not name or path.is_dir():
            return "Type a file name."
        if path.suffix.lower() not in self.endings:
            return f"The ending chooses the format: {', '.join(self.endings)}."
        if not path.parent.is_dir():
            return f"There is no directory {path.parent}."
        if any(_same_file(path, kept) for kept in self.protected):
            return "This is the trace itself. Choose another name."
        if path.exists() and name != self._confirmed:
            self._confirmed = name
            return f"{name} exists. Enter again to overwrite it."
        return ""
