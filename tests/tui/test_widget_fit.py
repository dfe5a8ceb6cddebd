"""Texts and columns made to fit: always exactly as wide as asked, whatever they hold."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dctx.tui.widgets.columns import header_line, place_by_rank, place_from, sort_letters
from dctx.tui.widgets.fit import bar, clean, fit, shorten, skip, whole_parts, wrap
from dctx.tui.widgets.glyphs import ASCII, UNICODE
from dctx.tui.widgets.sources import ColumnSpec
from tests.tui.rows_app import TABLE_COLUMNS, TREE_COLUMNS

TEXT = st.text(st.sampled_from("ab<:µ中文é…🙂 "), max_size=40)


def test_control_characters_never_reach_the_terminal() -> None:
    assert clean("a\x1b[31mb\nc\td\x9b") == "a?[31mb c d?"
    assert clean("gemm<float>") == "gemm<float>"


@given(TEXT, st.integers(1, 30), st.sampled_from(["left", "right"]))
def test_fit_is_exact(text: str, width: int, align: str) -> None:
    assert cell_len(fit(text, width, align)) == width


@given(TEXT, st.integers(5, 30))
def test_shorten_keeps_both_ends(text: str, width: int) -> None:
    short = shorten(text, width)
    assert cell_len(short) <= width
    if cell_len(text) <= width:
        assert short == text
    else:
        assert "…" in short


def test_shorten_keeps_what_tells_names_apart() -> None:
    assert shorten("void cutlass::gemm_1234<float>(Params)", 20) == "void cutlass…Params)"
    assert cell_len("void cutlass…Params)") == 20


@given(TEXT, st.integers(0, 30))
def test_skip_leaves_the_rest(text: str, cells: int) -> None:
    assert cell_len(skip(text, cells)) <= max(0, cell_len(text) - cells)


@given(st.floats(0, 1), st.integers(1, 12))
def test_bars_are_as_wide_as_asked_and_never_hide_a_small_share(share: float, width: int) -> None:
    for blocks in (UNICODE.blocks, ASCII.blocks):
        drawn = bar(share, width, blocks)
        assert len(drawn) == width
        assert (drawn.strip() != "") == (share > 0)


def test_bar_values() -> None:
    assert bar(0.5, 4, UNICODE.blocks) == "██  "
    assert bar(0.3125, 4, UNICODE.blocks) == "█▎  "
    assert bar(1.0, 4, ASCII.blocks) == "####"
    assert bar(None, 4, UNICODE.blocks) == "    "


@given(TEXT, st.integers(4, 20))
def test_wrapped_lines_fit(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(clean(text).split())


def test_narrow_trees_leave_out_the_highest_rank_first() -> None:
    label = ColumnSpec("label", "path", 30, align="left", flexible=True)
    columns = (*TREE_COLUMNS, label)

    def shown(width: int, keep: str = "gpu") -> list[str]:
        return [column.spec.key for column in place_by_rank(columns, width, keep).placed]

    assert shown(120) == ["share", "gpu", "self", "calls", "kernels", "label"]
    assert shown(78) == ["share", "gpu", "self", "calls", "label"]
    assert shown(60) == ["share", "gpu", "label"]
    assert shown(60, keep="kernels") == ["share", "gpu", "kernels", "label"]
    assert sum(c.width for c in place_by_rank(columns, 120, "gpu").placed) + 5 == 120


@given(st.integers(1, 140), st.integers(0, 5))
def test_columns_never_leave_the_line(width: int, first: int) -> None:
    layout = place_from(TABLE_COLUMNS, width, first)
    assert all(column.x + column.width <= width for column in layout.placed)
    assert "name" in [column.spec.key for column in layout.placed]
    assert len(header_line(layout, ("dur", True), UNICODE, None)) == width


def test_scrolled_columns_say_so() -> None:
    layout = place_from(TABLE_COLUMNS, 60, 1)
    assert [column.spec.key for column in layout.placed] == ["name", "dur", "share"]
    assert (layout.hidden_left, layout.hidden_right) == (True, True)


def test_letters_are_unique_and_leave_s_alone() -> None:
    letters = sort_letters(TABLE_COLUMNS)
    assert letters == {"k": 0, "t": 1, "d": 2, "h": 3, "e": 5}


def test_headings_show_the_order_or_the_letters() -> None:
    layout = place_from(TABLE_COLUMNS, 100, 0)
    ordered = header_line(layout, ("dur", True), UNICODE, None)
    assert "▼duration µs" in ordered
    assert "vduration" in header_line(layout, ("dur", True), ASCII, None)
    choosing = header_line(layout, ("dur", True), UNICODE, sort_letters(TABLE_COLUMNS))
    assert "[k]ernel" in choosing
    assert "s[t]art ms" in choosing
    assert "grid" in choosing


def test_figures_are_shown_whole_or_not_at_all() -> None:
    text = "mean 4.59 ms · p10 3.88 ms · p50 5.20 ms"
    assert [whole_parts(text, width) for width in (40, 39, 5)] == [
        text, "mean 4.59 ms · p10 3.88 ms", "mean 4.59 ms",
    ]  # fmt: skip
