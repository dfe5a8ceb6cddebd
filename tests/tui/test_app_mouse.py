"""Everything has a key; what the mouse does is the same."""

from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.overview import OverviewScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.views import TRACE_VIEWS
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.title_bar import TitleBar
from tests.tui.app_support import app_of, opened, press, settle


async def test_a_click_on_a_view_in_the_title_shows_it() -> None:
    width = 140  # every title is shown whole, whatever view is on
    async with opened(size=(width, 30)) as pilot:
        x = width
        for info in reversed(TRACE_VIEWS):
            x -= len(f" {info.tab} {info.title} ")
            await pilot.click(TitleBar, offset=(x + 2, 0))
            await settle(pilot)
            assert app_of(pilot).current_mode == info.view


async def test_a_click_selects_and_a_double_click_opens() -> None:
    async with opened(size=(100, 30)) as pilot:
        app = app_of(pilot)
        kernels = app.screen.query_one("#kernels", RowList)
        app.screen.query_one("#page").scroll_end(animate=False)
        await settle(pilot)
        await pilot.click(kernels, offset=(40, 4))
        assert app.focused is kernels
        assert kernels.cursor == 2
        await pilot.click(kernels, offset=(40, 1))
        assert kernels.cursor == 2, "the heading is no row"
        await pilot.click(kernels, offset=(40, 3), times=2)
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, KernelsScreen)
        row = screen.table.cursor_row
        assert row is not None
        assert kernels.rows[1].label in row.cells


async def test_a_click_folds_and_a_heading_sorts() -> None:
    async with opened(size=(100, 30)) as pilot:
        app = app_of(pilot)
        assert isinstance(app.screen, OverviewScreen)
        await press(pilot, "2", "C")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, PathsScreen)
        tree = screen.table
        rows = tree.row_count
        line = tree.render_line(2).text
        await pilot.click(tree, offset=(line.index("▸"), 2))
        await settle(pilot)
        assert tree.row_count > rows
        await pilot.click(tree, offset=(tree.render_line(0).text.index("host"), 0))
        await settle(pilot)
        assert tree.order == ("host", True)
