"""Each piece of GPU work in exactly one row: that of the outermost operator whose cost is known, or
of the one that launched it.

From the roots of the operators down: an operator with a model of its own takes all the work below
it; so does one whose work is the gradient of a modelled operator alone, and one that launches work
itself, unless an operator below it has a model and work. What is left over has a row for itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import HostKind
from .distinct import distinct
from .op_table import OpTable, is_operator, rows_of_work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ..queries.report_events import Host, Work
    from .report_rules import Rules

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]

_AUTOGRAD = "autograd::engine::evaluate_function: "
_BACKWARD_REACH = 5
"""Ancestors within which the wrapper of a backward operator is looked for."""


@dataclass(frozen=True, slots=True)
class OpTree:
    """The operators with GPU work below them, parents before children. Columns of one length."""

    host: I32
    """`host_event.id`."""
    parent: I32
    """Index of the next operator around it; -1: none."""
    level: I32
    place: I32
    """Index by `host_event.id`, -1 for all else; one more entry for "none"."""


def op_tree(work: Work, host: Host, wanted: Mask) -> OpTree:
    """The operators around the launches of the wanted work."""
    place = np.full(len(host.kind) + 1, -1, np.int32)
    starts = distinct(np.concatenate([work.op[wanted], work.launch[wanted]]))
    at = starts[starts >= 0]
    seen = np.zeros(len(host.kind) + 1, bool)
    while len(at):
        seen[at] = True
        at = distinct(host.parent[at])
        at = at[at >= 0]
        at = at[~seen[at]]
    reached = np.flatnonzero(seen[:-1]).astype(np.int32)
    around = _nearest_operator(host, reached)
    ids = reached[host.kind[reached] == HostKind.OP]
    level = _levels(host, ids, around)
    order = np.lexsort((ids, level))
    ids, level = ids[order], level[order]
    place[ids] = np.arange(len(ids), dtype=np.int32)
    place[-1] = -1
    return OpTree(ids, place[around[ids]], level, place)


def _nearest_operator(host: Host, reached: I32) -> I32:
    """The innermost operator around each reached event, by `host_event.id`; -1: none."""
    found = np.full(len(host.kind) + 1, -1, np.int32)
    at = host.parent[reached].astype(np.int32)
    waiting = reached
    while len(waiting):
        done = (at < 0) | (np.append(host.kind, np.uint8(255))[at] == HostKind.OP)
        found[waiting[done]] = at[done]
        waiting, at = waiting[~done], at[~done]
        at = host.parent[at].astype(np.int32)
    return found


def _levels(host: Host, ids: I32, around: I32) -> I32:
    level = np.zeros(len(ids), np.int32)
    at = around[ids]
    while (at >= 0).any():
        inner = at >= 0
        level[inner] += 1
        at = np.where(inner, around[at], -1)
    return level


def _above(tree: OpTree, marked: Mask) -> Mask:
    """Which operators have a marked one below them."""
    result = np.zeros(len(marked), bool)
    for level in range(int(tree.level.max(initial=0)), 0, -1):
        here = tree.level == level
        carrying = here & (marked | result)
        result[tree.parent[carrying]] = True
    return result


def innermost(work: Work, tree: OpTree) -> I32:
    """Index in the tree of the innermost operator around each launch; -1: none."""
    return tree.place[np.where(work.op >= 0, work.op, -1)]


@dataclass(frozen=True, slots=True)
class Collected:
    """The rows, and which of them are gradients told by their forward operator."""

    table: OpTable
    forward: I32
    """By row: `host_event.id` of the modelled forward operator; -1 where the row's own model or
    none tells its cost."""


def collect(
    work: Work, host: Host, comm: Mask, texts: Mapping[int, str], rules: Rules
) -> Collected:
    """Rows of the work of one device without communication."""
    wanted = ~comm
    tree = op_tree(work, host, wanted)
    at = innermost(work, tree)
    name = host.name[tree.host] if len(tree.host) else np.zeros(0, np.int32)
    names, of_name = np.unique(name, return_inverse=True)
    modelled = np.array([rules.model(texts[int(i)]) is not None for i in names], bool)
    own = modelled[of_name] if len(names) else np.zeros(0, bool)
    launches = np.zeros(len(tree.host), bool)
    launches[at[wanted & (at >= 0)]] = True
    if rules.apart:
        launches &= ~np.isin(name, [int(i) for i in names if texts[int(i)] in rules.apart])
    below = _above(tree, own)
    forward = _sole_backwards(tree, host, name, texts, rules)
    takes = own | (~below & (launches | (forward >= 0)))
    owner = np.full(len(tree.host) + 1, -1, np.int32)
    for level in range(int(tree.level.max(initial=-1)) + 1):
        here = np.flatnonzero(tree.level == level)
        outer = owner[tree.parent[here]]
        owner[here] = np.where(outer >= 0, outer, np.where(takes[here], here, -1))
    of_event = owner[at]
    of_host = np.append(tree.host, np.int32(-1))[of_event]
    left = of_event < 0
    # A left-over piece is named after the operator around it, else after its call.
    nearest = np.append(tree.host, np.int32(-1))[at]
    named = np.where(nearest >= 0, nearest, work.launch)
    table = rows_of_work(
        work,
        host,
        np.where(left, named, of_host).astype(np.int32),
        np.where(left, work.name, -1).astype(np.int32),
        np.where(left, np.arange(len(left), dtype=np.int64), -1),
        wanted,
        texts,
        rules,
        direct=nearest == of_host,
    )
    if rules.call_as_op:
        table = _without_guesses(table, host)
    taken = np.zeros(len(table.host), bool)
    taken[table.row[wanted & ~left]] = True
    index = tree.place[table.host]
    of_forward = np.append(np.where(own, -1, forward), -1)[index]
    return Collected(
        table, np.where(taken & is_operator(host, table.host), of_forward, -1).astype(np.int32)
    )


def _without_guesses(table: OpTable, host: Host) -> OpTable:
    """As TraceLens: work outside operators is of no kind."""
    outside = ~is_operator(host, table.host)
    category = np.where(outside, len(table.categories), table.category).astype(np.int32)
    return replace(table, category=category, categories=[*table.categories, "other"])


def _sole_backwards(
    tree: OpTree, host: Host, name: I32, texts: Mapping[int, str], rules: Rules
) -> I32:
    """By operator: the forward operator whose gradient is all of its work; -1: none.

    That is so where an autograd wrapper `…: X` around it is linked to a forward operator whose
    model knows the gradient, and it is the only operator named X there that leads to work.
    """
    result = np.full(len(tree.host), -1, np.int32)
    forward = np.append(host.forward, np.int32(-1))
    children: dict[tuple[int, str], list[int]] = {}
    names = {int(i): texts[int(i)] for i in distinct(name)}
    wrapped = {
        text.removeprefix(_AUTOGRAD) for text in names.values() if text.startswith(_AUTOGRAD)
    }
    candidates = np.isin(name, [i for i, text in names.items() if text in wrapped])
    for i in np.flatnonzero(candidates).tolist():
        at = i
        for _ in range(_BACKWARD_REACH):
            at = int(tree.parent[at])
            if at < 0:
                break
            wrapper = texts[int(name[at])]
            if wrapper.startswith(_AUTOGRAD):
                own = texts[int(name[i])]
                if wrapper.removeprefix(_AUTOGRAD) == own:
                    children.setdefault((at, own), []).append(i)
                break
    for (wrapper_at, _), found in children.items():
        of = int(forward[tree.host[wrapper_at]])
        if len(found) != 1 or of < 0:
            continue
        model = rules.model(texts.get(int(host.name[of]), ""))
        if model is not None and model.backward is not None:
            result[found[0]] = of
    return result
