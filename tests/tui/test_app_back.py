"""`q` and escape go back step by step; keys pressed before the rows are there wait for them."""

from pathlib import Path

import pytest

from dctx.queries.metric import Metric
from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.launches import LaunchesScreen
from dctx.tui.screens.overview import OverviewScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.paths_source import FIRST_ROWS, PathSource
from dctx.tui.screens.start import StartScreen
from dctx.tui.widgets.key_footer import KeyFooter
from dctx.tui.widgets.status_line import StatusLine
from dctx.tui.widgets.tree_table import TreeTable
from tests.tui.app_support import AppPilot, app_of, demo_app, opened, press, settle, started


def back_text(pilot: AppPilot) -> str:
    """What the footer says `q` does."""
    footer = app_of(pilot).screen.query_one(KeyFooter)
    [text] = [item.text for item in footer.items_now(footer.screen) if item.id == "app.back"]
    return text


def tree_of(pilot: AppPilot) -> TreeTable:
    return app_of(pilot).screen.query_one(TreeTable)


def source_of(pilot: AppPilot) -> PathSource:
    source = tree_of(pilot).source
    assert isinstance(source, PathSource)
    return source


@pytest.mark.parametrize("key", ["q", "escape"])
async def test_step_by_step_to_the_overview(key: str) -> None:
    async with opened() as pilot:
        app = app_of(pilot)
        assert back_text(pilot) == "quit"
        await press(pilot, "3", "slash", "n", "v", "enter", "enter")
        assert isinstance(app.screen, LaunchesScreen)
        assert back_text(pilot) == "back"
        await press(pilot, key)
        screen = app.screen
        assert isinstance(screen, KernelsScreen)
        filtered = screen.table.row_count
        await press(pilot, key)
        assert app.screen is screen
        assert screen.table.row_count > filtered
        await press(pilot, key)
        assert isinstance(app.screen, OverviewScreen)
        await press(pilot, "2")
        assert back_text(pilot) == "back"
        await press(pilot, key)
        assert isinstance(app.screen, OverviewScreen)
        assert back_text(pilot) == "quit"
        await press(pilot, key)
        assert app.is_running is (key == "escape")


@pytest.mark.parametrize("key", ["q", "escape"])
async def test_the_open_trace_stays_when_no_other_is_chosen(key: str) -> None:
    async with opened() as pilot:
        app = app_of(pilot)
        await press(pilot, "2", "ctrl+o")
        assert isinstance(app.screen, StartScreen)
        assert back_text(pilot) == "back"
        await press(pilot, key)
        assert isinstance(app.screen, PathsScreen)
        assert app.load_state.complete


async def test_without_a_trace_the_start_screen_quits() -> None:
    async with started() as pilot:
        assert back_text(pilot) == "quit"
        await press(pilot, "escape")
        assert app_of(pilot).is_running
        await pilot.press("q")
        assert app_of(pilot).return_code == 0


async def test_keys_before_the_rows_wait_for_them() -> None:
    async with demo_app().run_test(size=(160, 45)) as pilot:
        await pilot.press("2", "m", "E", "slash", *"cudaLaunch", "enter")
        await settle(pilot)
        await settle(pilot)
        assert isinstance(app_of(pilot).screen, PathsScreen)
        view = source_of(pilot).view
        assert view.share_metric is Metric.HOST
        assert view.filter_text == "cudaLaunch"
        line = tree_of(pilot).cursor_line
        assert line is not None
        assert line.marked


@pytest.mark.parametrize(("view", "order"), [("2", Metric.HOST.value), ("3", "count")])
async def test_sorting_before_the_rows_are_there(view: str, order: str) -> None:
    async with opened() as pilot:
        await pilot.press(view, "s", "h" if view == "2" else "c")
        await settle(pilot)
        await settle(pilot)
        table = app_of(pilot).screen.query_one("#tree" if view == "2" else "#table")
        assert getattr(table, "order") == (order, True)  # noqa: B009 - either widget


async def test_bottom_up_and_hot_path_before_the_rows_are_there() -> None:
    async with opened() as pilot:
        await pilot.press("2", "b")
        await settle(pilot)
        await settle(pilot)
        assert source_of(pilot).view.turned
    async with opened() as pilot:
        await pilot.press("2", "z")
        await settle(pilot)
        await settle(pilot)
        line = tree_of(pilot).cursor_line
        assert line is not None
        assert line.depth > 4


async def test_the_number_of_rows_is_always_the_present_one() -> None:
    async with opened() as pilot:

        def said() -> str:
            return app_of(pilot).screen.query_one(StatusLine).right

        for keys in (("2",), ("E",), ("C",), ("right",), ("asterisk",), ("C", "z"), ("b",), ("b",)):
            await press(pilot, *keys)
            assert said() == f"{source_of(pilot).row_count():,} rows", keys
        await press(pilot, "C", "3", "enter", "enter")
        assert isinstance(app_of(pilot).screen, PathsScreen)
        assert said() == f"{source_of(pilot).row_count():,} rows"


async def test_the_filter_goes_to_the_heaviest_match() -> None:
    async with opened() as pilot:
        await press(pilot, "2", "slash", *"cudaLaunchKernel", "enter")
        view = source_of(pilot).view
        values = view.table.values[Metric.GPU]
        names = list(view.table.frames.names)
        matching = [
            int(values[node])
            for node, frame in enumerate(view.table.frame)
            if "cudalaunchkernel" in names[int(frame)].casefold()
        ]
        assert len(matching) > 2
        assert values[tree_of(pilot).cursor_node] == max(matching)
        first = tree_of(pilot).cursor
        await press(pilot, "n")
        assert tree_of(pilot).cursor != first


async def test_another_metric_leaves_rows_that_have_none_of_it() -> None:
    async with opened() as pilot:
        await press(pilot, "2", "E", "slash", *"flash_fwd", "enter")
        await press(pilot, "m")
        view = source_of(pilot).view
        assert view.share_metric is Metric.HOST
        assert tree_of(pilot).cursor == 0


async def test_first_some_levels_are_unfolded() -> None:
    async with opened() as pilot:
        await press(pilot, "2")
        rows = source_of(pilot).view.rows(0, 100)
        assert 3 < len(rows) <= FIRST_ROWS
        assert max(row.depth for row in rows) >= 2


async def test_no_match_says_how_to_go_on(tmp_path: Path) -> None:
    async with opened(size=(80, 24)) as pilot:
        for view, rows in (("2", "#tree"), ("3", "#table")):
            await press(pilot, view, "slash", *"nowhere", "enter")
            table = app_of(pilot).screen.query_one(rows)
            text = table.render_line(1).text
            assert "Nothing matches “nowhere”" in text
            assert "esc" in text
        await press(pilot, "escape", "a", "slash", *"nowhere", "enter")
        table = app_of(pilot).screen.query_one("#table")
        assert "Nothing matches “nowhere”" in table.render_line(1).text


async def test_unknown_letters_of_columns_are_answered() -> None:
    async with opened() as pilot:
        await press(pilot, "2", "s", "q")
        app = app_of(pilot)
        assert isinstance(app.screen, PathsScreen)
        notices = [n.message for n in app._notifications]  # pyright: ignore[reportPrivateUsage]
        assert "h host" in notices[-1]
        await press(pilot, "h")
        assert source_of(pilot).order == (Metric.HOST.value, True)
