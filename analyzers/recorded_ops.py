"""Operators by what they were called with, where no single piece of GPU work is known: recordings,
which sum calls up as they run, and traces of a CPU.

Calls and host time are known by context and arguments. Exclusive host time and GPU work are known
by context: they belong to a set of arguments where the context was called with one alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..ingest.model import Layer
from ..native import inclusive
from ..queries.metric import Metric
from ..queries.operators import calls_by_arguments
from .perf_figures import Figures, figures
from .perf_models.call import Call, parse_list
from .prescribe.places import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.paths import CallTree
    from ..queries.trace import Trace
    from .report_rules import Rules

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]

SEVERAL: Final = "its context was called with several sets of arguments: their sum alone is known"


@dataclass(frozen=True, slots=True)
class RecordedOp:
    """Calls of one context with the same arguments. Times are ns; None: not known."""

    node: int
    name: str
    shapes: tuple[Any, ...]
    """By argument, as recorded, like `types`; both empty for `further`."""
    types: tuple[Any, ...]
    further: bool
    """Calls with any further arguments, which the recording does not tell apart."""
    calls: int
    host_ns: int
    """From begin to end, with the operators inside."""
    self_ns: int | None
    """Of the host, in the operator itself."""
    gpu_ns: int | None
    """GPU work that the calls launched, with the operators inside, but for gradients; None also
    where the trace has none."""
    figures: Figures | None
    """What one call computes and moves; None without a model."""


def recorded_ops(trace: Trace, tree: CallTree, rules: Rules) -> list[RecordedOp]:
    """Operators with arguments, by context. Reads events."""
    rows = calls_by_arguments(trace)
    frame = tree.table.frame
    layer = np.array([int(one) for one in tree.table.frames.layers], np.uint8)[frame]
    gpu, kernels = _work_below(tree, layer, {row.node for row in rows})
    host = tree.own.get(Metric.HOST)
    sets = np.bincount([row.node for row in rows], minlength=tree.size)
    known: dict[tuple[object, ...], Figures | None] = {}
    found: list[RecordedOp] = []
    for row in rows:
        name = tree.name(row.node)
        alone = sets[row.node] == 1
        launched = kernels.get(row.node, ())
        shapes, types = parse_list(row.shapes), parse_list(row.types)
        key = (name, row.shapes, row.types, launched)
        if key not in known:
            model = None if row.further else rules.model(name)
            call = Call(name, shapes, types, (), (), launched, "", rules.compat)
            known[key] = None if model is None else figures(model, call)
        found.append(
            RecordedOp(
                row.node, name, shapes, types, row.further, row.calls, row.host_ns,
                int(host[row.node]) if host is not None and alone else None,
                int(gpu[row.node]) if gpu is not None and alone else None,
                known[key],
            )
        )  # fmt: skip
    return found


def _work_below(
    tree: CallTree, layer: NDArray[np.uint8], wanted: set[int]
) -> tuple[I64 | None, dict[int, tuple[str, ...]]]:
    """GPU work below each context but for gradients, and the names of the kernels below those
    that are wanted."""
    own = tree.own.get(Metric.GPU)
    if own is None or not own.any():
        return None, {}
    # What hangs below a mark of the backward pass is no part of the forward call.
    cut = np.where(layer == Layer.BACKWARD, -1, tree.parent).astype(np.int32)
    names: dict[int, dict[str, None]] = {}
    marked = np.zeros(tree.size + 1, np.bool_)
    marked[list(wanted)] = True
    around = np.append(nearest(cut, marked[:-1]), np.int32(-1))
    for node in np.flatnonzero((layer == Layer.KERNEL) & (own > 0)).tolist():
        at = int(around[node])
        while at >= 0:
            names.setdefault(at, {})[tree.name(node)] = None
            at = int(around[cut[at]])
    below: I64 = inclusive(cut, own)
    return below, {node: tuple(of) for node, of in names.items()}
