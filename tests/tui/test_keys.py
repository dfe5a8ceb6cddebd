"""The table of keys: complete, free of clashes, and what is made from it."""

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding

from dctx.tui.key_model import Footer
from dctx.tui.key_texts import footer_items, help_groups, key_name, markdown
from dctx.tui.keys import CHAINS, KEYS, bindings, keys_at
from dctx.tui.widgets.tree_table import TreeTable
from tests.tui.rows_app import ListTree


def test_ids_are_unique() -> None:
    assert len({key.id for key in KEYS}) == len(KEYS)


@pytest.mark.parametrize("view", CHAINS)
def test_a_key_means_one_thing_in_a_view(view: Footer) -> None:
    """Escape alone may mean something nearer first: it stops what goes on, else goes back."""
    seen: dict[str, str] = {}
    for binding in Binding.make_bindings(bindings(*CHAINS[view])):
        if binding.key != "escape":
            assert binding.key not in seen, (binding.key, seen[binding.key], binding.id)
        seen[binding.key] = binding.id or ""


def test_every_key_belongs_to_a_chain_or_a_dialog() -> None:
    places = {place for chain in CHAINS.values() for place in chain} | {"dialog", "text"}
    assert {place for key in KEYS for place in key.places} <= places


def test_bindings_carry_id_and_help() -> None:
    [hot] = [binding for binding in bindings("paths") if binding.id == "paths.hot_path"]
    assert (hot.key, hot.action, hot.show) == ("z", "hot_path", True)
    assert hot.tooltip


def test_names_people_read() -> None:
    assert key_name("escape") == "esc"
    assert key_name("slash") == key_name("/") == "/"
    assert key_name("shift+left") == "shift+←"
    assert key_name("shift+left", ascii_only=True) == "shift+left"
    assert key_name("+") == "+"


def test_footer_shows_the_keys_of_the_users_keymap() -> None:
    names = {item.id: item.name for item in footer_items("paths", {"paths.hot_path": "x,z"})}
    assert names["paths.hot_path"] == "x"
    assert names["tree.open"] == "←→"
    remapped = {item.id: item.name for item in footer_items("paths", {"tree.open": "o"})}
    assert remapped["tree.open"] == "o"


def test_ascii_footer_is_ascii() -> None:
    for view in CHAINS:
        assert all(item.name.isascii() for item in footer_items(view, ascii_only=True))


def test_help_lists_every_key_of_the_view_once() -> None:
    groups = help_groups("paths")
    lines = [line.text for group in groups.values() for line in group]
    assert sorted(lines) == sorted(key.help for key in keys_at(*CHAINS["paths"]))


def test_markdown_names_every_id() -> None:
    text = markdown()
    assert all(f"`{key.id}`" in text for key in KEYS)


async def test_a_keymap_rebinds_by_id() -> None:
    tree = ListTree(20)

    class Rebound(App[None]):
        def compose(self) -> ComposeResult:
            yield TreeTable(tree)

        def on_mount(self) -> None:
            self.set_keymap({"tree.expand_all": "x"})

    async with Rebound().run_test() as pilot:
        await pilot.press("E")
        assert tree.row_count() == 1
        await pilot.press("x")
        assert tree.row_count() == 20


def test_the_page_of_keys_is_current() -> None:
    page = Path(__file__).parents[2] / "docs" / "keys.md"
    assert page.read_text(encoding="utf-8") == markdown(), "run `make docs/keys.md`"
