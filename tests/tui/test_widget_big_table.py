"""The table of pages by keyboard, with pages that come at once, late, or never."""

from collections.abc import Sequence

from textual.pilot import Pilot

from dctx.tui.widgets.big_table import CACHED_PAGES, PAGE_ROWS, PAGES_UNDER_WAY, BigTable
from tests.tui.rows_app import TABLE_COLUMNS, TableApp, table_row

ROWS = 2_000_000


def lines(view: BigTable) -> list[str]:
    """What the widget shows, line by line."""
    return [view.render_line(y).text for y in range(view.size.height)]


def wanted(app: TableApp) -> list[tuple[int, int]]:
    """First row and count of the pages asked for, in order."""
    return [(m.first, m.count) for m in app.wanted]


async def answer_all(app: TableApp, pilot: Pilot[None]) -> None:
    """Answer what was asked for until nothing more is."""
    while app.wanted:
        app.answer(app.wanted.pop(0))
        await pilot.pause()


async def test_first_and_last_of_two_million_rows() -> None:
    app = TableApp(ROWS)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        assert "0.000" in lines(app.view)[1]
        await pilot.press("G")
        await pilot.pause()
        assert app.view.cursor == ROWS - 1
        assert "1999.999" in lines(app.view)[-1]
        await pilot.press("pageup", "home")
        assert app.view.cursor == 0
        moved = [m.row_key for m in app.told if isinstance(m, BigTable.Highlighted)]
        assert moved == [0, ROWS - 1, ROWS - 29, 0]


async def test_keys_work_while_pages_are_missing() -> None:
    app = TableApp(ROWS, answering=False)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("down", "pagedown", "G", "up", "enter")
        assert app.view.cursor == ROWS - 2
        assert app.view.cursor_row is None
        assert app.told == []
        assert lines(app.view)[1].split() == ["…"] * len(TABLE_COLUMNS)
        await answer_all(app, pilot)
        assert [m.row_key for m in app.told if isinstance(m, BigTable.Highlighted)] == [ROWS - 2]
        assert "1999.998" in lines(app.view)[-2]


async def test_only_pages_still_in_sight_are_asked_for() -> None:
    app = TableApp(ROWS, answering=False)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press(*["pagedown"] * 40)
        assert len(app.wanted) == PAGES_UNDER_WAY
        app.answer(app.wanted.pop(0))
        await pilot.pause()
        first, count = wanted(app)[-1]
        assert first <= app.view.top < first + count


async def test_what_is_in_sight_comes_before_what_may_be() -> None:
    app = TableApp(ROWS, answering=False)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        assert wanted(app) == [(0, PAGE_ROWS)]
        await answer_all(app, pilot)
        for _ in range(6):
            await pilot.press("pagedown")
        assert wanted(app) == [(PAGE_ROWS, PAGE_ROWS)]
        assert app.view.top + app.view.page_rows <= PAGE_ROWS


async def test_pages_out_of_sight_are_let_go() -> None:
    app = TableApp(ROWS)
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.pause()
        for _ in range(100):
            app.view.action_page_down()
            await pilot.pause()
        app.wanted.clear()
        app.view.move_cursor(0)
        await pilot.pause()
        assert (0, PAGE_ROWS) in wanted(app)
        held = [row for row in range(0, 12_000, PAGE_ROWS) if app.view.row(row) is not None]
        assert len(held) <= CACHED_PAGES


async def test_the_last_page_is_short() -> None:
    app = TableApp(250)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("G")
        await pilot.pause()
        assert wanted(app)[-1] == (200, 50)
        assert app.view.cursor_row == table_row(249)


async def test_pages_of_an_older_generation_are_dropped() -> None:
    app = TableApp(1000, answering=False)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        old = app.wanted.pop()
        app.view.reset(TABLE_COLUMNS, 500, sort_key="dur", cursor=7)
        app.answer(old)
        assert app.view.row(0) is None
        assert app.view.cursor == 7
        await pilot.pause()
        await answer_all(app, pilot)
        assert app.view.row(0) == table_row(0)


async def test_a_withdrawn_page_is_asked_for_again() -> None:
    app = TableApp(1000, answering=False)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        wish = app.wanted.pop()
        app.view.withdraw(wish.generation, wish.first)
        await pilot.press("pagedown")
        assert wanted(app) == [(0, PAGE_ROWS)]


async def test_order_is_asked_for_with_the_row_to_keep() -> None:
    app = TableApp(1000)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        await pilot.press("down", "down", "s", "d")
        [wish] = [m for m in app.told if isinstance(m, BigTable.SortWanted)]
        assert (wish.key, wish.descending, wish.row_key) == ("dur", True, 2)
        assert "▼duration µs" in lines(app.view)[0]
        await pilot.press("S")
        wish = [m for m in app.told if isinstance(m, BigTable.SortWanted)][-1]
        assert (wish.key, wish.descending) == ("dur", False)
        await pilot.press("s", "k")
        wish = [m for m in app.told if isinstance(m, BigTable.SortWanted)][-1]
        assert (wish.key, wish.descending) == ("name", False)


async def test_columns_scroll_when_they_do_not_fit() -> None:
    app = TableApp(100)
    async with app.run_test(size=(70, 10)) as pilot:
        await pilot.pause()
        assert "start ms" in lines(app.view)[0]
        assert "device" not in lines(app.view)[0]
        assert lines(app.view)[0].rstrip().endswith("»")
        await pilot.press("right", "right", "right", "right", "right")
        assert "device" in lines(app.view)[0]
        assert "kernel" in lines(app.view)[0]
        assert lines(app.view)[0].startswith("«")
        await pilot.press(*["h"] * 5)
        assert "start ms" in lines(app.view)[0]
        assert all(len(line) == 70 for line in lines(app.view))


async def test_rows_that_are_all_there_need_no_pages() -> None:
    app = TableApp(0)
    async with app.run_test(size=(120, 10)) as pilot:
        rows = [table_row(row) for row in range(5000)]
        app.view.show(TABLE_COLUMNS, rows, sort_key="start")
        await pilot.press("G", "enter")
        assert app.wanted == []
        assert keys_opened(app) == [4999]
        assert "4.999" in lines(app.view)[-1]


def keys_opened(app: TableApp) -> Sequence[int]:
    return [m.row_key for m in app.told if isinstance(m, BigTable.Opened)]


async def test_wheel_and_scroll_bar() -> None:
    app = TableApp(10_000)
    async with app.run_test(size=(120, 31)) as pilot:
        await pilot.pause()
        app.view._scroll_window(3)  # pyright: ignore[reportPrivateUsage]
        assert (app.view.top, app.view.cursor) == (3, 3)
        await pilot.click(BigTable, offset=(119, 30))
        assert app.view.cursor == 9_999
        thumb = [y for y, line in enumerate(lines(app.view)) if line.endswith("┃")]
        assert thumb == [30]


async def test_no_rows() -> None:
    app = TableApp(0)
    async with app.run_test(size=(120, 10)) as pilot:
        await pilot.press("down", "G", "pagedown", "enter", "s", "s")
        assert app.view.cursor == 0
        assert not [m for m in app.told if isinstance(m, BigTable.Opened)]
