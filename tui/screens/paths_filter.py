"""The part of Call paths that leaves rows out: filter and percent limit."""

from textual import on
from textual.widgets import Input

from ..looking import Target
from ..widgets.filter_input import FilterInput
from .paths_tree import PathsTree
from .prompt import PromptScreen
from .view import FILTER_DELAY_S


class PathsFilter(PathsTree):
    """Filters, and shows what is led to whatever the filter says."""

    def lead_to(self, target: Target) -> None:
        if self._source is None:
            self._wanted = target
            return
        if target.node is None:
            return
        view = self._source.view
        if view.turned:
            self.action_bottom_up()
            view = self._source.view
        node = view.find(target.node)
        if node < 0:  # of another rank
            self._wanted = target
            self.app.look_at(None)
            return
        if view.reveal(node) < 0:  # the filter or the limit hides it
            self._clear_filter()
            self._set_limit(0.0)
            view.reveal(node)
        self.table.select(node)
        self.table.focus()

    # -------------------------------------------------------------- filter --

    def action_filter(self) -> None:
        if self._source is None:
            return
        self.add_class("-filtering")
        self.query_one(FilterInput).focus()

    @on(Input.Changed)
    def _filter_typed(self) -> None:
        if self._filter_timer is not None:
            self._filter_timer.stop()
        self._filter_timer = self.set_timer(FILTER_DELAY_S, self._apply_filter)

    def _apply_filter(self) -> None:
        source = self._source
        if source is None:
            return
        text = self.query_one(FilterInput).value.strip()
        if text == source.view.filter_text:
            return
        found = source.view.filter(text)
        self._matches = found if text else None
        self.table.highlight(text)
        self.table.reload()
        self.filter_changed()
        if found:
            # The heaviest first: next and previous go on from there in the order of the screen.
            node = source.heaviest_match()
            if node >= 0:
                source.view.reveal(node)
                self.table.select(node)
        self._say()

    def filter_changed(self) -> None:
        """The view has another filter."""

    @on(FilterInput.Accepted)
    def _filter_accepted(self) -> None:
        self._apply_filter()
        self._leave_filter()

    @on(FilterInput.Cleared)
    def _filter_cleared(self) -> None:
        self._apply_filter()
        self._leave_filter()

    def _leave_filter(self) -> None:
        text = self.query_one(FilterInput).value.strip()
        self.set_class(bool(text), "-filtering")
        self.focus_rows()

    def _clear_filter(self) -> None:
        self.query_one(FilterInput).value = ""
        self._apply_filter()
        self.remove_class("-filtering")

    def action_next_match(self) -> None:
        self._go_to_match(forward=True)

    def action_previous_match(self) -> None:
        self._go_to_match(forward=False)

    def _go_to_match(self, *, forward: bool) -> None:
        source = self._source
        if source is None:
            return
        if self._matches is None:
            self.notify("Type / to filter first.")
            return
        row = source.view.next_match(self.table.cursor, forward)
        if row is None:
            self.notify(f"Nothing matches “{source.view.filter_text}”.", markup=False)
            return
        self.table.select(source.view.node_at(row))

    def cancel(self) -> bool:
        if self._matches is not None or self.has_class("-filtering"):
            self._clear_filter()
            return True
        return self.close_detail()

    def action_limit(self) -> None:
        source = self._source
        if source is not None:
            self.app.push_screen(
                PromptScreen(
                    "Percent limit",
                    f"{source.view.limit * 100:g}",
                    "Hide paths below this share of the whole, in percent. 0 shows all.",
                    _limit_problem,
                ),
                self._limit_chosen,
            )

    def _limit_chosen(self, text: str | None) -> None:
        if text is not None:
            self._set_limit(float(text) / 100)

    def _set_limit(self, limit: float) -> None:
        source = self._source
        if source is None or limit == source.view.limit:
            return
        self._hidden = source.view.set_limit(limit)
        if self._matches is not None:
            self._matches = source.view.match_count()
        self.table.reload()
        self._say()
        self.view_changed()


def _limit_problem(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return "Type a number of percent, such as 0.5."
    return "" if 0 <= value < 100 else "Type a number from 0 to below 100."
