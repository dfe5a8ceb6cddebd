"""Which rows of a comparison tell something, and their places in the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..native import inclusive

if TYPE_CHECKING:
    from ..queries.metric import Metric
    from .side_by_side import SideBySide
    from .step_table import I32, Flags

_PASSED_ON = 0.95
"""A row that hands this share of its change to one row below it tells nothing new."""


def telling(sides: SideBySide, metric: Metric, chosen: Flags) -> list[int]:
    """The chosen rows, the largest change first, without those that hand it on to one below."""
    delta = sides.metrics[metric].delta
    rows = [row for row in sides.ranked(metric) if chosen[row]]
    passed: set[int] = set()
    for row in rows:
        above = int(sides.parent[row])
        # A root says what the whole changed by; a row without a name cannot speak for another.
        if above >= 0 and sides.parent[above] >= 0 and sides.names[row] and delta[above]:
            share = float(delta[row] / delta[above])
            if _PASSED_ON <= share <= 1 / _PASSED_ON:
                passed.add(above)
    return [row for row in rows if row not in passed]


def with_callers(parent: I32, chosen: Flags) -> Flags:
    """The chosen rows and all above them."""
    found: Flags = inclusive(parent, chosen.astype(np.int64)) > 0
    return found


def depths(parent: I32) -> I32:
    """Of rows in pre-order; roots have 0."""
    found: list[int] = []
    above: list[int] = parent.tolist()
    for row in above:
        found.append(found[row] + 1 if row >= 0 else 0)
    return np.array(found, np.int32)
