"""Output in fewer bytes: a terminal shows the same as without."""

from random import Random

import pyte
import pytest
from rich.style import Style

from dctx.tui.app import DctxApp
from dctx.tui.terse import terse

COLUMNS, LINES = 26, 5
COLOURS = (None, None, "default", "red", "bright_red", "color(99)", "#102030", "#405060")
TEXTS = ("a", "ab", " ", "   ", "█▁", "x y", "宽", " end", "")


def frame(random: Random) -> str:
    """As Textual writes it: a place, then runs that begin with their style and end without."""
    spans: list[str] = []
    for y in sorted(random.sample(range(1, LINES + 1), random.randrange(LINES))):
        x = random.randint(1, COLUMNS // 2)
        runs = "".join(_style(random).render(random.choice(TEXTS)) for _ in range(4))
        spans.append(f"\x1b[{y};{x}H{runs}")
    return "\n".join(spans)


def _style(random: Random) -> Style:
    bold, dim, italic, underline, reverse, strike = (random.random() < 0.15 for _ in range(6))
    return Style(
        color=random.choice(COLOURS),
        bgcolor=random.choice(COLOURS),
        bold=bold or None,
        dim=dim or None,
        italic=italic or None,
        underline=underline or None,
        reverse=reverse or None,
        strike=strike or None,
    )


def drawn(frames: list[str]) -> list[list[tuple[object, ...]]]:
    """What is seen in each cell: of blanks neither weight nor slant, nor a colour that they hide"""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.Stream(screen)
    for frame in frames:
        stream.feed(frame)
    cells: list[list[tuple[object, ...]]] = []
    for y in range(LINES):
        row: list[tuple[object, ...]] = []
        for x in range(COLUMNS):
            cell = screen.buffer[y][x]
            lined = cell.underscore, cell.strikethrough, cell.reverse
            if cell.data == " " and not any(lined):
                row.append((" ", cell.bg))
            else:
                row.append((cell.data, cell.fg, cell.bg, cell.bold, cell.italics, *lined))
        cells.append(row)
    return cells


def test_the_picture_is_the_same() -> None:
    random = Random(7)
    for _ in range(150):
        frames = [frame(random), frame(random)]
        shorter = [terse(text) for text in frames]
        assert drawn(shorter) == drawn(frames), frames
        assert all(len(one) <= len(other) for one, other in zip(shorter, frames, strict=True))


def test_only_differences_are_told() -> None:
    blue, orange = "38;2;1;2;3", "38;2;9;8;7"
    dark, light = "48;2;0;0;0", "48;2;5;5;5"
    text = (
        f"\x1b[{blue};{dark}ma\x1b[0m\x1b[{orange};{dark}mb\x1b[0m\x1b[{blue};{dark}m  \x1b[0m"
        f"\x1b[1;{orange};{dark}mc\x1b[0m\x1b[{orange};{light}md\x1b[0m\n\x1b[2;1H"
        f"\x1b[{orange};{light}me\x1b[0m"
    )
    assert terse(text) == (
        f"\x1b[{blue};{dark}ma\x1b[{orange}mb  \x1b[1mc\x1b[22;{light}md\x1b[2;1He\x1b[m"
    )


@pytest.mark.parametrize(
    "text",
    ["", "plain", "\x1b[5;1Hplain", "\x1b[?2026h", "\x1b]52;c;YQ==\a", "\x1b[31mred\x1b[0m\x1b[J"],
)
def test_what_is_no_run_of_cells_stays(text: str) -> None:
    assert drawn([terse(text), "x"]) == drawn([text, "x"])
    assert terse(text).replace("\x1b[m", "\x1b[0m") == text


def test_unknown_renditions_are_said_as_they_were() -> None:
    assert terse("\x1b[58;5;1ma\x1b[0m\x1b[1mb\x1b[0m") == "\x1b[58;5;1ma\x1b[0;1mb\x1b[m"


def test_the_application_writes_so_to_a_terminal() -> None:
    assert DctxApp().driver_class.__name__ == "TerseDriver"
