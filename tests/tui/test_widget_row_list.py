"""Short lists that lead on, and how ways of names are shortened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from dctx.tui.widgets.row_list import Row, RowList, cut_start, fit_way

WAY = ("python3 (101)", "main thread", "step #", "forward", "at::_ops::linear::call", "cudaLaunch")


MINOR = frozenset({1, 3, 4})
NONE = frozenset[int]()


@pytest.mark.parametrize(
    ("width", "minor", "shown"),
    [
        (90, NONE, " > ".join(WAY)),
        (70, MINOR, "python3 (101) > … > step # > … > at::_ops::linear::call > cudaLaunch"),
        (66, MINOR, "python3 (101) > … > step # > … > cudaLaunch"),
        (40, MINOR, "python3 (101) > … > cudaLaunch"),
        (26, MINOR, "pytho…01) > … > cudaLaunch"),
        (20, MINOR, "cudaLaunch"),
        (8, NONE, "cudaL…ch"),
    ],
)
def test_what_says_least_gives_way(width: int, minor: frozenset[int], shown: str) -> None:
    assert fit_way(WAY, width, "…", minor) == shown


NAMES = st.lists(st.text("ab:_文 ", min_size=1, max_size=40), min_size=1, max_size=12)


@given(NAMES, st.integers(1, 120), st.sets(st.integers(0, 11)))
def test_a_way_fits_whatever_it_is(names: list[str], width: int, minor: set[int]) -> None:
    assert cell_len(fit_way(tuple(names), width, "…", frozenset(minor))) <= width


def test_the_end_of_a_file_name_stays() -> None:
    assert cut_start("/data/runs/today/trace.sqlite", 15, "…") == "…y/trace.sqlite"
    assert cut_start("a.sqlite", 10, "…") == "a.sqlite  "


class Lists(App[None]):
    def compose(self) -> ComposeResult:
        yield RowList([Row(f"row {n}", target=n) for n in range(100)], id="list")

    def on_mount(self) -> None:
        self.told: list[object] = []
        self.query_one(RowList).styles.height = 10

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        self.told.append(message.row.target)

    def on_row_list_edge(self, message: RowList.Edge) -> None:
        self.told.append("below" if message.down else "above")


async def test_the_cursor_stays_in_sight_under_the_heading() -> None:
    app = Lists()
    async with app.run_test(size=(40, 12)) as pilot:
        rows = app.query_one(RowList)
        rows.set_rows(rows.rows, "what")
        rows.focus()
        await pilot.pause()

        def shown() -> list[str]:
            return [rows.render_line(y).text.strip() for y in range(rows.size.height)]

        for key, first, cursor in (("end", 91, 99), ("pageup", 89, 91), ("home", 0, 0)):
            await pilot.press(key)
            await pilot.pause()
            lines = shown()
            assert lines[0] == "what"
            assert f"row {rows.cursor}" in lines
            assert rows.cursor == cursor or key == "pageup"
            assert lines[1] == f"row {first}" or key == "pageup"


async def test_rows_open_and_the_ends_are_told() -> None:
    app = Lists()
    async with app.run_test(size=(40, 12)) as pilot:
        app.query_one(RowList).focus()
        await pilot.press("up", "j", "enter", "end", "down")
        await pilot.pause()
        assert app.told == ["above", 1, "below"]


async def test_a_row_without_a_target_is_not_opened() -> None:
    app = Lists()
    async with app.run_test(size=(40, 12)) as pilot:
        rows = app.query_one(RowList)
        rows.set_rows([Row("only to be read", tone="dim")])
        rows.focus()
        await pilot.press("enter")
        await pilot.pause()
        assert app.told == []


async def test_an_empty_list_survives_every_key() -> None:
    app = Lists()
    async with app.run_test(size=(40, 12)) as pilot:
        rows = app.query_one(RowList)
        rows.set_rows([])
        rows.focus()
        await pilot.press("down", "up", "end", "home", "pagedown", "pageup", "enter")
        await pilot.pause()
        assert rows.cursor_row is None
