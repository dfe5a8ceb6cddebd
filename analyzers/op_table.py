"""The operators that launched GPU work themselves, and the GPU time of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ingest.model import HostKind
from ..native import intern_rows, union_ns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ..queries.report_events import Host, Work
    from .report_rules import Rules

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]

_WRAPPER = "execute"
"""An operator of this name only passes on to another."""


@dataclass(frozen=True, slots=True)
class OpTable:
    """One row per launcher: an operator that launched GPU work itself; a launch call or lone work
    without an operator, by kernel name. Columns of one length, by the first start of their work."""

    host: I32
    """`host_event.id`; -1 where the launch is not in the trace."""
    name: I32
    """Index into `names`."""
    category: I32
    """Index into `categories`."""
    direct_ns: I64
    """Union of the work it launched itself, without communication."""
    subtree_ns: I64
    """Union of all work launched by it or below it."""
    count: I64
    """Work it launched itself."""
    names: list[str]
    categories: list[str]
    row: I32
    """Row of each GPU event; -1 for communication."""


def launchers(work: Work, host: Host, texts: Mapping[int, str]) -> I32:
    """Launcher of each GPU event: the innermost operator around its launch that is not a mere
    wrapper, else the launch call; -1 where neither is in the trace."""
    wrappers = [i for i, text in texts.items() if text == _WRAPPER]
    found = np.where(work.op >= 0, work.op, work.launch).astype(np.int32)
    is_op = host.kind == HostKind.OP
    passing = is_op & np.isin(host.name, wrappers)
    waiting = np.flatnonzero(np.append(passing, False)[found])
    at = found[waiting]
    while len(waiting):
        at = host.parent[at]
        known = at >= 0
        found[waiting[~known]] = work.launch[waiting[~known]]
        waiting, at = waiting[known], at[known]
        done = is_op[at] & ~passing[at]
        found[waiting[done]] = at[done]
        waiting, at = waiting[~done], at[~done]
    return found


def op_table(work: Work, host: Host, comm: Mask, texts: Mapping[int, str], rules: Rules) -> OpTable:
    """Launchers of the work of one device. `texts` by `string.id`; `comm` marks communication."""
    launcher = launchers(work, host, texts)
    of_op = is_operator(host, launcher)
    alone = ~of_op & ~(rules.call_as_op & (launcher >= 0))
    lone = np.where(launcher < 0, np.arange(len(launcher), dtype=np.int64), -1)
    table = rows_of_work(
        work, host, launcher, np.where(alone, work.name, -1), lone, ~comm, texts, rules
    )
    of_row = is_operator(host, table.host)
    return replace(
        table, subtree_ns=_subtree(work, host, table.row, table.host, of_row, table.direct_ns)
    )


def is_operator(host: Host, ids: I32) -> Mask:
    """Which of these host events are operators; -1 is none."""
    found: Mask = np.append(host.kind, np.uint8(255))[ids] == HostKind.OP
    return found


def rows_of_work(
    work: Work,
    host: Host,
    owner: I32,
    kernel: I32,
    apart: I64,
    wanted: Mask,
    texts: Mapping[int, str],
    rules: Rules,
    direct: Mask | None = None,
) -> OpTable:
    """One row per distinct (owner, kernel, apart) of the wanted work, each column by event.

    owner: `host_event.id`, -1 for none; kernel: the `string.id` that its row is named after, -1
    where the owner's name is enough; apart: what else tells rows apart; direct: work that tells
    the kind of a row before other work does. The row's time is that of its own work, in both
    columns.
    """
    own = np.flatnonzero(wanted)
    ids, first = intern_rows([owner[own], kernel[own], apart[own]])
    rows = len(first)
    row = np.full(len(owner), -1, np.int32)
    row[own] = ids
    first = own[first]
    names, name = _names(owner[first], kernel[first], host, texts)
    later = np.zeros(len(own), bool) if direct is None else ~direct[own]
    categories, categorised = _categories(work, row, own, later, names, name, texts, rules)
    time = union_ns(row, work.start_ns, work.end_ns, rows)
    return OpTable(
        host=owner[first],
        name=name,
        category=categorised,
        direct_ns=time,
        subtree_ns=time,
        count=np.bincount(ids, minlength=rows),
        names=names,
        categories=categories,
        row=row,
    )


def _names(
    launcher: I32, kernel: I32, host: Host, texts: Mapping[int, str]
) -> tuple[list[str], I32]:
    host_name = np.where(launcher >= 0, host.name[launcher] if len(host.name) else -1, -1)
    ids, first = intern_rows([host_name, kernel])
    names: list[str] = []
    for of_host, of_kernel in zip(host_name[first].tolist(), kernel[first].tolist(), strict=True):
        base = texts[of_host] if of_host >= 0 else "unlinked"
        names.append(base if of_kernel < 0 else f"{base}->{texts[of_kernel]} (Synthetic Op)")
    return _merged(names, ids)


def _categories(
    work: Work,
    row: I32,
    own: I64,
    later: Mask,
    names: list[str],
    name: I32,
    texts: Mapping[int, str],
    rules: Rules,
) -> tuple[list[str], I32]:
    # Work is in order of its starts: of equally long kernels the earliest is taken.
    length = (work.end_ns - work.start_ns)[own]
    of_row = row[own]
    first: I32 = work.name[own[_leaders(of_row, [own, later])]]
    longest: I32 = work.name[own[_leaders(of_row, [own, -length, later])]]
    ids, at = intern_rows([name, first, longest])
    numbers: list[int] = name[at].tolist()
    firsts: list[int] = first[at].tolist()
    longests: list[int] = longest[at].tolist()
    found = [
        rules.category(names[n], texts[f], texts[k])
        for n, f, k in zip(numbers, firsts, longests, strict=True)
    ]
    return _merged(found, ids)


def _leaders(group: I32, keys: list[NDArray[Any]]) -> NDArray[np.intp]:
    """The entry of each group that comes first by the keys, the last of them most significant."""
    order = np.lexsort((*keys, group))
    of = group[order]
    begins = np.ones(len(order), bool)
    begins[1:] = of[1:] != of[:-1]
    return order[begins]


def _merged(texts: list[str], ids: I32) -> tuple[list[str], I32]:
    """Texts without repetition, and the ids in terms of them."""
    distinct = list(dict.fromkeys(texts))
    number = {text: i for i, text in enumerate(distinct)}
    place = np.array([number[text] for text in texts], np.int32)
    return distinct, place[ids]


def _subtree(work: Work, host: Host, row: I32, launcher: I32, of_op: Mask, direct: I64) -> I64:
    """Union of the work below each operator, communication included."""
    row_of = np.full(len(host.kind) + 1, -1, np.int32)  # the last for "none": index -1
    row_of[launcher[of_op]] = np.flatnonzero(of_op)
    row_of[-1] = -1
    start = np.where(work.launch >= 0, work.launch, work.op)
    events = np.flatnonzero(start >= 0)
    at = start[events]
    groups: list[I32] = []
    members: list[NDArray[np.intp]] = []
    while len(at):
        here = row_of[at]
        hit = here >= 0
        groups.append(here[hit])
        members.append(events[hit])
        at = host.parent[at]
        events, at = events[at >= 0], at[at >= 0]
    if not groups:
        return direct
    group, member = np.concatenate(groups), np.concatenate(members)
    below = union_ns(group, work.start_ns[member], work.end_ns[member], len(direct))
    return np.where(of_op, below, direct)
