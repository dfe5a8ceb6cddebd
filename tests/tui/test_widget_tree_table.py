"""The tree-table by keyboard and mouse."""

from collections.abc import Sequence
from dataclasses import replace

from dctx.tui.widgets.sources import TreeLine
from dctx.tui.widgets.tree_table import MARGIN_ROWS, TreeTable
from tests.tui.rows_app import ChainTree, ListTree, ModelTree, TreeApp


def lines(view: TreeTable) -> list[str]:
    """What the widget shows, line by line."""
    return [view.render_line(y).text for y in range(view.size.height)]


def nodes(app: TreeApp) -> list[int]:
    """Nodes that were highlighted, in order."""
    return [m.node for m in app.told if isinstance(m, TreeTable.Highlighted)]


async def test_right_unfolds_then_descends_and_left_goes_back() -> None:
    app = TreeApp(ListTree(100))
    async with app.run_test(size=(100, 20)) as pilot:
        await pilot.press("right")
        assert app.shown.row_count() == 5
        assert app.view.cursor_node == 0
        await pilot.press("l", "j")
        assert app.view.cursor_node == 2
        await pilot.press("right", "right")
        assert app.view.cursor_node == 9
        await pilot.press("h")
        assert app.view.cursor_node == 2
        await pilot.press("left")
        assert app.shown.row_count() == 5
        await pilot.press("left", "left")
        assert app.shown.row_count() == 1
        assert nodes(app) == [0, 1, 2, 9, 2, 0]


async def test_toggle_expand_and_collapse_keys() -> None:
    app = TreeApp(ListTree(85))
    async with app.run_test(size=(100, 20)) as pilot:
        await pilot.press("+")
        assert app.shown.row_count() == 5
        await pilot.press("space")
        assert app.shown.row_count() == 1
        await pilot.press("space", "down", "*")
        assert app.shown.row_count() == 5 + 4 + 16
        await pilot.press("E")
        assert app.shown.row_count() == 85
        await pilot.press("C")
        assert app.shown.row_count() == 1
        assert app.view.cursor_node == 0


async def test_cursor_stays_on_its_node_or_goes_to_the_nearest_visible_ancestor() -> None:
    tree = ListTree(85)
    tree.expand_all()
    app = TreeApp(tree)
    async with app.run_test(size=(100, 20)) as pilot:
        await pilot.press("G")
        last = app.view.cursor_node
        offset = app.view.cursor - app.view.top
        tree.hide({1})
        app.view.reload()
        assert app.view.cursor_node == last
        assert app.view.cursor - app.view.top == offset
        tree.hide({tree.parent(last)})
        app.view.reload()
        assert app.view.cursor_node == tree.parent(tree.parent(last))


async def test_select_brings_the_node_into_sight() -> None:
    tree = ListTree(2000)
    tree.expand_all()
    app = TreeApp(tree)
    async with app.run_test(size=(100, 20)) as pilot:
        app.view.select(1234)
        await pilot.pause()
        view = app.view
        assert view.cursor_node == 1234
        assert view.top <= view.cursor < view.top + view.page_rows
        assert " 1234 " in lines(view)[view.cursor - view.top + 1]


async def test_window_moves_by_half_its_height_at_the_edge() -> None:
    tree = ListTree(2000)
    tree.expand_all()
    app = TreeApp(tree)
    async with app.run_test(size=(100, 21)) as pilot:
        view = app.view
        await pilot.press(*["down"] * 19)
        assert (view.cursor, view.top) == (19, 0)
        await pilot.press("down")
        assert (view.cursor, view.top) == (20, 11)
        await pilot.press("g", "end")
        assert (view.cursor, view.top) == (1999, 1980)
        await pilot.press("pageup")
        assert (view.cursor, view.top) == (1980, 1961)
        await pilot.press("home", "pagedown")
        assert (view.cursor, view.top) == (19, 19)


async def test_only_rows_in_sight_and_a_margin_are_fetched() -> None:
    tree = ListTree(2000)
    tree.expand_all()
    app = TreeApp(tree)
    async with app.run_test(size=(100, 21)) as pilot:
        tree.fetched.clear()
        await pilot.press("down", "down", "up")
        assert tree.fetched == []
        await pilot.press("G", "g", "pagedown", "pagedown")
        assert max(count for _, count in tree.fetched) <= 2 * (20 + MARGIN_ROWS)


async def test_choosing_the_order_by_letter_and_by_cycling() -> None:
    tree = ListTree(100)
    app = TreeApp(tree)
    async with app.run_test(size=(100, 20)) as pilot:
        assert "▼GPU µs" in lines(app.view)[0]
        await pilot.press("s")
        assert "[c]alls" in lines(app.view)[0]
        await pilot.press("c")
        assert tree.order == ("calls", True)
        assert "▼calls" in lines(app.view)[0]
        await pilot.press("s", "c")
        assert tree.order == ("calls", False)
        await pilot.press("S")
        assert tree.order == ("calls", True)
        await pilot.press("s", "s")
        assert tree.order == ("kernels", True)
        assert app.view.choosing_order
        await pilot.press("escape")
        assert not app.view.choosing_order
        reordered = [m for m in app.told if isinstance(m, TreeTable.Reordered)]
        assert [(m.key, m.descending) for m in reordered][-1] == ("kernels", True)


async def test_a_key_that_is_no_letter_of_a_column_keeps_its_meaning() -> None:
    app = TreeApp(ListTree(100))
    async with app.run_test(size=(100, 20)) as pilot:
        await pilot.press("s", "right")
        assert not app.view.choosing_order
        assert app.shown.row_count() == 5


async def test_enter_and_double_click_open() -> None:
    app = TreeApp(ListTree(100))
    async with app.run_test(size=(100, 20)) as pilot:
        await pilot.press("right", "down", "enter")
        await pilot.click(TreeTable, offset=(5, 3), times=2)
        opened = [m.node for m in app.told if isinstance(m, TreeTable.Opened)]
        assert opened == [1, 2]


async def test_clicking_the_sign_folds_and_the_heading_sorts() -> None:
    tree = ListTree(100)
    app = TreeApp(tree)
    async with app.run_test(size=(100, 20)) as pilot:
        sign = lines(app.view)[1].index("▸")
        await pilot.click(TreeTable, offset=(sign, 1))
        assert tree.row_count() == 5
        await pilot.click(TreeTable, offset=(lines(app.view)[0].index("calls"), 0))
        assert tree.order == ("calls", True)


async def test_deep_paths_keep_their_labels_at_80_columns() -> None:
    tree = ChainTree(400)
    tree.expand_all()
    app = TreeApp(tree)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("G")
        shown = lines(app.view)
        assert all(len(line) == 80 for line in shown)
        assert "…399 · void cutlass" in shown[-1]


async def test_long_labels_lose_their_middle_and_move_sideways() -> None:
    app = TreeApp(ListTree(10))
    async with app.run_test(size=(60, 10)) as pilot:
        assert "void cutlass::gemm…, 0>(Params)" in lines(app.view)[1]
        await pilot.press("shift+right")
        assert lines(app.view)[1].rstrip("┃ ").endswith("<float, 0>(Params)")
        assert "void" not in lines(app.view)[1]
        await pilot.press("shift+right", "shift+right")
        assert "Params" in lines(app.view)[1]
        await pilot.press("left")
        assert "void cutlass" in lines(app.view)[1]


class NotedTree(ListTree):
    """Every row has a long note."""

    def rows(self, first: int, count: int) -> Sequence[TreeLine]:
        return [replace(line, note=NOTE) for line in super().rows(first, count)]


NOTE = "other kernel, was sm90_xmma_gemm_bf16"


async def test_a_long_note_leaves_room_for_the_label() -> None:
    app = TreeApp(NotedTree(10))
    async with app.run_test(size=(60, 10)):
        shown = lines(app.view)[1]
        assert "void cut…rams) other" in shown
    app = TreeApp(NotedTree(10))
    async with app.run_test(size=(120, 10)):
        assert f"(Params) {NOTE}" in lines(app.view)[1]


async def test_matches_are_underlined() -> None:
    app = TreeApp(ListTree(10))
    async with app.run_test(size=(100, 10)) as pilot:
        await pilot.press("right", "right")
        app.view.highlight("GEMM_2")
        await pilot.pause()
        strip = app.view.render_line(3)
        underlined = [s.text for s in strip if s.style is not None and s.style.underline]
        assert underlined == ["gemm_2"]


async def test_ascii_draws_ascii() -> None:
    tree = ListTree(100)
    tree.expand_all()
    app = TreeApp(tree, ascii_only=True)
    async with app.run_test(size=(100, 20)) as pilot:
        await pilot.press("down", "s")
        assert all(line.replace("µ", "u").isascii() for line in lines(app.view))


async def test_an_empty_tree_draws_and_takes_keys() -> None:
    tree = ListTree(5)
    app = TreeApp(tree)
    async with app.run_test(size=(100, 10)) as pilot:
        app.view.set_source(EmptyTree())
        await pilot.press("down", "right", "left", "enter", "E", "C", "G", "pageup", "s", "s")
        assert app.view.cursor_node == -1
        assert app.view.cursor_line is None
        assert all(not line.strip() for line in lines(app.view)[1:])


class EmptyTree(ListTree):
    """No rows at all, as under a filter that matches nothing."""

    def __init__(self) -> None:
        super().__init__(0)

    def _list(self) -> None:
        self._visible, self._rows = [], {}


async def test_resize_keeps_the_cursor_in_sight() -> None:
    tree = ListTree(500)
    tree.expand_all()
    app = TreeApp(tree)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press(*["down"] * 35)
        await pilot.resize_terminal(60, 10)
        await pilot.pause()
        view = app.view
        assert view.top <= view.cursor < view.top + view.page_rows
        assert all(len(line) == 60 for line in lines(view))


async def test_the_native_model_shows_what_plain_lists_show() -> None:
    app, plain = TreeApp(ModelTree(20_000)), TreeApp(ListTree(20_000))
    async with app.run_test(size=(100, 30)) as pilot, plain.run_test(size=(100, 30)) as other:
        for key in ("right", "j", "right", "j", "*", "pagedown", "C", "E", "G", "S", "left", "g"):
            await pilot.press(key)
            await other.press(key)
            assert lines(app.view) == lines(plain.view), key
        assert app.view.row_count == 20_000
