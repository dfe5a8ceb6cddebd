"""The order of siblings among the rows of two traces."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from .step_table import F64

if TYPE_CHECKING:
    from .side_by_side import MetricChange


class Order(StrEnum):
    """What siblings are sorted by."""

    DELTA = "delta"
    """Size of the change, whatever its sign."""
    PERCENT = "percent"
    """Size of the change over the base; what is new comes before all."""
    BASE = "base"
    TARGET = "target"
    TREE = "tree"
    """As called."""


def order_key(change: MetricChange, order: Order, *, swapped: bool) -> F64:
    """What rows are sorted by, largest first; `swapped`: base and target have changed places."""
    size = np.abs(change.delta)
    match order:
        case Order.TREE:
            key: F64 = -np.arange(len(size), dtype=np.float64)
            return key
        case Order.DELTA:
            return size
        case Order.PERCENT:
            before = change.target if swapped else change.base
            rest: F64 = np.where(size > 0, np.inf, 0.0)
            return np.divide(size, before, out=rest, where=before > 0)
        case Order.BASE | Order.TARGET:
            return change.target if (order is Order.TARGET) != swapped else change.base
