"""Every trace of the corpus in the application: it opens, or says in a sentence why it cannot."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.worker import WorkerCancelled

from dctx.queries.memory import pools
from dctx.tui.app import StartApp
from dctx.tui.key_model import View
from dctx.tui.screens.memory import MemoryScreen
from dctx.tui.widgets.area_chart import AreaChart
from dctx.tui.widgets.error_panel import ErrorPanel
from dctx.tui.widgets.tree_table import TreeTable
from tests.tui.app_support import AppPilot, app_of

TRACES = os.environ.get("DCTX_TRACES")
FOLDERS = ("torch", "torch-edge", "jax", "rocm", "proton", "multirank")
ALL_VIEWS = 3
"""Files of each folder that every view is tried on: what they hold is of one kind."""
LARGE = 500_000
"""Bytes of a file that is left to the tests of the readers: the views cost it no more."""
NO_TRACE = {"execution-trace-et.json.gz"}
"""It says what it is instead. So do profiles in the format of speedscope."""

pytestmark = pytest.mark.skipif(TRACES is None, reason="DCTX_TRACES names no corpus")


def traces() -> Iterator[Path]:
    """Files, and the folders of a recording of several."""
    for folder in FOLDERS:
        for path in sorted((Path(TRACES or "") / folder).iterdir()):
            if path.name == "analytic" or path.name == "chrome":
                yield from sorted(path.iterdir())
            elif path.is_dir() or path.stat().st_size < LARGE:
                yield path


async def at_rest(pilot: AppPilot) -> None:
    app = app_of(pilot)
    while app.loading is not None and not app.load_state.ended:
        await pilot.pause(0.01)
    while True:
        try:
            await app.workers.wait_for_complete()  # pyright: ignore[reportUnknownMemberType]
            break
        except WorkerCancelled:  # asked anew, as tracks are read one by one
            await pilot.pause()
    await pilot.pause()


async def test_every_trace_opens() -> None:
    opened: list[str] = []
    refused: set[str] = set()
    seen: Counter[str] = Counter()
    async with StartApp().run_test(size=(80, 24)) as pilot:
        app = app_of(pilot)
        for path in traces():
            app.open(path)
            await pilot.pause()
            await at_rest(pilot)
            if app.load_state.error is not None:
                assert app.screen.query_one(ErrorPanel).display, path
                refused.add(path.name)
                continue
            assert app.session is not None, path
            app.action_view("paths")
            await pilot.pause()
            await at_rest(pilot)
            assert app.screen.query_one(TreeTable).row_count > 0, path
            opened.append(path.name)
            seen[path.parent.name] += 1
            if seen[path.parent.name] > ALL_VIEWS:
                continue
            await pilot.press("z", "f", "down", "enter", "f", "O", "]", "O")
            app.action_view("kernels")
            await pilot.pause()
            await at_rest(pilot)
            views: tuple[View, ...] = ("ops", "timeline", "comms", "sql")
            for view in views:
                app.action_view(view)
                await pilot.pause()
                await at_rest(pilot)
                await pilot.press("down", "right", "down")
            await at_rest(pilot)
            app.action_view("memory")
            await pilot.pause()
            await at_rest(pilot)
            screen = app.screen
            assert isinstance(screen, MemoryScreen)
            assert screen.query_one(AreaChart).display == bool(pools(app.session.trace)), path
    assert len(opened) > 60
    assert {name for name in refused if "speedscope" not in name} == NO_TRACE, refused
