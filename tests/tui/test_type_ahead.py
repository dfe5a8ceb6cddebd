"""Keys typed ahead: whatever comes before a view, a field or its rows are there acts on these."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from textual import events
from textual.widgets import Input

from dctx.queries.scope import TimeScope
from dctx.tui.app import DctxApp
from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.launches import LaunchesScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.prompt import PromptScreen
from dctx.tui.screens.sql import SqlScreen
from dctx.tui.screens.steps import StepsScreen
from dctx.tui.session import Session
from dctx.tui.widgets.statement_input import StatementInput
from dctx.tui.widgets.status_line import StatusLine
from dctx.tui.widgets.tree_table import TreeTable
from tests.tui.app_support import AppPilot, app_of, opened, press

SLOW_S = 0.2
TIMEOUT_S = 60.0

S = TypeVar("S")


async def type_at_once(pilot: AppPilot, until: Callable[[], bool], *keys: str) -> None:
    """Press keys faster than anything can answer; wait for what they lead to."""
    app = app_of(pilot)
    for key in keys:
        event = events.Key(key, key if len(key) == 1 else None)
        event.set_sender(app)
        app.post_message(event)
    waited_s = 0.0
    while not until() and waited_s < TIMEOUT_S:
        await pilot.pause(0.05)
        waited_s += 0.05
    assert until(), keys


def shown(pilot: AppPilot, screen: type[S]) -> S:
    found = app_of(pilot).screen
    assert isinstance(found, screen)
    return found


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
        steps = shown(pilot, StepsScreen)
        monkeypatch.setattr(Session, "step_panels", slow)
        chosen: list[str] = []

        def note(scope: TimeScope | None) -> None:
            chosen.append("all" if scope is None else scope.label)

        app.scope_changed.subscribe(steps, note)
        await type_at_once(pilot, lambda: len(chosen) == 2, "right", "right", "enter", "x")
        assert chosen == ["steps 7 to 9", "all"]
        keys = ("r", "right", "enter", "x", "r", "enter")
        await type_at_once(pilot, lambda: len(chosen) == 5, *keys)
        assert chosen[2:] == ["steps 10 to 12", "all", "steps 10 to 12"]
        assert app.rank is not None
        assert app.rank.label == "pid 102"
        assert app.screen is steps


async def test_keys_for_the_next_view_reach_it() -> None:
    async with opened(size=(120, 32)) as pilot:
        app = app_of(pilot)

        def on_a_path() -> bool:
            return isinstance(app.screen, PathsScreen)

        # Of the second launch of the third kernel. The first Enter as a terminal sends it that the
        # application has not taken over yet.
        keys = ("3", "down", "down", "ctrl+j", "down", "enter")
        await type_at_once(pilot, on_a_path, *keys)

        def on_the_second() -> bool:
            screen = app.screen
            if not isinstance(screen, LaunchesScreen) or screen.table.cursor != 1:
                return False
            return screen.query_one(StatusLine).left == "all launches"

        await type_at_once(pilot, on_the_second, "q", "3", "a", "down")


async def test_what_is_typed_for_a_field_is_in_it() -> None:
    async with opened(size=(120, 32)) as pilot:
        app = app_of(pilot)

        def typed() -> str:
            fields = app.screen.query(Input)
            return fields.first().value if fields else ""

        await type_at_once(pilot, lambda: typed() == "flash", "3", "slash", "f", "l", "a", "s", "h")
        assert isinstance(app.screen, KernelsScreen)
        await type_at_once(pilot, lambda: typed().endswith("csvx"), "escape", "e", "x")
        assert isinstance(app.screen, PromptScreen)

        def on_the_second() -> bool:
            screen = app.screen
            trees = screen.query(TreeTable)
            return isinstance(screen, PathsScreen) and bool(trees) and trees.first().cursor == 1

        keys = ("escape", "question_mark", "escape", "2", "down")
        await type_at_once(pilot, on_the_second, *keys)


async def test_a_key_that_was_held_comes_before_the_one_that_acts_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rows come while a later key is on its way through the widgets."""
    async with opened(size=(120, 32)) as pilot:
        await press(pilot, "9")
        screen = shown(pilot, SqlScreen)
        field = screen.query_one(StatementInput)
        late, on_key = ["rows"], DctxApp.on_key

        def overtaken(self: DctxApp, event: events.Key) -> None:
            if event.key == "a" and late:
                screen.forget(late.pop())
            on_key(self, event)

        monkeypatch.setattr(DctxApp, "on_key", overtaken)
        monkeypatch.setattr(screen, "_rows_asked", set(late))
        await type_at_once(pilot, lambda: len(field.text) > 3, "i", *"abcd")
        assert not late
        assert field.text == "abcd"
