"""Two open traces, and the answers already asked of their comparison."""

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..analyzers.compare_detail import PairDetail
    from ..analyzers.compare_figures import Figure
    from ..analyzers.compare_view import CompareView
    from ..analyzers.flame_costs import FlameCosts
    from ..analyzers.pairing import Compared
    from ..analyzers.side_by_side import Compare, SideBySide
    from ..queries.metric import Metric
    from .session import Session


class PairSession:
    """Base and target while both are open. Its methods query: call them in workers."""

    def __init__(self, base: "Session", target: "Session") -> None:
        self.base = base
        self.target = target
        self._compared: dict[bool, Compared] = {}
        self._found: Compare | None = None
        self._figures: dict[str, Figure] | None = None
        self._comparing = threading.Lock()

    def compared(self, *, swapped: bool = False) -> "Compared":
        """Steps against steps, and what follows from them; `swapped`: the target is the base."""
        from ..analyzers.pairing import compare_traces, pair_steps

        with self._comparing:
            if swapped not in self._compared:
                config = self.target.config()
                traces = [self.base.trace, self.target.trace]
                old, new = reversed(traces) if swapped else traces
                pair = pair_steps(old, new, config.steps)
                compared = compare_traces(old, new, limits=config.compare, pair=pair)
                self._compared[swapped] = compared
            return self._compared[swapped]

    def found(self) -> "Compare":
        """The costs of both traces, row against row."""
        from ..analyzers.compare import compare_costs

        compared = self.compared()
        with self._comparing:
            if self._found is None:
                limits = self.target.config().compare
                self._found = compare_costs(self.base.trace, self.target.trace, compared, limits)
            return self._found

    def figures(self) -> "dict[str, Figure]":
        """The figures of the whole."""
        from ..analyzers.compare_figures import figures

        compared, found = self.compared(), self.found()
        with self._comparing:
            if self._figures is None:
                self._figures = figures(compared, found)
            return self._figures

    def view(self, sides: "SideBySide", metric: "Metric") -> "CompareView":
        """Foldable rows of a part, with the metric worked out."""
        from ..analyzers.compare_view import CompareView

        sides.metrics[metric]
        view = CompareView(sides, metric)
        view.changes()
        return view

    def flame(self, view: "CompareView") -> "FlameCosts":
        """What the flame graph of a part draws."""
        from ..analyzers.flame_costs import flame_costs

        return flame_costs(view.sides, view.metric, swapped=view.swapped)

    def detail(self, sides: "SideBySide", row: int, metric: "Metric") -> "PairDetail":
        """What there is to say of a row, of both traces."""
        from ..analyzers.compare_detail import pair_detail

        return pair_detail(self.base.trace, self.target.trace, sides, row, metric)
