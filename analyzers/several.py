"""Several targets against one base: their rows as one table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..queries.metric import Metric
    from .side_by_side import SideBySide


@dataclass(frozen=True, slots=True)
class Cell:
    """A row of one target: ns or numbers."""

    value: float | None
    """None: the target has no such row."""
    delta: float
    within_noise: bool | None
    """None where nothing can tell."""


@dataclass(frozen=True, slots=True)
class SharedRow:
    """A row of the base, or one that only targets have."""

    name: str
    depth: int
    base: float | None
    """By the steps that are compared with the first target that has any."""
    cells: tuple[Cell | None, ...]
    """By target; None: the metric could not be compared."""

    @property
    def largest(self) -> float:
        """The size of the largest change."""
        return max((abs(cell.delta) for cell in self.cells if cell is not None), default=0.0)


def shared_rows(parts: Sequence[SideBySide], metric: Metric) -> list[SharedRow]:
    """One part of every target's comparison, the largest change first. Rows of several targets are
    one when the base has them, or when they have the same names from the root on."""
    names: dict[Hashable, str] = {}
    base: dict[Hashable, float | None] = {}
    depth: dict[Hashable, int] = {}
    cells: dict[Hashable, list[Cell | None]] = {}
    for at, sides in enumerate(parts):
        if metric in sides.missing:
            continue
        change = sides.metrics[metric]
        within = change.within_noise
        keys: list[Hashable] = []
        depths: list[int] = []
        for row, name in enumerate(sides.names):
            above = int(sides.parent[row])
            in_base = int(sides.base_node[row]) >= 0
            of_caller = None if above < 0 else keys[above]
            key = int(sides.base_node[row]) if in_base else (of_caller, sides.layer[row], name)
            keys.append(key)
            depths.append(0 if above < 0 else depths[above] + 1)
            if key not in names:
                names[key] = sides.base_names[row] or name if in_base else name
                base[key] = float(change.base[row]) if in_base else None
                depth[key] = depths[row]
                # A target that has nothing like a row of another one has none, and changed nothing.
                cells[key] = [
                    None if metric in part.missing else Cell(None, 0.0, None) for part in parts
                ]
            there = sides.target_node[row] >= 0 or change.target[row]
            cells[key][at] = Cell(
                value=float(change.target[row]) if there else None,
                delta=float(change.delta[row]),
                within_noise=None if sides.no_intervals else bool(within[row]),
            )
    found = [SharedRow(names[k], depth[k], base[k], tuple(cells[k])) for k in names]
    return sorted(found, key=lambda row: (-row.largest, row.name))
