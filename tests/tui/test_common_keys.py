"""The keys that many views share, in each of them."""

import csv
from itertools import cycle
from pathlib import Path

import pytest
from textual.keys import _character_to_key  # pyright: ignore[reportPrivateUsage]

from dctx.tui.demo import demo_trace
from dctx.tui.keys import KEYS
from dctx.tui.screens.prompt import PromptScreen
from dctx.tui.views import TRACE_VIEWS
from tests.tui.app_support import AppPilot, app_of, comparing, opened, press

[NEXT_PANEL] = [key for key in KEYS if key.id == "app.next_panel"]
DDP = demo_trace().parent / "torch-ddp"


async def shared_keys(pilot: AppPilot, view: str) -> None:
    """Keys of the view are bound; Z, y and e do what they say."""
    app = app_of(pilot)
    screen = app.screen
    active = app.screen.active_bindings
    for key in (key for key in KEYS if view in key.places):
        for name in key.keys:
            event = _character_to_key(name) if len(name) == 1 else name
            if event in active:  # else what has the focus, or is shown, has no use for it
                assert active[event].binding.id == key.id, (view, name)
    if view in NEXT_PANEL.places and len(screen.focus_chain) > 1:
        before = app.focused
        await pilot.press("tab")
        assert app.focused is not before, view
        await pilot.press(*["tab"] * (len(screen.focus_chain) - 1))
        assert app.focused is before, view
    focused = app.focused
    assert focused is not None, view
    await pilot.press("Z")
    assert screen.maximized is focused, view
    await pilot.press("Z")
    assert screen.maximized is None
    app.copy_to_clipboard("")
    await press(pilot, "down", "y")  # the root of a tree has no name
    assert app.clipboard, view
    if view in ("kernels", "steps"):
        return  # their export is in test_app_keys
    await press(pilot, "e")
    assert isinstance(app.screen, PromptScreen), view
    await press(pilot, "enter")
    assert app.screen is screen, view
    [written] = Path.cwd().glob("*.csv")
    with written.open(encoding="utf-8", newline="") as text:
        head, *rows = csv.reader(text)
    assert rows, view
    assert {len(row) for row in rows} == {len(head)}, view
    written.unlink()


async def test_where_the_scenarios_of_keys_do_not_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Overview and Call paths are in test_app_keys, Compare below."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "state"))
    ranks = cycle(("rank 0", "rank 1", None))
    async with opened(DDP, (120, 30)) as pilot:
        app = app_of(pilot)
        await press(pilot, "6", "right", "enter")
        chosen = app.chosen
        assert chosen is not None
        for info in TRACE_VIEWS:
            if info.view in ("overview", "paths", "compare"):
                continue
            await press(pilot, info.tab)
            if info.view == "sql":
                await press(pilot, "down", "enter")  # the rows of a table
            await shared_keys(pilot, info.view)
            app.choose(chosen)
            await pilot.press("x")
            assert app.scope is None, info.view
            if info.view != "sql":  # its rows are of the statement alone
                await pilot.press("r")
                shown = None if app.rank is None else app.rank.label
                assert shown == next(ranks), info.view


async def test_in_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with comparing() as pilot:
        app = app_of(pilot)
        await shared_keys(pilot, "compare")
        await press(pilot, "6", "right", "enter", "8")
        assert app.scope is not None
        await pilot.press("x")
        assert app.scope is None
