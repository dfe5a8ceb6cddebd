"""Keys typed ahead: whatever comes before a view, a field or its rows are there acts on these."""

import asyncio
import time
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.launches import LaunchesScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.prompt import PromptScreen
from dctx.tui.screens.steps import StepsScreen
from dctx.tui.session import Session
from tests.tui.app_support import AppPilot, app_of, opened, press, settle

SLOW_S = 0.2


async def type_at_once(pilot: AppPilot, *keys: str) -> None:
    """Press keys faster than anything can answer."""
    for key in keys:
        event = events.Key(key, key if len(key) == 1 else None)
        event.set_sender(app_of(pilot))
        app_of(pilot).post_message(event)
    for _ in range(4):  # a key may begin what the next one waits for
        await settle(pilot)
        await asyncio.sleep(SLOW_S)
    await settle(pilot)


async def test_the_scope_is_given_up_right_after_it_was_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panels = Session.step_panels

    def slow(self: Session, *question: Any) -> object:
        time.sleep(SLOW_S)
        return panels(self, *question)

    async with opened(size=(120, 32)) as pilot:
        app = app_of(pilot)
        await press(pilot, "6")
        monkeypatch.setattr(Session, "step_panels", slow)
        await type_at_once(pilot, "right", "right", "enter", "x")
        assert app.chosen is None
        await type_at_once(pilot, "r", "right", "enter", "x", "r", "enter")
        assert app.rank is not None
        assert app.rank.label == "pid 102"
        assert app.scope is not None
        assert app.scope.label == "steps 10 to 12"
        assert isinstance(app.screen, StepsScreen)


async def test_keys_for_the_next_view_reach_it() -> None:
    async with opened(size=(120, 32)) as pilot:
        app = app_of(pilot)
        await type_at_once(pilot, "3", "down", "down", "enter", "down", "enter")
        assert isinstance(app.screen, PathsScreen), "of the second launch of the third kernel"
        await type_at_once(pilot, "q", "3", "a", "down")
        assert isinstance(app.screen, LaunchesScreen)
        assert app.screen.table.cursor == 1


async def test_what_is_typed_for_a_field_is_in_it() -> None:
    async with opened(size=(120, 32)) as pilot:
        app = app_of(pilot)
        await type_at_once(pilot, "3", "slash", "f", "l", "a", "s", "h")
        assert isinstance(app.screen, KernelsScreen)
        assert app.screen.query_one(Input).value == "flash"
        await type_at_once(pilot, "escape", "e", "x")
        assert isinstance(app.screen, PromptScreen)
        assert app.screen.query_one(Input).value.endswith("x")
        await type_at_once(pilot, "escape", "question_mark", "escape", "2", "down")
        assert isinstance(app.screen, PathsScreen)
        assert app.screen.table.cursor == 1
