"""What a flame graph draws."""

from typing import Literal, Protocol

from .flame_layout import FlameLayout

Kind = Literal["", "more", "less"]
"""What a frame's colour says: nothing, more than before, less than before."""


class FlameSource(Protocol):
    """What is drawn. Called for frames in sight only."""

    @property
    def layout(self) -> FlameLayout: ...
    def label(self, node: int) -> str:
        """The frame's name. Begin it with a sign where the kind says anything: colour is not
        for everyone."""
        ...

    def kind(self, node: int) -> Kind: ...
    def matches(self, node: int) -> bool:
        """Whether the frame is among those searched for."""
        ...
