"""Which rows of two traces side by side are shown, and in what order."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..native import TreeModel
from .change_rows import depths, telling, with_callers
from .compare_order import Order, order_key
from .compare_rows import CompareRow, Shown, compare_row
from .step_table import F64, U8

if TYPE_CHECKING:
    from ..queries.metric import Metric
    from ..queries.pathview import State
    from .change import Status
    from .side_by_side import MetricChange, SideBySide
    from .step_table import I32, Flags

V = TypeVar("V", F64, U8)


class CompareView:
    """A foldable, sortable, filterable view of two traces side by side; both sides of a row fold,
    move and hide together. Fast enough for the UI thread up to some 200,000 rows once the metric
    is worked out (`sides.metrics[metric]`, for a worker); use from one thread at a time."""

    def __init__(self, sides: SideBySide, metric: Metric) -> None:
        self.sides = sides
        self.metric = metric
        self.swapped = False
        """True: base and target have changed places."""
        self.order = Order.DELTA
        self.descending = True
        self.filter_text = ""
        self.noise_hidden = False
        self._depth = depths(sides.parent)
        self._match: U8 | None = None
        self._kept: I32 | None = None
        self._position: I32 | None = None
        self._telling: list[int] | None = None
        self._status: list[Status] | None = None
        self._model = TreeModel(sides.parent)
        self._sort()
        roots = np.flatnonzero(sides.parent < 0)
        if len(roots) == 1:
            self._model.expand(int(roots[0]))

    @property
    def change(self) -> MetricChange:
        """Of the metric shown, base and target as recorded (not swapped)."""
        return self.sides.metrics[self.metric]

    # ---------------------------------------------------------------- rows --

    def row_count(self) -> int:
        return self._model.row_count()

    def rows(self, first: int, count: int) -> list[CompareRow]:
        """Rows [first, first + count), fewer at the end."""
        model_ids: list[int] = self._model.rows(first, count).tolist()
        return [self._row(model_id) for model_id in model_ids]

    def _row(self, model_id: int) -> CompareRow:
        return self._made(self._node(model_id), self._state(model_id))

    def _made(self, node: int, state: State) -> CompareRow:
        if self._status is None:
            self._status = self.sides.status(self.metric)
        shown = Shown(
            depth=int(self._depth[node]),
            state=state,
            match=self._match is not None and bool(self._match[node]),
            status=self._status[node],
            swapped=self.swapped,
        )
        return compare_row(self.sides, self.change, node, shown)

    def row_at_node(self, node: int) -> CompareRow:
        """A row of the comparison as it would be shown, visible or not."""
        model_id = self._model_id(node)
        return self._made(node, "leaf" if model_id < 0 else self._state(model_id))

    def node_at(self, row: int) -> int:
        """The node shown in a row; IndexError when there is none."""
        if not 0 <= row < self._model.row_count():
            raise IndexError(row)
        return self._node(int(self._model.rows(row, 1)[0]))

    def row_of(self, node: int) -> int:
        """Row of a node, -1 when it is not visible."""
        model_id = self._model_id(node)
        return -1 if model_id < 0 else self._model.row_of(model_id)

    def parent(self, node: int) -> int:
        """-1 for a root."""
        return int(self.sides.parent[node])

    # ------------------------------------------------------------- folding --

    def expand(self, node: int) -> None:
        if (model_id := self._model_id(node)) >= 0:
            self._model.expand(model_id)

    def collapse(self, node: int) -> None:
        if (model_id := self._model_id(node)) >= 0:
            self._model.collapse(model_id)

    def toggle(self, node: int) -> None:
        if (model_id := self._model_id(node)) >= 0:
            opened = self._model.is_expanded(model_id)
            (self._model.collapse if opened else self._model.expand)(model_id)

    def expand_subtree(self, node: int) -> None:
        if (model_id := self._model_id(node)) >= 0:
            self._model.expand_subtree(model_id)

    def expand_all(self) -> None:
        self._model.expand_all()

    def collapse_all(self) -> None:
        self._model.collapse_all()

    def reveal(self, node: int) -> int:
        """Open the way to a node; its row, -1 when it is hidden."""
        model_id = self._model_id(node)
        if model_id < 0:
            return -1
        self._model.reveal(model_id)
        return self._model.row_of(model_id)

    # ----------------------------------------------------- order and filter --

    def show(self, metric: Metric) -> None:
        """Show another metric; KeyError when it was not measured on both sides."""
        self.sides.metrics[metric]
        self.metric, self._telling, self._status = metric, None, None
        self._rebuild()

    def swap(self) -> None:
        """Base and target change places: every change turns its sign. Folding stays."""
        self.swapped = not self.swapped
        self._sort()

    def sort(self, order: Order, descending: bool = True) -> None:
        """Order siblings; what is open stays open."""
        self.order, self.descending = order, descending
        self._sort()

    def filter(self, text: str) -> int:
        """Show rows one of whose names contains the text (any case), their callers and callees.
        Returns how many match; an empty text shows all again, folded as before."""
        self.filter_text = text
        needle = text.casefold()
        self._match = None
        if text:
            matching = {
                name: needle in name.casefold()
                for name in {*self.sides.names, *filter(None, self.sides.base_names)}
            }
            self._match = np.fromiter(
                (
                    matching[name] or (was is not None and matching[was])
                    for name, was in zip(self.sides.names, self.sides.base_names, strict=True)
                ),
                np.uint8,
                len(self.sides),
            )
        self._apply_filter()
        return 0 if self._match is None else int(self._shown(self._match).sum())

    def largest_match(self) -> int:
        """The shown node with the largest change that matches the filter, the outermost of equal
        ones; -1 when none does."""
        if self._match is None:
            return -1
        found = np.flatnonzero(self._match)
        if self._position is not None:
            found = found[self._position[found] >= 0]
        size = np.abs(self.change.delta[found])
        return int(found[size.argmax()]) if len(found) else -1

    def next_match(self, row: int, forward: bool = True) -> int | None:
        """Row of the nearest match after (before) the row, round the end; opens the way to it.
        Rows may move: only the returned one counts. None when nothing matches."""
        if self._match is None:
            return None
        order = self._full_order()
        places = np.flatnonzero(self._shown(self._match)[order])
        if not len(places):
            return None
        here = self._model.rows(max(row, 0), 1)
        at = int(np.flatnonzero(order == here[0])[0]) if len(here) else 0
        if forward:
            i = int(places.searchsorted(at, side="right")) % len(places)
        else:
            i = int(places.searchsorted(at, side="left")) - 1
        target = int(order[places[i]])
        self._model.reveal(target)
        return self._model.row_of(target)

    def hide_noise(self, hidden: bool) -> int:
        """Hide rows whose subtrees changed by no more than chance (without repeated steps: not at
        all); rows above a shown one stay. Returns how many are hidden."""
        self.noise_hidden = hidden
        self._rebuild()
        return 0 if self._kept is None else len(self.sides) - len(self._kept)

    # --------------------------------------------------------------- changes --

    def changes(self) -> list[int]:
        """Rows beyond floor and chance, the largest change first; a row that hands its change on
        to one row below tells nothing new and is left out."""
        if self._telling is None:
            sides = self.sides
            beyond = sides.beyond_floor(self.metric)
            if sides.no_intervals is None:
                beyond &= sides.sure(self.metric)
            self._telling = telling(sides, self.metric, beyond)
        return self._telling

    def next_change(self, row: int, forward: bool = True) -> int | None:
        """Row of the next smaller (larger) change than that of the row; opens the way. From a row
        that is none of them the largest one. None when nothing changed."""
        found = [node for node in self.changes() if self._model_id(node) >= 0]
        if not found:
            return None
        here = self.node_at(row) if 0 <= row < self.row_count() else -1
        if here not in found:
            return self.reveal(found[0])
        at = found.index(here) + (1 if forward else -1)
        return self.reveal(found[at % len(found)])

    # -------------------------------------------------------------- internal --

    def _key(self) -> F64:
        return order_key(self.change, self.order, swapped=self.swapped)

    def _full_order(self) -> I32:
        """All nodes of the model in the order of a fully open tree."""
        model = TreeModel(self._shown_parent())
        model.set_order(self._shown(self._key()), self.descending)
        model.expand_all()
        return model.rows(0, model.row_count()).copy()

    def _sort(self) -> None:
        self._model.set_order(self._shown(self._key()), self.descending)

    def _rebuild(self) -> None:
        """The rows that are kept; what is open stays so."""
        opened = [
            self._node(model_id)
            for model_id in self._model.rows(0, self._model.row_count()).tolist()
            if self._model.has_children(model_id) and self._model.is_expanded(model_id)
        ]
        self._kept = self._position = None
        if self.noise_hidden:
            kept = np.flatnonzero(with_callers(self.sides.parent, self._beyond()))
            position = np.full(len(self.sides) + 1, -1, np.int32)  # [-1]: parent of a root
            position[kept] = np.arange(len(kept), dtype=np.int32)
            self._kept, self._position = kept.astype(np.int32), position
        self._model = TreeModel(self._shown_parent())
        self._sort()
        for node in reversed(opened):
            self.expand(node)
        self._apply_filter()

    def _beyond(self) -> Flags:
        change = self.change
        if self.sides.no_intervals is not None:
            changed: Flags = change.delta != 0
            return changed
        return ~change.within_noise

    def _apply_filter(self) -> None:
        self._model.set_filter(None if self._match is None else self._shown(self._match))

    def _shown_parent(self) -> I32:
        if self._kept is None or self._position is None:
            return self.sides.parent
        return self._position[self.sides.parent[self._kept]]

    def _shown(self, values: V) -> V:
        return values if self._kept is None else values[self._kept]

    def _state(self, model_id: int) -> State:
        if not self._model.has_children(model_id):
            return "leaf"
        return "open" if self._model.is_expanded(model_id) else "closed"

    def _node(self, model_id: int) -> int:
        return model_id if self._kept is None else int(self._kept[model_id])

    def _model_id(self, node: int) -> int:
        return node if self._position is None else int(self._position[node])
