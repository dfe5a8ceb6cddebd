"""What the user looks at: rank, window, steps, layers. All views share it, and say it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.signal import Signal

from .loading import FIRST_WINDOW, WINDOWS
from .output import Output

if TYPE_CHECKING:
    from ..analyzers.step_selection import Selection
    from ..ingest.model import GpuKind
    from ..queries.layers import LayerGroup
    from ..queries.ranks import Rank
    from ..queries.scope import TimeScope


@dataclass(frozen=True, slots=True)
class Target:
    """What a view should show when another view leads to it."""

    node: int | None = None
    """A call path."""
    op: "tuple[GpuKind, str] | None" = None
    """Kind and name of a kernel, copy or memset."""


@dataclass(frozen=True, slots=True)
class ChosenSteps:
    """Steps that were chosen, of all ranks; or a range of time."""

    selection: "Selection | None"
    """None: a range of time, which no numbers of steps stand for."""
    scope: "TimeScope"
    """Their windows of time, and what they are called."""


class Looking(Output):
    """The application's part that holds the choices and tells of their changes."""

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.rank: Rank | None = None
        """The rank that is looked at; None: all."""
        self.rank_changed: Signal[Rank | None] = Signal(self, "rank_changed")
        self.hidden_layers: frozenset[LayerGroup] = frozenset()
        """Layers of the call paths that are folded away."""
        self.window = FIRST_WINDOW
        """The part of the trace that is judged."""
        self.window_changed: Signal[str] = Signal(self, "window_changed")
        self.chosen: ChosenSteps | None = None
        """The steps that the views are limited to."""
        self.scope_changed: Signal[TimeScope | None] = Signal(self, "scope_changed")

    @property
    def scope(self) -> "TimeScope | None":
        """The time of the chosen steps."""
        return None if self.chosen is None else self.chosen.scope

    @property
    def selection(self) -> "Selection | None":
        """The numbers of the chosen steps."""
        return None if self.chosen is None else self.chosen.selection

    def look_at(self, rank: "Rank | None") -> None:
        """Limit the views to one rank; None: all of them."""
        if rank != self.rank:
            self.rank = rank
            self.rank_changed.publish(rank)

    def judge(self, window: str) -> None:
        """Judge another part of the trace."""
        if window != self.window:
            self.window = window
            self.window_changed.publish(window)

    def next_window(self, windows: Collection[str] = WINDOWS) -> None:
        """Judge the next part of the trace, of those that can be judged. Steps that were chosen
        stay so."""
        following = WINDOWS.index(self.window) + 1
        later = (*WINDOWS[following:], *WINDOWS[:following])
        self.judge(next(window for window in later if window in windows))
        if self.chosen is not None:
            self.notify(
                f"The window is {self.window} now. The views still show only "
                f"{self.chosen.scope.label}; x shows the window.",
                markup=False,
            )

    def choose(self, steps: ChosenSteps | None) -> None:
        """Limit the views to some steps; None: the whole trace again."""
        if steps != self.chosen:
            self.chosen = steps
            self.scope_changed.publish(self.scope)

    def forget_choices(self) -> None:
        """For another trace: nothing of it is chosen. Tells nobody."""
        self.rank, self.window, self.chosen = None, FIRST_WINDOW, None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "clear_scope" or self.chosen is not None

    def action_clear_scope(self) -> None:
        self.choose(None)
