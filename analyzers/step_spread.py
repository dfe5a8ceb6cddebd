"""How a row's values in single steps are distributed in two traces, in the same buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..queries.kernels import log_edges

if TYPE_CHECKING:
    from .step_table import I64

_BUCKETS = 24


@dataclass(frozen=True, slots=True)
class SpreadBuckets:
    """Bucket i holds edges[i] <= value < edges[i + 1]; ns or numbers, as the values."""

    edges: tuple[int, ...]
    base_counts: tuple[int, ...]
    target_counts: tuple[int, ...]


def spread_buckets(base: I64, target: I64) -> SpreadBuckets | None:
    """Buckets that grow by one factor from the least to the largest value of both sides; None
    without a value."""
    both = np.concatenate([base, target])
    if not len(both):
        return None
    edges = log_edges(int(both.min()), int(both.max()), _BUCKETS)
    old, new = (np.histogram(values, np.array(edges))[0].tolist() for values in (base, target))
    return SpreadBuckets(edges, tuple(old), tuple(new))
