"""Operators with what they compute and move: each piece of work once, and by family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import HostKind
from ..native import intern_rows, union_ns
from .distinct import distinct
from .kernel_slots import pieces
from .op_exclusive import collect
from .op_table import OpTable
from .perf_figures import Figures, figures
from .perf_models.call import Call, parse_list
from .perf_models.serving import step_sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ..queries.report_events import Arguments, Host, Work
    from .report_rules import Rules

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]

NO_MODEL = -1


@dataclass(frozen=True, slots=True)
class PerfTable:
    """Rows of operators: instances. Columns of one length by row."""

    table: OpTable
    """Its work column is over the events that were given."""
    figure: I32
    """Index into `figures`; NO_MODEL where no model is known."""
    figures: list[Figures]
    """Of every distinct call, each computed once."""
    forward: I32
    """`host_event.id` of the forward operator that tells a gradient's cost; else -1."""
    step: I32
    """`string.id` of the annotation of the serving step that tells a call's cost; else -1."""
    below: tuple[I32, I64]
    """Pairs of a row and a piece of its work."""


@dataclass(frozen=True, slots=True)
class Source:
    """What the tables are made from: the counted work of one device."""

    work: Work
    host: Host
    comm: Mask
    arguments: Arguments
    texts: Mapping[int, str]
    rules: Rules


def exclusive_table(of: Source) -> PerfTable:
    """Each piece of work but communication in exactly one row."""
    found = collect(of.work, of.host, of.comm, of.texts, of.rules)
    table = found.table
    synthetic = _is_synthetic(table)
    teller = np.where(found.forward >= 0, found.forward, np.where(synthetic, -1, table.host))
    below = pieces(table.row)
    index, all_figures, step = _figures(
        of, table, teller.astype(np.int32), found.forward >= 0, below
    )
    return PerfTable(table, index, all_figures, found.forward, step, below)


def instances_table(of: Source) -> PerfTable:
    """Every operator with a model, those within others and those without work too; then the
    forward operators whose gradient's cost is known, with the work of the backward operators that
    name them. Work may be in several rows: `table.row` tells one."""
    own = _named_by_models(of, np.flatnonzero(of.host.kind == HostKind.OP).astype(np.int32))
    backward = _outermost_backwards(of)
    told = _named_by_models(of, of.host.forward[backward], backward=True)
    backward = backward[np.isin(of.host.forward[backward], told)]
    forward = of.host.forward[backward]
    hosts = np.concatenate([own, forward]).astype(np.int32)
    below = _work_below(of, np.concatenate([own, backward]).astype(np.int32))
    table = _overlapping(of, hosts, *below)
    is_backward = np.arange(len(hosts)) >= len(own)
    index, found, step = _figures(of, table, hosts, is_backward, below)
    told = np.where(is_backward, hosts, -1).astype(np.int32)
    return PerfTable(table, index, found, told, step, below)


def _named_by_models(of: Source, hosts: I32, *, backward: bool = False) -> I32:
    """Those of the host events whose operator has a model (of the gradients)."""
    names = of.host.name[hosts]
    known = [
        i
        for i in distinct(names).tolist()
        if (model := of.rules.model(of.texts.get(i, ""))) is not None
        and not (backward and model.backward is None)
    ]
    return hosts[np.isin(names, known)]


def _outermost_backwards(of: Source) -> I32:
    """Backward operators that are not within another one of the same forward operator."""
    forward = np.append(of.host.forward, np.int32(-1))
    linked = np.flatnonzero(forward[:-1] >= 0).astype(np.int32)
    outermost: I32 = linked[forward[of.host.parent[linked]] != forward[linked]]
    return outermost


def _work_below(of: Source, hosts: I32) -> tuple[I32, I64]:
    """Pairs of an index into `hosts` (distinct events) and the index of a piece of work below it,
    without communication."""
    number = np.full(len(of.host.kind) + 1, -1, np.int32)
    number[hosts] = np.arange(len(hosts), dtype=np.int32)
    events = np.flatnonzero(~of.comm)
    at = np.where(of.work.launch >= 0, of.work.launch, of.work.op)[events]
    events, at = events[at >= 0], at[at >= 0]
    rows: list[I32] = []
    members: list[I64] = []
    while len(at):
        hit = number[at] >= 0
        rows.append(number[at][hit])
        members.append(events[hit])
        at = of.host.parent[at]
        events, at = events[at >= 0], at[at >= 0]
    if not rows:
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    return np.concatenate(rows), np.concatenate(members)


def _overlapping(of: Source, hosts: I32, rows: I32, members: I64) -> OpTable:
    """A table of operators whose work may be that of others too."""
    time = union_ns(rows, of.work.start_ns[members], of.work.end_ns[members], len(hosts))
    row = np.full(len(of.work.id), -1, np.int32)
    row[members] = rows
    ids, first = intern_rows([of.host.name[hosts]])
    names = [of.texts[i] for i in of.host.name[hosts[first]].tolist()]
    models = [of.rules.model(name) for name in names]
    categories = [model.category if model is not None else "" for model in models]
    return OpTable(
        host=hosts,
        name=ids,
        category=ids,
        direct_ns=time,
        subtree_ns=time,
        count=np.bincount(rows, minlength=len(hosts)),
        names=names,
        categories=categories,
        row=row,
    )


def _is_synthetic(table: OpTable) -> Mask:
    texts = np.array([name.endswith("(Synthetic Op)") for name in table.names], bool)
    return texts[table.name] if len(table.names) else np.zeros(0, bool)


def _figures(
    of: Source, table: OpTable, teller: I32, backward: Mask, below: tuple[I32, I64]
) -> tuple[I32, list[Figures], I32]:
    """Figures by row, each distinct call asked once, and the step that a call was told by.

    teller: whose arguments are the call's; below: pairs of a row and a piece of its work.
    """
    name = np.append(of.host.name, np.int32(-1))[teller]
    args = np.append(of.host.args, np.int32(-1))[teller]
    step = _steps(of, name, teller)
    rows, members = below
    order = np.lexsort((-(of.work.end_ns - of.work.start_ns)[members], rows))
    rows, members = rows[order], members[order]
    begin = np.searchsorted(rows, np.arange(len(teller) + 1))
    longest = np.append(of.work.name[members], np.int32(-1))[
        np.where(begin[1:] > begin[:-1], begin[:-1], -1)
    ]
    ids, first = intern_rows([name, args, longest, step, backward.astype(np.int8)])
    found: list[Figures] = []
    place = np.full(len(first), NO_MODEL, np.int32)
    for i, at in enumerate(first.tolist()):
        model = of.rules.model(of.texts[int(name[at])]) if name[at] >= 0 else None
        if model is None:
            continue
        launched = dict.fromkeys(of.work.name[members[begin[at] : begin[at + 1]]].tolist())
        kernels = tuple(of.texts[k] for k in launched)
        call = _call(of, int(name[at]), int(args[at]), kernels, int(step[at]))
        place[i] = len(found)
        found.append(figures(model, call, backward=bool(backward[at])))
    return place[ids], found, step


def _steps(of: Source, name: I32, teller: I32) -> I32:
    """The annotation around each call whose model reads it: `string.id`; -1 for all else."""
    step = np.full(len(name), -1, np.int32)
    for i in distinct(name[name >= 0]).tolist():
        model = of.rules.model(of.texts[i])
        if model is None or not model.reads_step:
            continue
        for row in np.flatnonzero(name == i).tolist():
            at = int(of.host.parent[teller[row]])
            while at >= 0:
                text = of.texts.get(int(of.host.name[at]), "")
                if of.host.kind[at] == HostKind.ANNOTATION and step_sums(text) is not None:
                    step[row] = of.host.name[at]
                    break
                at = int(of.host.parent[at])
    return step


def _call(of: Source, name: int, args: int, kernels: tuple[str, ...], step: int) -> Call:
    columns = (of.arguments.shapes, of.arguments.types, of.arguments.strides, of.arguments.concrete)
    lists = [parse_list(of.texts.get(int(column[args]))) if args >= 0 else () for column in columns]
    shapes, types, strides, values = lists
    return Call(
        of.texts[name], shapes, types, strides, values, kernels,
        of.texts.get(step, ""), of.rules.compat,
    )  # fmt: skip
