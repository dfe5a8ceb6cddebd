"""Costs of rows that hold other rows, over the steps: means, variances, confidence intervals."""

from __future__ import annotations

import numpy as np

from ..native import inclusive, subtree_samples
from .step_table import F64, I32, I64, Samples
from .tree_costs import Entries, TreeCosts


def row_samples(
    costs: TreeCosts, entries: Entries, row_of: I64, parent: I32
) -> tuple[F64, Samples]:
    """What the rows cost themselves, and with all below them, over the steps.

    Means are over the steps of a rank, then over ranks, as everywhere.
    """
    ranks = costs.ranks
    steps = np.bincount(costs.rank, minlength=ranks)
    own, square = subtree_samples(
        parent, entries.step, entries.node, row_of, entries.value, costs.rank, ranks
    )
    total = np.stack([inclusive(parent, of_rank) for of_rank in own])
    per_rank = np.maximum(steps, 1)[:, None]
    # Sums are whole numbers; dividing last keeps equal costs equal.
    mean: F64 = (total / per_rank).mean(axis=0)
    own_mean: F64 = (own / per_rank).mean(axis=0)
    n = int(steps.sum())
    return own_mean, Samples(
        mean=mean,
        variance=_variance(total.sum(axis=0), square.sum(axis=0), n),
        count=n,
        rank_mean=(total / per_rank).T,
        rank_variance=np.stack(
            [_variance(total[r], square[r], int(steps[r])) for r in range(ranks)], axis=1
        ),
        rank_count=steps.astype(np.int64),
    )


def group_means(costs: TreeCosts, entries: Entries, group_of: I64, groups: int) -> F64:
    """Means over the steps of a rank, then over ranks; `group_of`: by node, -1 for none."""
    group = group_of[entries.node]
    known = group >= 0
    sums = np.zeros((costs.ranks, groups), np.int64)
    np.add.at(sums, (costs.rank[entries.step[known]], group[known]), entries.value[known])
    steps = np.maximum(np.bincount(costs.rank, minlength=costs.ranks), 1)[:, None]
    found: F64 = (sums / steps).mean(axis=0)
    return found


def _variance(total: I64, square: F64, count: int) -> F64:
    if count < 2:
        return np.full(len(total), np.nan)
    sums = total.astype(np.float64)
    found: F64 = np.maximum(square - sums * sums / count, 0) / (count - 1)
    return found


def welch_interval(old: Samples, new: Samples) -> F64:
    """Half of Welch's 95 % interval: t(0.975, df) · √(s_b²/n_b + s_t²/n_t).

    df by Welch and Satterthwaite; t by the expansion of Cornish and Fisher (Abramowitz and Stegun,
    26.7.5), within 1 % from df = 4 on.
    """
    if min(old.count, new.count) < 2:
        return np.full(len(old.mean), np.inf)
    a, b = old.variance / old.count, new.variance / new.count
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (a + b) ** 2 / (a**2 / (old.count - 1) + b**2 / (new.count - 1))
    v = np.where(np.isfinite(freedom), freedom, old.count + new.count - 2)
    z = 1.959964
    t = z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
    half: F64 = t * np.sqrt(a + b)
    return half
