"""What a differential flame graph draws of two traces side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..queries.metric import Metric
    from .side_by_side import SideBySide
    from .step_table import F64, I32


@dataclass(frozen=True, slots=True)
class FlameCosts:
    """Rows of the `SideBySide` in pre-order, all columns of one length."""

    parent: I32
    """-1 for a root."""
    last: I32
    """The last row below: a row's subtree is [row, last]."""
    size: F64
    """Mean of both sides, with all below: so rows of either side only have a width, and the rows
    below never take more than the row has."""
    sign: I32
    """1 where the target takes more, -1 where less, 0 where the change is no more than chance
    (without repeated steps: below the floor)."""


def flame_costs(sides: SideBySide, metric: Metric, *, swapped: bool) -> FlameCosts:
    """KeyError for a metric that was not measured on both sides."""
    change = sides.metrics[metric]
    beyond = sides.beyond_floor(metric)
    if sides.no_intervals is None:
        beyond = beyond & ~change.within_noise
    sign = np.where(beyond, np.sign(change.delta), 0).astype(np.int32)
    return FlameCosts(
        parent=sides.parent,
        last=sides.last,
        size=(change.base + change.target) / 2,
        sign=-sign if swapped else sign,
    )
