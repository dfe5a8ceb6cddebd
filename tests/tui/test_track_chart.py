"""The parts of the timeline's drawing: arrows, single cells, what has changed of a line."""

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from dctx.tui.widgets.glyphs import ASCII, UNICODE
from dctx.tui.widgets.track_arrow import Arrow
from dctx.tui.widgets.track_cells import cells_of, changed, joined

STYLES = [Style(), Style(bold=True)]
CELLS = st.lists(
    st.tuples(st.sampled_from("ab▁ "), st.sampled_from(STYLES)), min_size=12, max_size=12
)


def drawn(arrow: Arrow, rows: int = 5, columns: int = 12) -> list[str]:
    lines: list[str] = []
    for row in range(rows):
        cells = ["."] * columns
        for column, sign, _ in arrow.cells(row, columns, UNICODE):
            cells[column] = sign
        lines.append("".join(cells))
    return lines


def test_arrows_go_from_the_call_to_the_work() -> None:
    assert drawn(Arrow(0, 2, 3, 7)) == [
        "..•.........",
        "..│.........",
        "..│.........",
        "..└────►....",
        "............",
    ]
    assert drawn(Arrow(3, 9, 1, 4))[1:4] == ["....◄────┐..", ".........│..", ".........•.."]
    assert drawn(Arrow(1, 5, 3, 5))[1:4] == [".....•......", ".....│......", ".....▼......"]
    assert drawn(Arrow(2, 5, 1, 6))[1:3] == [".....┌►.....", ".....•......"]


def test_ends_outside_the_picture_are_cut_off() -> None:
    assert drawn(Arrow(-4, 3, 9, 8)) == ["...│........"] * 5
    assert drawn(Arrow(0, -7, 1, 2))[:2] == ["............", "──►........."]
    assert drawn(Arrow(0, 10**9, 1, 2))[1] == "..◄─────────"
    assert drawn(Arrow(0, 3, 1, 10**9))[1] == "...└────────"


def test_only_its_way_along_the_row_of_the_work_covers_nothing() -> None:
    covers = {
        sign: covers for r in range(4) for _, sign, covers in Arrow(0, 2, 3, 7).cells(r, 12, ASCII)
    }
    assert covers == {"*": True, "|": True, "+": False, "-": False, ">": True}


def test_wide_characters_take_two_cells() -> None:
    assert cells_of("a宽e\u0301", 5) == ["a", "宽", "", "e\u0301", " "]
    assert cells_of("ab", 2) == ["a", "b"]


@settings(max_examples=200, deadline=None)
@given(CELLS, CELLS, st.integers(0, 12), st.integers(0, 12))
def test_what_changed_of_a_line(
    one: list[tuple[str, Style]], other: list[tuple[str, Style]], first: int, end: int
) -> None:
    new = [*one[:first], *other[first:end], *one[max(first, end) :]]
    found = changed(Strip(joined(one)), Strip(joined(new)))
    differ = [k for k in range(12) if one[k] != new[k]]
    expected = (differ[0], differ[-1] - differ[0] + 1) if differ else None
    assert found == expected


def test_characters_that_are_no_cell_are_compared_as_a_whole() -> None:
    def strip(text: str) -> Strip:
        return Strip([Segment("x ", STYLES[0]), Segment(text, STYLES[1])])

    assert changed(strip("宽a"), strip("宽b")) == (2, 3)
    assert changed(strip("宽a"), strip("宽a")) is None
    assert changed(strip("ab"), strip("abc")) == (0, 5)
