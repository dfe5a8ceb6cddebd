"""A table of the source page: a row for each instruction, for each source line, or both in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..stall_names import canonical
from .kernel import NcuKernel, NcuLine
from .number import number

_LINE = "Line No"
_NOT_ISSUED = "Warp Stall Sampling (Not-issued"
_REASON = "stall_"


def is_header(row: Sequence[str]) -> bool:
    """The first row of such a table."""
    return "Source" in row and any(cell.startswith("Warp Stall") for cell in row)


@dataclass(slots=True)
class SourcePage:
    """Rows below one header, of one kernel."""

    header: Sequence[str]
    kernel: NcuKernel
    file: str | None = None
    seen: set[str] = field(default_factory=set[str])
    """Addresses of the kernel: an instruction of inlined code stands below each of its lines."""
    _line: int | None = None
    _source: str | None = None

    def add(self, row: Sequence[str]) -> None:
        """One row. What a source line has in all is in its instructions, where they are given."""
        cells = dict(zip(self.header, row, strict=False))
        by_line, by_address = _LINE in self.header, "Address" in self.header
        if by_line and cells[_LINE]:
            told = number(cells[_LINE])
            self._line = None if told is None else int(told)
            self._source = row[self.header.index("Source")].rstrip()
        address = cells.get("Address", "")
        if by_line and by_address and (not address or address in self.seen):
            return
        self.seen.add(address)
        stalls, text = _stalls(cells), cells["Source"].strip()
        if by_line and not by_address:
            text = ""
            if self._line is None or not stalls:
                return
        if text or stalls:
            at = address or ("" if by_line else cells.get("#", ""))
            self.kernel.lines.append(
                NcuLine(
                    at, text, stalls, _not_issued(cells), self._known_file, self._line, self._source
                )
            )

    @property
    def _known_file(self) -> str | None:
        return self.file if self._line is not None else None


def _stalls(cells: dict[str, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, text in cells.items():
        if name.startswith(_REASON) and "ot" not in name.partition(" (")[2]:
            value = number(text)
            if value:
                found[canonical(name.removeprefix(_REASON))] = round(value)
    return found


def _not_issued(cells: dict[str, str]) -> int | None:
    for name, text in cells.items():
        if name.startswith(_NOT_ISSUED):
            value = number(text)
            return None if value is None else round(value)
    return None
