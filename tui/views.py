"""The views of the application, in one table: a new view is a line here, a screen, and its keys."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .key_model import View

if TYPE_CHECKING:
    from textual.screen import Screen


@dataclass(frozen=True, slots=True)
class ViewInfo:
    """One view."""

    view: View
    title: str
    """Of its tab, and in the help."""
    short: str
    """The title where there is little room."""
    tab: str
    """The key shown on its tab; empty for a view without one."""
    screen: str
    """`module:Class` under `dctx.tui.screens`, imported when the view is first shown: what the
    first screen does not need must not delay it."""

    def make(self) -> "Screen[None]":
        """A new screen."""
        module, _, name = self.screen.partition(":")
        made: Screen[None] = getattr(import_module(f".screens.{module}", __package__), name)()
        return made


VIEWS: tuple[ViewInfo, ...] = (
    ViewInfo("start", "Start", "Start", "", "start:StartScreen"),
    ViewInfo("overview", "Overview", "Over", "1", "overview:OverviewScreen"),
    ViewInfo("paths", "Call paths", "Paths", "2", "paths:PathsScreen"),
    ViewInfo("kernels", "Kernels", "Kern", "3", "kernels:KernelsScreen"),
    ViewInfo("ops", "Ops", "Ops", "4", "ops:OpsScreen"),
    ViewInfo("timeline", "Timeline", "Time", "5", "timeline:TimelineScreen"),
    ViewInfo("steps", "Steps", "Steps", "6", "steps:StepsScreen"),
    ViewInfo("comms", "Comms", "Comm", "7", "comms:CommsScreen"),
    ViewInfo("compare", "Compare", "Comp", "8", "compare:CompareScreen"),
    ViewInfo("sql", "SQL", "SQL", "9", "sql:SqlScreen"),
    ViewInfo("memory", "Memory", "Mem", "M", "memory:MemoryScreen"),
)
"""In the order of the tabs. `start` is without a trace; every other one is a view of the trace."""

TRACE_VIEWS: tuple[ViewInfo, ...] = tuple(info for info in VIEWS if info.tab)


def modes() -> dict[str, "str | Callable[[], Screen[Any]]"]:
    """For `App.MODES`."""
    return {info.view: info.make for info in VIEWS}
