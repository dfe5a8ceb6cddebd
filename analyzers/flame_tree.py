"""A call-path tree as a flame graph has it: every frame as wide as it costs with all below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..queries.metric import Metric
    from ..queries.pathview import Frames, PathView
    from .step_table import I32, I64


class Span(NamedTuple):
    """Where a frame stands: from `start` to `end` in the metric's unit, `depth` levels down."""

    node: int
    depth: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FlameTree:
    """One entry a row of the view, under the same ids; parents precede their children."""

    parent: I32
    """-1 for a root."""
    frame: I32
    """Index into `frames`."""
    size: I64
    """With all below, in ns, bytes or a count, as the metric has it; 0: not shown."""
    frames: Frames
    metric: Metric
    turned: bool
    """Bottom-up: the roots are what costs, below each are its callers."""

    @property
    def total(self) -> int:
        """The whole width: the sum over the roots."""
        return int(self.size[self.parent < 0].sum())

    def own(self) -> I64:
        """What of each row no row below it has. These sum to `total`."""
        import numpy as np

        own = self.size.copy()
        below = self.parent >= 0
        np.subtract.at(own, self.parent[below], self.size[below])
        return own

    def spans(self) -> Iterator[Span]:
        """The frames that have a width, callers before callees, the widest of siblings first."""
        import numpy as np

        order = np.lexsort((-self.size, self.parent)).tolist()
        counts = np.bincount(self.parent + 1, minlength=len(self.parent) + 1)
        first = np.concatenate([[0], np.cumsum(counts)]).tolist()
        size = self.size.tolist()

        def below(node: int, depth: int, start: int) -> list[Span]:
            found: list[Span] = []
            for child in order[first[node + 1] : first[node + 2]]:
                if not size[child]:
                    break
                found.append(Span(child, depth, start, start + size[child]))
                start += size[child]
            return found[::-1]

        waiting = below(-1, 0, 0)
        while waiting:
            span = waiting.pop()
            yield span
            waiting += below(span.node, span.depth + 1, span.start)

    def matched(self, match: NDArray[np.bool_]) -> int:
        """What the rows that match cost together; what is below another match counts once."""
        import numpy as np

        covered = match.copy()
        # Parents precede their children, so a few rounds down the levels reach every row.
        level = (self.parent < 0).nonzero()[0]
        order = np.argsort(self.parent, kind="stable")
        counts = np.bincount(self.parent + 1, minlength=len(self.parent) + 1)
        first = np.concatenate([[0], np.cumsum(counts)])
        total = int(self.size[level[covered[level]]].sum())
        level = level[~covered[level]]
        while len(level):
            begin, count = first[level + 1], counts[level + 1]
            at = np.repeat(begin - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
            below = order[at]
            total += int(self.size[below[covered[below]]].sum())
            level = below[~covered[below]]
        return total


def flame_tree(view: PathView) -> FlameTree:
    """The tree of a view by its metric. What its limit hides belongs to the row above; a filter
    hides nothing here. Without a measured metric nothing has a width."""
    import numpy as np

    metric, table = view.share_metric, view.table
    values = table.values.get(metric)
    size = np.zeros(len(table), np.int64) if values is None else values.astype(np.int64)
    if view.limit and view.total:
        size[size < view.limit * view.total] = 0
    return FlameTree(table.parent, table.frame, size, table.frames, metric, view.turned)
