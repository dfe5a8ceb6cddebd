"""The part of Compare that moves through the rows: filter, next change, what is hidden."""

from textual import on
from textual.widgets import Input

from ...queries.metric import Metric
from ..widgets.filter_input import FilterInput
from .compare_parts import CompareParts
from .view import FILTER_DELAY_S


class CompareRows(CompareParts):
    """What is shown of the rows, in which direction, and the way from change to change."""

    # -------------------------------------------------------------- filter --

    def action_filter(self) -> None:
        if self.source is None:
            self.notify("These rows are few: nothing to filter.")
            return
        self.add_class("-filtering")
        self.query_one(FilterInput).focus()

    @on(Input.Changed)
    def _filter_typed(self) -> None:
        if self._filter_timer is not None:
            self._filter_timer.stop()
        self._filter_timer = self.set_timer(FILTER_DELAY_S, self._apply_filter)

    def _apply_filter(self) -> None:
        source = self.source
        if source is None:
            return
        text = self.query_one(FilterInput).value.strip()
        if text == source.view.filter_text:
            return
        found = source.view.filter(text)
        self._matches = found if text else None
        self.filter_changed(text)
        self.table.highlight(text)
        self.table.reload()
        if found:
            # The largest first: next and previous go on from there in the order of the screen.
            node = source.view.largest_match()
            source.view.reveal(node)
            self.table.select(node)
        self._say_rows()

    def filter_changed(self, text: str) -> None:
        """What else shows the filter."""

    @on(FilterInput.Accepted)
    @on(FilterInput.Cleared)
    def _leave_filter(self) -> None:
        self._apply_filter()
        self.set_class(bool(self._filter_text), "-filtering")
        self.focus_rows()

    def focus_rows(self) -> None:
        """Give the rows the focus."""
        self.table.focus()

    def _clear_filter(self) -> None:
        self.query_one(FilterInput).value = ""
        self._apply_filter()
        self.remove_class("-filtering")
        self.focus_rows()

    def action_next_match(self) -> None:
        self._go_to_match(forward=True)

    def action_previous_match(self) -> None:
        self._go_to_match(forward=False)

    def _go_to_match(self, *, forward: bool) -> None:
        source = self.source
        if source is None:
            return
        if self._matches is None:
            self.notify("Type / to filter first.")
            return
        row = source.view.next_match(self.table.cursor, forward)
        if row is None:
            self.notify(f"Nothing matches “{source.view.filter_text}”.", markup=False)
        else:
            self.go_to(source.view.node_at(row))

    def go_to(self, node: int) -> None:
        """Put the cursor on a row that is shown."""
        self.table.select(node)
        self._say_rows()

    # ------------------------------------------------------------- changes --

    def action_next_change(self) -> None:
        self._go_to_change(forward=True)

    def action_previous_change(self) -> None:
        self._go_to_change(forward=False)

    def _go_to_change(self, *, forward: bool) -> None:
        source = self.source
        if source is None:
            return
        row = source.view.next_change(self.table.cursor, forward)
        if row is None or row < 0:
            self.notify("No change is larger than chance and the floor.")
        else:
            self.go_to(source.view.node_at(row))

    def action_noise(self) -> None:
        """Hide what changed by no more than chance, or show all rows again."""
        source = self.source
        if source is None:
            return
        self._noise_hidden = source.view.hide_noise(not source.view.noise_hidden)
        self.table.reload()
        self._say_rows()

    # --------------------------------------------------------------- shown --

    def action_relative(self) -> None:
        """Changes in percent of the base, or in the metric's own unit."""
        self._relative = not self._relative
        source = self.source
        if source is not None:
            source.set_relative(self._relative)
            self.table.reload()

    def _metrics(self) -> list[Metric]:
        return [] if self.source is None else list(self.source.view.sides.metrics)

    def action_next_metric(self) -> None:
        """Compare by the next metric that both traces have."""
        source, choices = self.source, self._metrics()
        if source is None or len(choices) < 2:
            return
        view = source.view
        metric = choices[(choices.index(view.metric) + 1) % len(choices)]

        def work_out() -> Metric:
            view.sides.metrics[metric]  # the first time takes a moment
            return metric

        self.ask("metric", work_out, self._metric_known, rows=True)

    def _metric_known(self, metric: Metric) -> None:
        source = self.source
        if source is None or metric not in source.view.sides.metrics:
            return
        source.view.show(metric)
        source.changed()
        self.table.reload()
        self.rows_changed()
        self._say_rows()
        self.ask_detail()

    def rows_changed(self) -> None:
        """Other figures are shown of the same rows."""

    def action_part(self, part: str) -> None:
        """Show another table."""
        if part == self._part or self._compared is None:
            return
        known = self._sources.get(part)
        self.remove_class("-filtering")
        self._matches = None
        if known is None:
            self._load_rows(part)
        else:
            self.forget("rows")
            self._part, self._lacking = part, known.view.sides.lacking or ""
            self._show_source(known)

    def action_swap(self) -> None:
        """Base and target change places: every change turns its sign."""
        pair = self.pair
        if pair is None or self._compared is None:
            return
        swapped = self._swapped = not self._swapped
        source = self.source
        if source is None:
            self._load_rows(self._part)
        else:
            source.view.swap()
            source.changed()
            self.table.reload()
            self.rows_changed()
            self._say_rows()
            self.ask_detail()
        self.ask("head", lambda: self._head(pair, swapped=swapped), self._show_head)
