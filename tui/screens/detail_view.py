"""A view with a pane that tells more about the row under the cursor."""

from typing import ClassVar

from textual import on
from textual.timer import Timer
from textual.widget import Widget

from ..widgets.detail_pane import DetailPane, SidePane
from .details import Detail
from .view import ViewScreen

DETAIL_DELAY_S = 0.06
"""A detail is asked when the cursor has rested: a held key asks nothing."""
DETAIL_WIDTH = 100
"""From this width on the pane is shown unless it was closed."""


class DetailView(ViewScreen):
    """Shows and hides the pane, and asks for its contents."""

    PANE: ClassVar[type[Widget]] = DetailPane

    def __init__(self) -> None:
        super().__init__()
        self._detail_timer: Timer | None = None

    def ask_detail(self) -> None:
        """Ask what is known about the row under the cursor, if the pane is shown."""
        raise NotImplementedError

    def ask_detail_soon(self) -> None:
        """Ask when the cursor has rested."""
        if self._detail_timer is not None:
            self._detail_timer.stop()
        self._detail_timer = self.set_timer(DETAIL_DELAY_S, self.ask_detail)

    @on(SidePane.Appeared)
    def _pane_appeared(self) -> None:
        self.ask_detail_soon()

    @property
    def detail_shown(self) -> bool:
        return bool(self.query_one(self.PANE).display)

    def show_detail(self, detail: Detail) -> None:
        self.query_one(DetailPane).show(
            detail.heading, detail.histogram, detail.lists, detail.shapes
        )

    def toggle_detail(self) -> None:
        """Show or hide the detail pane, against what the width of the terminal suggests."""
        wide = self.size.width >= DETAIL_WIDTH
        shown = self.detail_shown
        self.set_class(not shown and not wide, "-detail-on")
        self.set_class(shown and wide, "-detail-off")

    def close_detail(self) -> bool:
        """Hide a pane that was asked for; False when there is none."""
        asked = self.has_class("-detail-on")
        self.remove_class("-detail-on")
        return asked

    def action_detail(self) -> None:
        self.toggle_detail()
        self.ask_detail()
