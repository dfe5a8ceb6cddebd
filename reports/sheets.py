"""A sheet of a report: named columns of one length, with units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

DECIMALS: Final = {"ms": 6, "µs": 3, "%": 2}
"""What of a number people see, by its unit; others have three."""


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one kind: numbers or texts; None is a blank cell."""

    name: str
    values: Sequence[Any]
    unit: str = ""
    """ms, µs, ns or %; empty: a count or a text."""
    ours: bool = False
    """TraceLens has no such column."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of a report."""

    name: str
    columns: list[Column]

    @property
    def headings(self) -> list[str]:
        return [column.name for column in self.columns]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Row by row."""
        return zip(*(column.values for column in self.columns), strict=True)

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0


def stacked(parts: Sequence[Sheet]) -> Sheet:
    """One below the other: sheets with the same columns. A column that only some of them have is
    blank in the others, and stands at the end."""
    headings = list(dict.fromkeys(name for part in parts for name in part.headings))
    columns: list[Column] = []
    for name in headings:
        found = [{c.name: c for c in part.columns}.get(name) for part in parts]
        like = next(column for column in found if column is not None)
        values: list[Any] = []
        for part, column in zip(parts, found, strict=True):
            values += [None] * len(part) if column is None else list(column.values)
        columns.append(Column(name, values, like.unit, like.ours))
    return Sheet(parts[0].name, columns)


def titles(sheet: Sheet) -> list[str]:
    """Names of columns, with the unit where the name does not tell it."""
    return [
        column.name
        if not column.unit or column.unit in column.name or column.name.endswith(column.unit)
        else f"{column.name} ({column.unit})"
        for column in sheet.columns
    ]


def is_numeric(column: Column) -> bool:
    """No value is a text."""
    return all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        for value in column.values
    )


def cell_text(value: Any, column: Column) -> str:
    """The value for people: blank where it is not known. Texts as they are, not made safe."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{DECIMALS.get(column.unit, 3)}f}"
    return str(value)
