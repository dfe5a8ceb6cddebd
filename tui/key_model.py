"""What a key is, and where it can belong."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

View = Literal[
    "start",
    "overview",
    "paths",
    "kernels",
    "ops",
    "timeline",
    "steps",
    "comms",
    "compare",
    "sql",
    "memory",
]
"""A view; `views.VIEWS` says the rest of it."""
Footer = View | Literal["filter", "message", "progress", "flame", "paths-flame", "statement"]
"""What has a footer of its own: views, and panels in their place."""
Place = Footer | Literal["app", "tree", "table", "list", "strip", "dialog", "text"]
"""What a key belongs to: the application, a view or panel, a widget."""


class Group(Enum):
    """Headings of the help, in order."""

    MOVE = "Move"
    FOLD = "Fold"
    FIND = "Find and sort"
    SHOW = "What is shown"
    TAKE = "Take along"
    GO = "Views and application"


@dataclass(frozen=True, slots=True)
class Key:
    """One binding.

    `keys` are Textual key names, the first of which is shown; `action` is found on the widget,
    screen or (with `app.`) application that owns the place. `footer` is 0 for a key the footer
    leaves out, else its rank: the narrower the terminal, the lower the rank that is left out
    first is high (1 stays longest). `label` replaces the key's name where several share one.
    """

    id: str
    keys: tuple[str, ...]
    action: str
    short: str
    help: str
    group: Group
    places: tuple[Place, ...]
    footer: int = 0
    label: str = ""
    words: tuple[str, ...] = ()
    """What else people call it: found in the palette."""
