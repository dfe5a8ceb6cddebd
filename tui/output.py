"""What is written to the terminal: no control characters of others, and no more than is needed."""

from collections.abc import Sequence

from textual.app import App
from textual.driver import Driver
from textual.filter import LineFilter

from .widgets.control_filter import ControlFilter


class Output(App[None]):
    """The application's part that all drawing passes through."""

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self._control_filter = ControlFilter()

    def get_driver_class(self) -> type[Driver]:
        """Textual's choice; where it is a terminal, one that is told less."""
        chosen = super().get_driver_class()
        if chosen.__name__ != "LinuxDriver":
            return chosen
        from .terse_driver import TerseDriver

        return TerseDriver

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._control_filter]
