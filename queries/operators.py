"""The operators of a framework, by name, and what they were called with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.model import Layer
from ..native import group_stats
from .layers import LayerGroup, folded
from .metric import Metric
from .paths import CallTree

if TYPE_CHECKING:
    from .ranks import Rank
    from .trace import Trace

_OPERATORS = (Layer.OP, Layer.HLO)


@dataclass(frozen=True, slots=True)
class OperatorStat:
    """All calls of an operator. What operators inside launch or take is theirs, not its own."""

    name: str
    node: int
    """Its heaviest context, by the metric of the list."""
    calls: int
    gpu_ns: int | None
    """GPU work it launched itself; None where the trace has no GPU work."""
    host_ns: int | None
    """Thread time in itself, the calls of the runtime included; None where not measured."""
    share: float
    """Of the GPU work of the selection, or of the host time where there is no GPU work."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Calls of a context with the same arguments. The texts are JSON as recorded, None: not."""

    shapes: str | None
    types: str | None
    strides: str | None
    concrete: str | None
    calls: int
    host_ns: int
    """Of the calls, from begin to end."""
    gpu_ns: int
    """GPU work launched by the calls, and by the backward ones of them."""
    further: bool = False
    """Calls with any further arguments, which are not told apart; the texts are None."""


def has_operators(trace: Trace) -> bool:
    """Whether the tree has any operators."""
    [(found,)] = trace.rows(
        "operators.any_operator", {"layers": [int(layer) for layer in _OPERATORS]}
    )
    return bool(found)


def top_operators(trace: Trace, limit: int, rank: Rank | None = None) -> list[OperatorStat]:
    """The operators that launched most GPU work themselves, or, where the trace has none, that
    took most host time; empty without operators. Reads summary tables only."""
    import numpy as np

    if not has_operators(trace):
        return []
    hidden = frozenset(LayerGroup) - {LayerGroup.OPERATORS}
    within = None if rank is None else [rank.nodes]
    tree = folded(CallTree.load(trace), hidden, within)
    table, own = tree.table, tree.own
    metric = Metric.GPU if Metric.GPU in own else Metric.HOST
    if metric not in own:
        return []
    frames = table.frames
    names = {name: i for i, name in enumerate(dict.fromkeys(frames.names))}
    is_operator = [layer in _OPERATORS for layer in frames.layers]
    by_frame = np.array(
        [names[name] if is_operator[i] else -1 for i, name in enumerate(frames.names)], np.int32
    )
    group = by_frame[table.frame]
    cost = group_stats(group, own[metric])
    total = int(own[metric].sum())
    heaviest = np.lexsort((-cost.group, cost.sum))[::-1][:limit]
    texts = list(names)
    found: list[OperatorStat] = []
    for at in heaviest.tolist():
        rows = np.flatnonzero(group == cost.group[at])
        sums = {m: int(own[m][rows].sum()) for m in own}
        if not sums[metric]:
            continue
        found.append(
            OperatorStat(
                name=texts[int(cost.group[at])],
                node=int(table.source[rows[own[metric][rows].argmax()]]),
                calls=sums.get(Metric.CALLS, 0),
                gpu_ns=sums.get(Metric.GPU),
                host_ns=sums.get(Metric.HOST),
                share=sums[metric] / total if total else 0.0,
            )
        )
    return found


def arguments_at(
    trace: Trace, node: int, last: int, *, device: int | None = None, limit: int = 20
) -> list[Arguments]:
    """What the calls of a context (its subtree ends at `last`) were called with, those with most
    GPU work first, then most host time. Empty where no arguments are recorded. Reads events."""
    parameters = {"node": node, "last": last, "device": device, "limit": limit}
    return [Arguments(*row) for row in trace.event_rows("operators.arguments_at", parameters)]


@dataclass(frozen=True, slots=True)
class CalledWith:
    """Calls of an operator's context with the same arguments. Texts are JSON as recorded."""

    node: int
    shapes: str | None
    types: str | None
    calls: int
    host_ns: int
    """From begin to end."""
    further: bool
    """With any further arguments, which are not told apart."""


def calls_by_arguments(trace: Trace) -> list[CalledWith]:
    """Of all operators that have any arguments, by context. Reads events."""
    rows = trace.event_rows("operators.calls_by_arguments", {"layer": int(Layer.OP)})
    return [CalledWith(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class UsualArguments:
    """What most calls of a context were called with. The texts are JSON as recorded."""

    node: int
    sets: int
    """How many kinds of arguments the context was called with."""
    shapes: str | None
    types: str | None


def usual_arguments(trace: Trace) -> list[UsualArguments]:
    """Of every operator in the tree that has any. Reads events."""
    rows = trace.event_rows("operators.usual_arguments", {"layer": int(Layer.OP)})
    return [UsualArguments(*row) for row in rows]
