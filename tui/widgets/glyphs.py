"""The characters the widgets draw with, in Unicode and in ASCII."""

from dataclasses import dataclass

from textual.app import App


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of characters; each is one cell wide."""

    opened: str
    closed: str
    leaf: str
    cursor: str
    mark: str
    ellipsis: str
    ascending: str
    descending: str
    more_left: str
    more_right: str
    thumb: str
    blocks: str
    """Horizontal bars by eighths of a cell (the last is a full cell), or one full character."""
    columns: str
    """Vertical bars by eighths of a line, lowest first."""
    split: tuple[str, str, str, str]
    """Compute, communication, copy, idle."""
    rule: str
    range: str
    """Below steps that are marked."""
    upright: str
    """Goes on from `rule` through the corners."""
    corners: tuple[str, str]
    """Of a line that comes from above, and of one from below: to the left, to the right."""
    heads: str
    """Of an arrow to the left, to the right."""


UNICODE = Glyphs(
    opened="▾",
    closed="▸",
    leaf="·",
    cursor="▌",
    mark="•",
    ellipsis="…",
    ascending="▲",
    descending="▼",
    more_left="«",
    more_right="»",
    thumb="┃",
    blocks="▏▎▍▌▋▊▉█",
    columns="▁▂▃▄▅▆▇█",
    split=("█", "░", "▒", "·"),
    rule="─",
    range="━",
    upright="│",
    corners=("┘└", "┐┌"),
    heads="◄►",
)

ASCII = Glyphs(
    opened="v",
    closed=">",
    leaf=".",
    cursor="|",
    mark="*",
    ellipsis="~",
    ascending="^",
    descending="v",
    more_left="<",
    more_right=">",
    thumb="#",
    blocks="#",
    columns=".:-=+*#@",
    split=("#", "+", "=", "."),
    rule="-",
    range="=",
    upright="|",
    corners=("++", "++"),
    heads="<>",
)


def ascii_chosen(app: App[object]) -> bool:
    """Whether the application was asked to draw in ASCII only (its attribute `ascii_only`)."""
    return getattr(app, "ascii_only", False) is True


def glyphs_of(app: App[object]) -> Glyphs:
    """The application's set of characters."""
    return ASCII if ascii_chosen(app) else UNICODE
