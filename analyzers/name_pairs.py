"""Which names of two traces are the same thing: by text, by identity, or by place."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..native import MergedTree
from .side_by_side import Match
from .step_table import I32, I64

_MATCHES = tuple(Match)
_NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one trace, each an entry of a table."""

    key: I32
    """By entry: number of the exact identity."""
    name: I32
    """By entry: number of the normalised one."""
    entry: I64
    """By node of the call-path tree: its entry; -1 where its cost counts nowhere or it is not
    itself of this name."""


@dataclass(frozen=True, slots=True)
class NamePairs:
    """Rows of a table: what is in the target, in its order, then what is in the base only."""

    base: I32
    """Entry, -1 without one."""
    target: I32
    match: tuple[Match, ...]


def pair_names(base: Names, target: Names, tree: MergedTree) -> NamePairs:
    """`tree`: of the call paths, whose nodes the entries are of.

    Other names are the same thing where the nodes of the one are partners of nodes of the other
    in nearly all places of both: a table has no places, so likeness alone tells little, and of two
    that took the place of one, half of its cost is no improvement.
    """
    partner = np.full(len(target.key), -1, np.int32)
    match = [Match.TARGET_ONLY] * len(target.key)
    left = set(range(len(base.key)))

    def pair(old: int, new: int, how: Match) -> None:
        partner[new], match[new] = old, how
        left.discard(old)

    keys: list[list[int]] = [base.key.tolist(), target.key.tolist()]
    names: list[list[int]] = [base.name.tolist(), target.name.tolist()]
    by_key = {key: entry for entry, key in enumerate(keys[0])}
    for new, key in enumerate(keys[1]):
        if (same := by_key.get(key)) is not None:
            pair(same, new, Match.SAME)
    by_name: defaultdict[int, list[int]] = defaultdict(list)
    for old in sorted(left, reverse=True):
        by_name[names[0][old]].append(old)
    for new, name in enumerate(names[1]):
        if partner[new] < 0 and by_name[name]:
            pair(by_name[name].pop(), new, Match.NORMALISED)
    for old, new, how in _by_place(base, target, tree):
        if partner[new] < 0 and old in left:
            pair(old, new, how)
    only = sorted(left)
    nothing = np.full(len(only), -1, np.int32)
    return NamePairs(
        base=np.concatenate([partner, np.array(only, np.int32)]),
        target=np.concatenate([np.arange(len(target.key), dtype=np.int32), nothing]),
        match=(*match, *[Match.BASE_ONLY] * len(only)),
    )


def _by_place(base: Names, target: Names, tree: MergedTree) -> list[tuple[int, int, Match]]:
    """Entries whose nodes are each other's partners nearly everywhere."""
    both = (tree.base >= 0) & (tree.target >= 0)
    old, new = base.entry[tree.base[both]], target.entry[tree.target[both]]
    known = (old >= 0) & (new >= 0)
    pairs, at, places = np.unique(
        np.stack([old[known], new[known]]), axis=1, return_index=True, return_counts=True
    )
    kinds = tree.kind[both][known][at]
    of_base = np.bincount(base.entry[base.entry >= 0], minlength=len(base.key))
    of_target = np.bincount(target.entry[target.entry >= 0], minlength=len(target.key))
    nodes = np.maximum(of_base[pairs[0]], of_target[pairs[1]])
    found: list[tuple[int, int, Match]] = []
    for i in np.flatnonzero(places >= _NEARLY_ALL * nodes).tolist():
        how = _MATCHES[int(kinds[i])]
        replaced = how is Match.REPLACED
        found.append(
            (int(pairs[0][i]), int(pairs[1][i]), Match.REPLACED if replaced else Match.RENAMED)
        )
    return found
