"""The way between views: by number, by what leads from one to another, and back."""

from typing import TYPE_CHECKING

from textual.notifications import SeverityLevel

from ..reports.exit_codes import ExitCode
from .key_model import View
from .loading import Loading, LoadState
from .looking import Looking, Target
from .views import VIEWS

if TYPE_CHECKING:
    from .screens.view import ViewScreen


class Navigation(Looking):
    """The application's part that goes from view to view. Views are modes."""

    loading: Loading | None
    load_state: LoadState
    ascii_only: bool

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self._came_from: list[View] = []
        self._before_start: View = "overview"

    def end(self, code: int) -> None:
        """Leave the application."""
        raise NotImplementedError

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """One message at a time: those of earlier keys would cover what the last one led to."""
        self.clear_notifications()
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def start_anew(self) -> None:
        """Forget the way that led here."""
        self._came_from.clear()

    @property
    def view_shown(self) -> "ViewScreen | None":
        """The screen on top, if it is a view of the trace."""
        from .screens.view import ViewScreen

        return self.screen if isinstance(self.screen, ViewScreen) else None

    def action_view(self, view: View) -> None:
        """Show a view by its number; the way back starts anew."""
        if view != "start" and self.loading is None:
            self.notify("Open a trace first.", severity="warning")
            return
        self._leave_modals()
        self.start_anew()
        self.switch_mode(view)

    def lead(self, view: View, target: Target) -> None:
        """Show `target` in another view; `q` comes back."""
        here = self._view_now()
        if here != view:
            self._came_from.append(here)
        self.switch_mode(view)
        while len(self.screen_stack) > 1:
            self.pop_screen()
        screen = self.view_shown
        if screen is not None:
            screen.show(target)

    async def action_back(self) -> None:
        """One step back; where there is none, quit."""
        if not self._step_back():
            self.end(self.exit_code)

    async def action_cancel(self) -> None:
        """One step back, or stop reading a trace of which nothing is known yet; never quits."""
        if self.loading is not None and self._nothing_to_show() and len(self.screen_stack) == 1:
            self.loading.cancel()
        else:
            self._step_back()

    def _step_back(self) -> bool:
        """Undo what narrows the view, else close a panel, else go to where one came from, in the
        end to the Overview. False when there is no such step."""
        screen, view = self.screen, self.view_shown
        if screen.maximized is not None:
            screen.minimize()
            screen.refresh_bindings()
        elif view is not None and view.cancel():
            pass
        elif len(self.screen_stack) > 1:
            self.pop_screen()
        elif not self.back_leads:
            return False
        elif self._view_now() == "start":
            self.switch_mode(self._before_start)
        else:
            self.switch_mode(self._came_from.pop() if self._came_from else "overview")
        return True

    @property
    def back_leads(self) -> bool:
        """Whether there is a step back from the present screen; else `q` quits."""
        if len(self.screen_stack) > 1 or self.screen.maximized is not None:
            return True
        view = self._view_now()
        if view == "start":
            return self.loading is not None
        return view != "overview" and self.load_state.error is None

    def _nothing_to_show(self) -> bool:
        """A trace is being read for the first time, and nothing of it is known yet."""
        known = self.load_state.overview is not None or self.load_state.error is not None
        return not known and self._view_now() != "start"

    def action_open_trace(self) -> None:
        """The start screen: recent traces and the file picker."""
        self._leave_modals()
        here = self._view_now()
        if here != "start":
            self._before_start = here
        self.switch_mode("start")

    def action_help(self) -> None:
        from .screens.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.pop_screen()
        else:
            shown = self.view_shown
            footer = self._view_now() if shown is None else shown.footer
            self.push_screen(HelpScreen(footer, ascii_only=self.ascii_only))

    def action_zoom_panel(self) -> None:
        screen = self.screen
        if screen.maximized is not None:
            screen.minimize()
        elif screen.focused is not None:
            screen.maximize(screen.focused)
        screen.refresh_bindings()

    def _view_now(self) -> View:
        shown: list[View] = [info.view for info in VIEWS if info.view == self.current_mode]
        return shown[0] if shown else "start"

    def _leave_modals(self) -> None:
        while len(self.screen_stack) > 1 and self.screen.is_modal:
            self.pop_screen()

    @property
    def exit_code(self) -> ExitCode:
        """What the application ends with."""
        return ExitCode.USAGE if self.load_state.error is not None else ExitCode.OK
