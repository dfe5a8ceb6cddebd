"""Trees of costs written by hand: one context a line, indented by one space a level, its own cost
behind its name; `k:` before a name makes it a kernel, `c:` an API call, `r:` a range, `f:` a
function, else it is an operator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dctx.analyzers.change import CompareLimits
from dctx.analyzers.compare import CostMerge
from dctx.analyzers.side_by_side import SideBySide
from dctx.analyzers.tree_costs import COMPARED, Entries, TreeCosts
from dctx.ingest.model import Layer
from dctx.queries.metric import Metric
from dctx.queries.pathview import Frames

FLOOR_NS = 5.0
_LAYERS = {"k:": Layer.KERNEL, "c:": Layer.API, "r:": Layer.ANNOTATION, "f:": Layer.PYTHON}


def made_costs(text: str, steps: Sequence[float] = (1,)) -> TreeCosts:
    """In step i every context costs steps[i] times what is written, as GPU time."""
    parent: list[int] = []
    names: list[str] = []
    layers: list[Layer] = []
    own: list[int] = []
    path: list[int] = []
    for line in text.strip("\n").splitlines():
        depth = len(line) - len(line.lstrip())
        name, _, cost = line.strip().rpartition(" ")
        row = len(parent)
        parent.append(path[depth - 1] if depth else -1)
        path[depth:] = [row]
        layers.append(_LAYERS.get(name[:2], Layer.OP))
        names.append(name[2:] if name[:2] in _LAYERS else name)
        own.append(int(cost))
    return costs_of(parent, names, layers, [[round(c * s) for c in own] for s in steps])


def costs_of(
    parent: Sequence[int],
    names: Sequence[str],
    layers: Sequence[Layer],
    by_step: Sequence[Sequence[int]],
) -> TreeCosts:
    """One frame for each context; `by_step`: what each costs itself in each step."""
    nodes = np.arange(len(parent), dtype=np.int32)
    values = np.array(by_step, np.int64).reshape(len(by_step), len(parent))
    step, node = np.nonzero(values)
    value = values[step, node]
    return TreeCosts(
        parent=np.array(parent, np.int32),
        frame=nodes,
        frames=Frames(
            layers=list(layers), names=list(names),
            files=[None] * len(names), lines=[None] * len(names),
        ),
        source=nodes,
        values={Metric.GPU: Entries(step.astype(np.int32), node.astype(np.int32), value)},
        missing={m: "made by hand" for m in COMPARED if m is not Metric.GPU},
        node_of=nodes.astype(np.int64),
        rank=np.zeros(len(by_step), np.int64),
        ranks=1,
        per_step=len(by_step) > 1,
    )  # fmt: skip


def merged(old: TreeCosts, new: TreeCosts) -> CostMerge:
    return CostMerge(old, new, CompareLimits(), FLOOR_NS, None if old.per_step else "one run")


def side_by_side(old: str, new: str, steps: Sequence[float] = (1,)) -> SideBySide:
    return merged(made_costs(old, steps), made_costs(new, steps)).tree()
