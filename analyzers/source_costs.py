"""What each line of a source file costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..queries.metric import PRIMARY, Metric

if TYPE_CHECKING:
    from ..queries.paths import CostTree


@dataclass(frozen=True, slots=True)
class LineCost:
    """A line and all that runs below it. Lines call each other: their costs do not add up."""

    name: str
    """The function of the line's first context."""
    values: Mapping[Metric, int]
    """GPU and host time in ns, samples: those that were measured."""
    contexts: int
    """In how many calling contexts of the tree the line is."""


def source_costs(tree: CostTree, file: str) -> dict[int, LineCost]:
    """By line number, for the lines of the file that the trace names: that of a function's
    definition, or where it was when it was sampled. What a line calls by way of itself counts
    once. Contexts of the file without a line are left out."""
    import numpy as np

    frames, parent = tree.table.frames, tree.table.parent
    at_frame = np.array(
        [
            line if named == file and line is not None else 0
            for named, line in zip(frames.files, frames.lines, strict=True)
        ],
        np.int64,
    )
    line = at_frame[tree.table.frame]
    nodes = (line > 0).nonzero()[0]
    outermost = np.ones(len(nodes), np.bool_)
    waiting = np.arange(len(nodes))
    above = parent[nodes]
    while len(waiting := waiting[above[waiting] >= 0]):
        same = line[above[waiting]] == line[nodes[waiting]]
        outermost[waiting[same]] = False
        waiting = waiting[~same]
        above[waiting] = parent[above[waiting]]
    costs: dict[int, LineCost] = {}
    for number in np.unique(line[nodes]).tolist():
        here = line[nodes] == number
        counted = nodes[here & outermost]
        costs[number] = LineCost(
            name=frames.names[int(tree.table.frame[nodes[here][0]])],
            values={
                metric: int(tree.table.values[metric][counted].sum())
                for metric in PRIMARY
                if metric in tree.table.values
            },
            contexts=int(here.sum()),
        )
    return costs
