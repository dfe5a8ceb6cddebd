"""The parts of a comparison that were asked for, with what changed in how calls were made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .launch_changes import named_changes

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .launch_changes import WayChange
    from .side_by_side import Compare, SideBySide

PATHS = ("Call paths",)
KERNELS = ("GPU work by name", "Collectives")
OPERATIONS = ("Operations by name", "Ranges by name", "API calls by name")
ALL = (*PATHS, *KERNELS, *OPERATIONS)


@dataclass(frozen=True, slots=True)
class Part:
    """One table, or the tree."""

    sides: SideBySide
    changes: Mapping[int, tuple[WayChange, ...]]
    """By row; rows without such a change are left out."""


def chosen_parts(
    base: Trace, target: Trace, found: Compare, titles: Collection[str]
) -> dict[str, Part]:
    """The parts of these titles, in one order. Reads events."""
    return {
        title: Part(sides, named_changes(base, target, sides))
        for title, sides in found.parts.items()
        if title in titles
    }


def chosen(parts: Mapping[str, Part], titles: Collection[str]) -> dict[str, Part]:
    """Those of the parts with these titles."""
    return {title: part for title, part in parts.items() if title in titles}
